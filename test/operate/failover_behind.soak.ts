// What asynchronous replication can lose, and how it is mended: the standby that takes over had stopped receiving, so that jobs which were
// acknowledged and done are unknown to it, while their files lie in their zone. fanfold reconcile names these files and takes them away, and
// the same submits make the same jobs again.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openServer } from "../../src/engine/database/server_database.js";
import { root } from "../cli/built_program.js";
import { call } from "../nemesis/truth.js";
import { serverStopped } from "../postgres_server.js";
import { primaryServer, programsOn, standbyOf } from "./replicated.js";

/** One file for each job. */
const config = `
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "${root}node_modules/zod/index.js";
import { defineHandler, defineJob } from "${root}dist/index.js";

const make = defineHandler("drill.make", {}, async (_, ctx) => {
  const file = join(await ctx.scratch(), "tile.bin");
  await writeFile(file, "a tile");
  await ctx.zones.publish(file, { zone: "silver", prefix: "drill", name: "tile.bin", media_type: "text/plain" });
  return {};
});
const drill = defineJob({
  type: "drill",
  parameters: z.object({ n: z.number() }),
  stages: [{ name: "make", task: "drill.make", tasks: { count: 1 } }],
});
export default { jobs: [drill], handlers: [make] };
`;

test("a standby that was behind takes over: reconcile finds what it does not know, and the same submits make it again", {
  timeout: 600_000,
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), "fanfold-behind-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "fanfold.config.mjs"), config);
  const primary = await primaryServer();
  const standby = await standbyOf(primary, { synchronous: false });
  const { url, key, all, command } = await programsOn(dir, primary, standby);
  const submit = async (n: number) => {
    const answer = await call(`${url}/api/jobs/submit/drill`, key, "POST", { parameters: { n } });
    return { status: answer.status, job_id: answer.body?.job_id as string };
  };
  const completed = async (job_id: string) =>
    (await call(`${url}/api/jobs/${job_id}`, key, "GET")).body?.status === "completed";
  const eachCompletes = async (job_ids: string[]) => {
    for (const job_id of job_ids) await expect.poll(() => completed(job_id), { timeout: 120_000 }).toBe(true);
  };

  await expect.poll(() => submit(0).catch(() => null), { timeout: 60_000 }).toMatchObject({ status: 201 });
  const known = await Promise.all([1, 2, 3, 4, 5].map(submit));
  await eachCompletes(known.map(({ job_id }) => job_id));

  // From here on the standby receives nothing, and the primary, which waits for no standby, goes on acknowledging.
  const other = openServer(standby.url("failover"));
  const old = openServer(primary.url("postgres"));
  const lag = async () => (await old.sql`select pid from pg_stat_replication`).length;
  await expect
    .poll(async () => (await other.sql`select count(*)::int as n from app.jobs where finished_at is not null`)[0])
    .toEqual({ n: 6 });
  await other.script("alter system set primary_conninfo = ''");
  await other.sql`select pg_reload_conf()`;
  await expect.poll(lag, { timeout: 30_000 }).toBe(0);
  await old.close();
  const unknown = await Promise.all([11, 12, 13, 14].map(submit));
  await eachCompletes(unknown.map(({ job_id }) => job_id));

  await serverStopped(primary.server, "SIGQUIT");
  await other.sql`select pg_promote(true, 60)`;
  const there = async () => (await other.sql<{ n: number }>`select count(*)::int as n from app.jobs`)[0]?.n;
  expect(await there()).toBe(6);

  const findings = async (...options: string[]) => {
    const ended = await command("--json", "reconcile", "--older-than", "0", ...options).ended;
    return {
      code: ended.code,
      ...(JSON.parse(ended.out) as { left: number; findings: { kind: string; what: string }[] }),
    };
  };
  const found = await findings();
  expect([found.code, found.left]).toEqual([1, 4]);
  expect(found.findings.map(({ kind }) => kind)).toEqual(Array(4).fill("file_without_row"));
  expect(await findings("--mend")).toMatchObject({ code: 0, left: 0 });

  // The client of each knows what it asked for, and asks again.
  const again = await Promise.all([11, 12, 13, 14].map(submit));
  expect(again).toEqual(unknown);
  await eachCompletes(again.map(({ job_id }) => job_id));
  expect(await findings()).toMatchObject({ code: 0, left: 0, findings: [] });
  expect(await there()).toBe(10);
  expect(all.map(({ child }) => child.exitCode)).toEqual([null, null, null]);
  await other.close();
});
