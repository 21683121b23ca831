// Steady callers of one server, as a process of their own: a dozen loops over the calls that people make. One line for each call:
// when it began, how long it took, its status, whose it is and its path. An answer that is not the one to what was asked is told as status -1.
import { setTimeout as sleep } from "node:timers/promises";

export interface CallersTask {
  url: string;
  key: string;
  /** Asked for, each by a caller of its own. */
  job_ids: string[];
}

const { url, key, job_ids } = JSON.parse(process.argv[2]!) as CallersTask;
/** Longer than any answer may take. */
const PATIENCE_MS = 40_000;

interface Kind {
  path: string;
  body?: unknown;
  fits?: (body: Record<string, unknown>) => boolean;
}

const kinds: Kind[] = [
  ...job_ids.map((id) => ({
    path: `/api/jobs/${id}`,
    fits: ({ job_id }: Record<string, unknown>) => job_id === id,
  })),
  ...Array.from({ length: 4 }, () => ({
    path: "/api/jobs?limit=5",
    fits: ({ jobs }: Record<string, unknown>) => Array.isArray(jobs),
  })),
  ...Array.from({ length: 2 }, () => ({
    path: "/api/jobs/submit/hello_world",
    body: { parameters: { n: 2 } },
    fits: ({ job_id, created }: Record<string, unknown>) => typeof job_id === "string" && typeof created === "boolean",
  })),
  { path: "/api/health/ready" },
  { path: "/api/health/live" },
];

async function statusOf({ path, body, fits }: Kind): Promise<number> {
  try {
    const response = await fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const told = (await response.json()) as Record<string, unknown>;
    if (response.status === 503 && !response.headers.has("retry-after")) return -2;
    return response.ok && fits?.(told) === false ? -1 : response.status;
  } catch {
    return 0;
  }
}

async function callOn(kind: Kind, caller: number): Promise<never> {
  for (;;) {
    const at = Date.now();
    const status = await statusOf(kind);
    process.stdout.write(`${at} ${Date.now() - at} ${status} ${caller} ${kind.path}\n`);
    await sleep(80);
  }
}

await Promise.all(kinds.map(callOn));
