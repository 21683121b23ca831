import { expect, test } from "vitest";
import { type BulkSum, withPage } from "../../src/core/shown/bulk_sum.js";

const refused = (kind: string, jobs: number, job_id: string) => ({ kind, jobs, job_id, message: `was ${kind}` });

test("pages of a verb on many jobs are added up, with one line for each reason", () => {
  const first = { touched: 200, skipped: [refused("unchanged", 2, "a")], failed: [] };
  const second = { touched: 30, skipped: [refused("conflict", 1, "b"), refused("unchanged", 1, "c")], failed: [] };
  const third = { touched: 0, skipped: [], failed: [refused("internal", 4, "d")] };
  expect([first, second, third].reduce<BulkSum>(withPage, { touched: 0, skipped: [], failed: [] })).toEqual({
    touched: 230,
    skipped: [refused("unchanged", 3, "c"), refused("conflict", 1, "b")],
    failed: [refused("internal", 4, "d")],
  });
});
