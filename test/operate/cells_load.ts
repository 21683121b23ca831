// Load on a tenant while it moves: callers who repeat what was refused, a reader of its stream, and a reckoning of both at the end.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { CellsRig } from "./cells_rig.js";

export interface Load {
  tenant: string;
  key: string;
  moves: number;
  callers: number;
}

export interface Reckoned {
  jobs: number;
  closed_ms: number[];
  /** The longest that one call was refused, with its repetitions. */
  longest_ms: number;
}

/** From one cell to the other and back, so many times. Throws where anything was lost or done twice. */
export async function underLoad(rig: CellsRig, { tenant, key, moves, callers }: Load): Promise<Reckoned> {
  const promised = new Map<string, string>();
  let [over, n, longest_ms] = [false, 0, 0];
  const submit = async (name: string) => {
    const began = performance.now();
    for (;;) {
      const { status, body } = await rig.call("POST", "/api/jobs/submit/cell_job", key, { parameters: { name } });
      if (status === 200 || status === 201) {
        promised.set(body.job_id, name);
        longest_ms = Math.max(longest_ms, performance.now() - began);
        return;
      }
      expect([status, body.code]).toEqual([503, "stopping"]);
      await sleep(100);
    }
  };
  const told: string[] = [];
  const reading = new AbortController();
  const reader = follow(rig.router.url, key, reading.signal, (job_id) => told.push(job_id));
  const calling = Array.from({ length: callers }, async () => {
    while (!over) {
      await submit(`${tenant}-${n++}`);
      await sleep(20);
    }
  });
  const closed_ms: number[] = [];
  try {
    for (let move = 0; move < moves; move++) {
      const before = promised.size;
      await expect.poll(() => promised.size, { timeout: 60_000 }).toBeGreaterThan(before + 5);
      const moved = await rig.moveTo(move % 2 === 0 ? "b" : "a", tenant, { farewell_ms: 2_500 });
      closed_ms.push(moved.closed_ms);
    }
  } finally {
    over = true;
    await Promise.all(calling);
  }
  const home = moves % 2 === 0 ? rig.a : rig.b;
  const other = moves % 2 === 0 ? rig.b : rig.a;
  const [names, ids] = [[...promised.values()], JSON.stringify([...promised.keys()])];
  const done = async () =>
    home.db.sql`select count(*)::int as jobs, (count(*) filter (where j.status = 'completed'))::int as completed,
        (count(*) filter (where r.result = '{"sum": 6}'))::int as right
      from app.jobs j join app.stages s on s.tenant_id = j.tenant_id and s.job_id = j.job_id and s.name = 'fold'
      left join app.results r on r.stage_id = s.stage_id
     where j.job_id in (select json_array_elements_text(${ids}::text::json))`;
  const all = { jobs: names.length, completed: names.length, right: names.length };
  await expect.poll(done, { timeout: 120_000, interval: 200 }).toEqual([all]);
  expect(await other.db.sql`select count(*)::int as n from app.jobs where tenant_id = ${tenant}::text`).toEqual([
    { n: 0 },
  ]);
  const wanted = names.flatMap((name) => [0, 1, 2, 3].map((ordinal) => `${name}/${ordinal}`)).sort();
  expect(rig.ran.filter((one) => one.startsWith(`${tenant}-`)).sort()).toEqual(wanted);
  await expect.poll(() => new Set(told).size, { timeout: 30_000 }).toBe(names.length);
  expect(told).toHaveLength(names.length);
  reading.abort();
  await reader;
  return { jobs: names.length, closed_ms, longest_ms };
}

/** The ends of jobs, each as it is told; a stream that ends is gone on with from where it was. */
async function follow(url: string, key: string, signal: AbortSignal, tell: (job_id: string) => void): Promise<void> {
  let last: string | null = null;
  while (!signal.aborted) {
    try {
      const headers = { authorization: `Bearer ${key}`, ...(last === null ? {} : { "last-event-id": last }) };
      const answer = await fetch(`${url}/api/stream`, { headers, signal });
      if (answer.status !== 200) {
        expect(answer.status).toBe(503);
        await answer.body?.cancel();
        await sleep(100, undefined, { signal });
        continue;
      }
      let text = "";
      for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
        text += piece;
        const events = text.split("\n\n");
        text = events.pop() ?? "";
        for (const event of events) {
          last = /^id: ?(.*)$/m.exec(event)?.[1] ?? last;
          const data = /^data: ?(.*)$/m.exec(event)?.[1];
          if (data === undefined) continue;
          const { kind, job_id } = JSON.parse(data);
          if (kind === "job.completed") tell(job_id);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if ((error as Error).name === "AssertionError") throw error;
    }
  }
}
