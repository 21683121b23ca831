// A primary dies while callers submit, and its synchronous standby takes its place. The programs know both hosts and find the one that writes:
// what callers were promised is there and gets done. A call that was cut is no promise. How long it took is printed and decides nothing.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { openServer } from "../../src/engine/database/server_database.js";
import { call, Truth } from "../nemesis/truth.js";
import { serverStopped } from "../postgres_server.js";
import { primaryServer, programsOn, standbyOf } from "./replicated.js";

const say = (line: string) => process.stdout.write(`[failover] ${line}\n`);
const times = Array.from({ length: Number(process.env.FANFOLD_TEST_SOAK || 20) }, (_, n) => n + 1);
const recovered_s: number[] = [];
const seconds = (ms: number) => (ms / 1000).toFixed(1);

afterAll(() => {
  recovered_s.sort((a, b) => a - b);
  const p95 = recovered_s[Math.min(recovered_s.length - 1, Math.floor(recovered_s.length * 0.95))];
  say(`${recovered_s.length} rounds: first submit after the promotion, p95 ${p95?.toFixed(1)} s`);
});

test.each(times)("a standby takes over under load, time %i", { timeout: 300_000 }, async (time) => {
  const dir = mkdtempSync(join(tmpdir(), "fanfold-failover-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const primary = await primaryServer();
  const standby = await standbyOf(primary, { synchronous: true });
  const { url, key, all } = await programsOn(dir, primary, standby);

  const truth = new Truth(dir);
  const promised: string[] = [];
  const answered_at: number[] = [];
  let over = false;
  let n = 0;
  const callers = Array.from({ length: 4 }, async () => {
    while (!over) {
      // Each is a job of its own.
      const parameters = { n: 1 + (n++ % 500) };
      const answer = await truth.ask(() => call(`${url}/api/jobs/submit/hello_world`, key, "POST", { parameters }));
      if (answer?.status === 201) {
        promised.push(answer.body.job_id);
        answered_at.push(performance.now());
      }
      await sleep(50);
    }
  });
  await expect.poll(() => promised.length, { timeout: 60_000 }).toBeGreaterThan(40);

  const died_at = performance.now();
  await serverStopped(primary.server, "SIGQUIT");
  const before = promised.length;
  const other = openServer(standby.url("failover"));
  await other.sql`select pg_promote(true, 60)`;
  const promoted_at = performance.now();
  await expect.poll(() => promised.length, { timeout: 120_000 }).toBeGreaterThan(before + 40);
  over = true;
  await Promise.all(callers);
  const first_after = answered_at.find((at) => at > promoted_at)!;

  const left = async () => {
    const [row] = await other.sql<{ there: number; completed: number }>`
      select count(*)::int as there, (count(*) filter (where status = 'completed'))::int as completed
        from app.jobs where job_id in (select json_array_elements_text(${JSON.stringify(promised)}::json))`;
    return row;
  };
  await expect
    .poll(left, { timeout: 120_000, interval: 500 })
    .toEqual({ there: promised.length, completed: promised.length });
  await other.close();
  recovered_s.push((first_after - promoted_at) / 1000);
  say(
    `${time}: ${before} promised before, ${promised.length - before} after, none lost; promoted after ${seconds(promoted_at - died_at)} s, ` +
      `first submit acknowledged ${seconds(first_after - promoted_at)} s later`,
  );
  expect(all.map(({ child }) => child.exitCode)).toEqual([null, null, null]);
  expect(truth.hung).toEqual([]);
});
