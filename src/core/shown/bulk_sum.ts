// A verb on many jobs is answered page by page. What the pages come to together, for a caller who asked for all of them.

/** Jobs that were refused for one reason, and one of them. */
export interface Refused {
  kind: string;
  message: string;
  jobs: number;
  job_id: string;
}

export interface BulkSum {
  touched: number;
  skipped: Refused[];
  failed: Refused[];
}

export function withPage(sum: BulkSum, page: BulkSum): BulkSum {
  return {
    touched: sum.touched + page.touched,
    skipped: together(sum.skipped, page.skipped),
    failed: together(sum.failed, page.failed),
  };
}

/** One line for each reason; its example is the latest. */
function together(before: readonly Refused[], page: readonly Refused[]): Refused[] {
  const by_kind = new Map(before.map((one) => [one.kind, one]));
  for (const one of page) by_kind.set(one.kind, { ...one, jobs: one.jobs + (by_kind.get(one.kind)?.jobs ?? 0) });
  return [...by_kind.values()];
}
