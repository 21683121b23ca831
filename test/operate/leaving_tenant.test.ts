// A tenant that leaves: written out whole, and then gone from every table and every place of files, with nothing of anybody else's.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeTenant } from "../../src/engine/upkeep/leaving_tenant.js";
import { openFolderStore } from "../../src/storage/folder_store.js";
import { blobsOf } from "../../src/storage/open_blobs.js";
import { Zones } from "../../src/storage/zones.js";
import { start } from "../cli/fake_terminal.js";
import { claim, drain, finish, register, submit } from "../engine/floor.js";
import { freshDatabase } from "../postgres.js";
import { openService } from "../server/service.js";

const stages = [{ name: "make", task: "t.make", plan: { count: 30 } }];

test("a tenant is written out and removed with everything, and what others have stays", async () => {
  const { db, url, drop } = await freshDatabase({ own: true });
  const root = await mkdtemp(join(tmpdir(), "fanfold-leaving-"));
  onTestFinished(async () => {
    await drop();
    await rm(root, { recursive: true, force: true });
  });
  const env = { DATABASE_URL: url, FANFOLD_DATA_DIR: root };
  const fanfold = (...argv: string[]) => start(argv, { env }).done;
  const zones = new Zones({
    bronze: join(root, "zones", "bronze"),
    silver: join(root, "zones", "silver"),
    gold: join(root, "zones", "gold"),
  });
  for (const tenant of ["acme", "globex"]) {
    await db.sql`select app.create_tenant(${tenant})`;
    const { job_id } = await submit(db, stages, { of: tenant }, { tenant });
    await submit(db, stages, { of: tenant, again: true }, { tenant });
    await db.sql`select app.enqueue('t.make', tenant => ${tenant})`;
    await zones.store("silver", tenant).write("made/x.bin", pieces(tenant));
    await zones.store("bronze", tenant).write("brought.bin", pieces(tenant));
    await openFolderStore(join(root, "storage")).put(`tenant-${tenant}/results/1/0/x.json`, "{}");
    const record = { tenant, zone: "silver", key: "made/x.bin", name: "x.bin", bytes: tenant.length, job_id };
    const rest = { sha256: "0".repeat(64), media_type: "text/plain" };
    await db.sql`select app.publish_asset(${JSON.stringify({ ...record, ...rest })}::text::json)`;
    expect((await fanfold("keys", "create", "first", "--tenant", tenant, "--scope", "read")).code).toBe(0);
  }
  const worker = await register(db, ["t.make"], 3600);
  const [held] = await claim(db, worker, ["t.make"], 1);
  expect(held).toBeDefined();
  const busy = await fanfold("tenants", "remove", "acme", "--confirm", "acme");
  expect([busy.code === 0, busy.err]).toEqual([false, expect.stringContaining('tenant "acme" is at work')]);
  await finish(db, worker, [held!]);
  await drain(db, worker, ["t.make"]);

  const refused = await fanfold("tenants", "remove", "acme", "--confirm", "acne");
  expect(refused.err).toContain('the removal of tenant "acme" is not confirmed');
  expect((await fanfold("tenants", "remove", "default", "--confirm", "default")).err).toContain("stays");
  const would = await fanfold("tenants", "remove", "acme");
  expect([would.code, would.out]).toEqual([
    0,
    expect.stringContaining("would remove tenant acme: 2 jobs, 1 recorded files"),
  ]);

  const file = join(root, "acme.ndjson");
  const told = await fanfold("export", "tenant", "acme", "--to", file, "--files", join(root, "out"), "--json");
  expect(told.json()).toMatchObject({
    tables: { "app.jobs": 2, "app.results": 61, "app.assets": 1 },
    files: { files: 3 },
  });
  expect((await fanfold("export", "tenant", "acme", "--to", file)).err).toContain("cannot be written: EEXIST");
  const lines = (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ tenant_id: "acme" });
  expect(new Set(lines.slice(1).map(({ row }) => row.tenant_id))).toEqual(new Set(["acme"]));
  expect(lines.map(({ table }) => table)).not.toContain("app.api_keys");
  expect(await readFile(join(root, "out", "silver", "made", "x.bin"), "utf8")).toBe("acme");
  expect(await readdir(join(root, "out", "storage"))).toEqual(["results"]);

  const before = await rowsOf(db, "globex");
  expect((await fanfold("tenants", "remove", "acme", "--confirm", "acme", "--reason", "contract ended")).code).toBe(0);
  expect(await rowsOf(db, "acme")).toEqual({});
  expect(await rowsOf(db, "globex")).toEqual(before);
  expect((await zones.store("silver", "acme").list("")).entries).toEqual([]);
  expect((await zones.store("bronze", "acme").list("")).entries).toEqual([]);
  expect((await zones.store("bronze", "globex").list("")).entries).toHaveLength(1);
  const results = await blobsOf(openFolderStore(join(root, "storage")))!.list("");
  expect(results.entries.map(({ key }) => key)).toEqual(["tenant-globex/results/1/0/x.json"]);
  expect((await fanfold("tenants", "remove", "acme")).err).toContain('there is no tenant "acme"');
  const audit = await db.sql<{ kind: string; reason: string }>`
    select kind, reason from app.events where tenant_id = 'default' and kind like 'tenant.%' and data ->> 'tenant' = 'acme' order by event_id`;
  expect(audit).toEqual([
    { kind: "tenant.closed", reason: "contract ended" },
    { kind: "tenant.removed", reason: "contract ended" },
  ]);
});

test("an operator removes a tenant over HTTP: confirmed, in bounded calls, and written down", async () => {
  const service = await openService();
  onTestFinished(() => service.close());
  const operator = await service.key("default", ["read", "admin"], { operator: true });
  const own = await service.key("acme");
  await service.call("POST", "/api/tasks", { key: own, body: { task_type: "t.make", parameters: {} } });
  await service.engine.zones.store("silver", "acme").write("made/x.bin", pieces("x"));
  const remove = (key: string, body: object) => service.call("DELETE", "/api/tenants/acme", { key, body });
  expect((await remove(own, { confirm: "acme" })).status).toBe(403);
  expect((await remove(operator, { dry_run: true })).body).toMatchObject({ dry_run: true, jobs: 0, more: true });
  expect([(await remove(operator, {})).status, (await remove(operator, { confirm: "acne" })).status]).toEqual([
    400, 400,
  ]);
  expect((await service.call("GET", "/api/jobs", { key: own })).status).toBe(200);
  const gone = await remove(operator, { confirm: "acme", reason: "contract ended" });
  expect([gone.status, gone.body]).toEqual([200, expect.objectContaining({ files: 1, more: false })]);
  expect((await remove(operator, { confirm: "acme" })).status).toBe(404);
  expect((await service.engine.zones.store("silver", "acme").list("")).entries).toEqual([]);
  const [told] = await service.db.sql`
    select reason, actor from app.events where kind = 'tenant.removed' and data ->> 'tenant' = 'acme'`;
  expect(told).toEqual({ reason: "contract ended", actor: expect.stringMatching(/^key:/) });
});

test("a removal that was broken off between rows and files goes on with the files", async () => {
  const service = await openService();
  onTestFinished(() => service.close());
  await service.key("acme");
  const silver = service.engine.zones.store("silver", "acme");
  await silver.write("made/x.bin", pieces("x"));
  const request = { tenant_id: "acme", confirm: "acme" };
  expect(await removeTenant(service.engine, { ...request, until: () => true })).toMatchObject({ more: true });
  let calls = 1;
  while ((await removeTenant(service.engine, { ...request, until: () => true })).more) calls++;
  expect(calls).toBeGreaterThan(1);
  expect((await silver.list("")).entries).toEqual([]);
  await expect(removeTenant(service.engine, request)).rejects.toThrow('there is no tenant "acme"');
});

async function rowsOf(db: { sql: Awaited<ReturnType<typeof freshDatabase>>["db"]["sql"] }, tenant: string) {
  const [row] = await db.sql<{ reply: Record<string, number> }>`
    select coalesce(json_object_agg(name, n), '{}') as reply
      from (
        select t.name as name, (xpath('/row/n/text()', query_to_xml(format(
          'select count(*) as n from %s where tenant_id = %L', t.name, ${tenant}::text), false, true, '')))[1]::text::int as n
          from app.tables_of_tenants() t) counted
     where n > 0`;
  return row!.reply;
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
