// Postgres as others run it: TLS that is verified, an administrator who is no superuser, passwords that change under load, several hosts.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { readAddress } from "../../src/engine/database/server_address.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { onAdmin } from "../postgres_server.js";
import { runWorker } from "../worker/shop.js";
import { makeCertificates, startOwnServer } from "./own_server.js";

const step = defineHandler("mp.step", {}, async (_, ctx) => ({ ordinal: ctx.ordinal }));
const job = defineJob({
  type: "mp_steps",
  stages: [{ name: "step", task: "mp.step", tasks: { count: 400 } }],
});
const registry = createRegistry({ jobs: [job], handlers: [step] });

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "fanfold-managed-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function asked(url: string): Promise<unknown> {
  const db = openServer(url);
  try {
    const [row] = await db.sql<{ encrypted: boolean }>`
      select ssl as encrypted from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.encrypted;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code} ${message}`;
  } finally {
    await db.close();
  }
}

test("an administrator who is no superuser sets up a fresh server over verified TLS, and a password that changes under load is followed", async () => {
  const dir = folder();
  const tls = makeCertificates(join(dir, "tls"));
  const other = makeCertificates(join(dir, "other"));
  const server = await startOwnServer({ tls });
  await onAdmin(server.admin_url, (admin) =>
    admin.script("create role cloud_admin login createrole createdb password 'first secret'"),
  );
  await onAdmin(server.admin_url, (admin) => admin.script("create database maps owner cloud_admin"));
  const at = (host: string, words: string) =>
    `postgres://cloud_admin:first%20secret@${host}:${server.port}/maps?${words}`;
  const admin_url = at("127.0.0.1", `sslmode=verify-full&sslrootcert=${tls.ca}`);

  // What is verified, and what is not.
  expect(await asked(admin_url)).toBe(true);
  expect(await asked(at("127.0.0.1", `sslrootcert=${tls.ca}`))).toBe(true);
  expect(await asked(at("localhost", `sslmode=verify-ca&sslrootcert=${tls.ca}`))).toBe(true);
  expect(await asked(at("127.0.0.1", "sslmode=require"))).toBe(true);
  expect(await asked(at("127.0.0.1", "sslmode=disable"))).toContain("no encryption");
  const refused = "08001 the database's certificate is not accepted";
  expect(await asked(at("localhost", `sslmode=verify-full&sslrootcert=${tls.ca}`))).toContain(refused);
  expect(await asked(at("127.0.0.1", `sslmode=verify-full&sslrootcert=${other.ca}`))).toContain(refused);
  expect(await asked(at("127.0.0.1", `sslmode=require&sslrootcert=${other.ca}`))).toContain(refused);
  expect(await asked(at("127.0.0.1", "sslmode=verify-full"))).toContain(refused);
  expect(await asked(at("127.0.0.1", "sslrootcert=/nowhere/ca.pem"))).toContain("/nowhere/ca.pem");

  const setup = await openEngine({ database_url: admin_url, registry, migrate: true, storage_dir: dir });
  const admin = setup.db;
  await admin.script("create role fanfold_server login password 'one'");
  await admin.script("grant fanfold_api, fanfold_worker to fanfold_server");
  await admin.sql`select app.map_role('fanfold_server', null)`;
  await setup.close();
  // The copy that docs/operate.md has such an administrator make.
  const dump = ["--enable-row-security", "--format=custom", `--file=${join(dir, "dump")}`];
  const dumped = spawnSync(join(server.bin, "pg_dump"), [...dump, admin_url], {
    encoding: "utf8",
  });
  expect([dumped.status, dumped.stderr]).toEqual([0, ""]);

  const secret = join(dir, "password");
  writeFileSync(secret, "one\n");
  const url = `postgres://fanfold_server@127.0.0.1:${server.port}/maps?sslrootcert=${tls.ca}&password_file=${secret}`;
  const engine = await openEngine({ database_url: url, registry, storage_dir: dir });
  onTestFinished(() => engine.close());
  const { job_id } = await engine.submit(job, {});
  await runWorker(engine, { slots: 2, batch_max: 5 });
  for (const password of ["two", "three"]) {
    await onAdmin(server.admin_url.replace(/postgres$/, "maps"), async (superuser) => {
      await superuser.script(`alter role fanfold_server password '${password}'`);
      writeFileSync(secret, `${password}\n`);
      await superuser.sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'fanfold_server'`;
    });
  }
  expect((await engine.wait(job_id)).status).toBe("completed");
  expect(await asked(url)).toBe(true);
  writeFileSync(secret, "not this one\n");
  expect(await asked(url)).toContain("28P01");
  rmSync(secret);
  expect(await asked(url)).toContain("cannot be asked (ENOENT)");

  // A program that gives the current one: a token of a cloud, for instance.
  const program = join(dir, "token");
  writeFileSync(program, `#!/bin/sh\nprintf '%s' "$1"\n`);
  chmodSync(program, 0o755);
  const base = url.slice(0, url.indexOf("&password_file"));
  expect(await asked(`${base}&password_command=${encodeURIComponent(`${program} three`)}`)).toBe(true);
  expect(await asked(`${base}&password_command=${encodeURIComponent(`${program}-not-there`)}`)).toContain(
    "cannot be asked",
  );
});

test("of several hosts the one is used that takes writes, wherever it stands", async () => {
  const primary = await startOwnServer();
  await primary.stop("SIGINT");
  const standby = await startOwnServer({ copy: primary.data_dir });
  const writes = await startOwnServer();
  const role = async (words: string, ...ports: number[]) => {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(",");
    const db = openServer(`postgres://postgres@${hosts}/postgres${words}`);
    try {
      const [row] = await db.sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`;
      return row!.standby ? "standby" : "primary";
    } finally {
      await db.close();
    }
  };
  expect(await role("", standby.port, writes.port)).toBe("primary");
  expect(await role("", writes.port, standby.port)).toBe("primary");
  expect(await role("?target_session_attrs=read-write", standby.port, writes.port)).toBe("primary");
  expect(await role("?target_session_attrs=any", standby.port, writes.port)).toBe("standby");
  expect(await role("", standby.port)).toBe("standby");
  await expect(role("?target_session_attrs=primary", standby.port)).rejects.toMatchObject({
    code: "57P03",
    message: expect.stringContaining("is a standby"),
  });
});

test("the words of libpq in an address are taken out of it before the driver has it", () => {
  const read = (url: string) => {
    const { address, tls, needs_primary } = readAddress(url);
    return [address, tls === null ? null : tls.options().rejectUnauthorized, needs_primary];
  };
  expect(read("postgres://me@x/maps")).toEqual(["postgres://me@x/maps", null, false]);
  expect(read("postgres://me@x/maps?sslmode=require")).toEqual(["postgres://me@x/maps", false, false]);
  expect(read("postgres://me@x/maps?sslmode=disable&application_name=a")).toEqual([
    "postgres://me@x/maps?application_name=a",
    null,
    false,
  ]);
  expect(read("postgres://me:p%2Cw@x:1,y:2/maps?sslmode=verify-full")).toEqual([
    "postgres://me:p%2Cw@x:1,y:2/maps",
    true,
    true,
  ]);
  expect(read("postgres://x,y/maps?target_session_attrs=any")[2]).toBe(false);
  expect(read("postgres://x/maps?target_session_attrs=read-write")[2]).toBe(true);
});
