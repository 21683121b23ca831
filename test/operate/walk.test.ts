// docs/operate.md and docs/retention.md as an operator walks through them: every command of theirs, in their order, by a shell, with the program as it ships.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { build, root } from "../cli/built_program.js";
import { onAdmin } from "../postgres_server.js";
import { type OwnServer, startOwnServer } from "./own_server.js";

beforeAll(build);

/** The commands of a page's blocks, without what is said about them. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!);
  return blocks.flatMap((block) => block.split("\n").map((line) => line.replace(/\s+#.*$/, "").trim())).filter(Boolean);
}

/** A folder and a shell in it, in which `fanfold` is this program and Postgres's own programs find the server. */
function shellAt(server: OwnServer) {
  const dir = mkdtempSync(join(tmpdir(), "fanfold-walk-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "bin"));
  const program = join(dir, "bin", "fanfold");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" --liftoff-only "${root}dist/cli/main.js" "$@"\n`);
  chmodSync(program, 0o755);
  const { DATABASE_URL: _, ...inherited } = process.env;
  const at_home = {
    PATH: [join(dir, "bin"), server.bin, process.env.PATH].join(delimiter),
    ...{ PGHOST: "127.0.0.1", PGPORT: String(server.port), PGUSER: "postgres" },
    ...{ FANFOLD_DATA_DIR: dir, FANFOLD_STORAGE_DIR: join(dir, "storage"), FANFOLD_CATALOG: "off" },
  };
  return (command: string, env: Record<string, string>) => {
    const said = spawnSync("sh", ["-c", command], {
      cwd: dir,
      env: { ...inherited, ...at_home, ...env },
      encoding: "utf8",
    });
    return { command, code: said.status, out: said.stdout, err: said.stderr };
  };
}

const fine = (command: string) => ({ command, code: 0, out: expect.any(String), err: expect.any(String) });

test("a backup is made, restored, compared and upgraded by the commands of the page", {
  timeout: 180_000,
}, async (ctx) => {
  const server = await startOwnServer();
  const shell = shellAt(server);
  const version = spawnSync(join(server.bin, "pg_dump"), ["--version"], { encoding: "utf8" });
  if (version.status !== 0) return ctx.skip("this server came without pg_dump");
  // As at a provider: a database whose administrator is no superuser.
  await onAdmin(server.admin_url, async (admin) => {
    await admin.script("create role cloud_admin login createrole createdb");
    await admin.script("create database fanfold owner cloud_admin");
  });
  const at = (user: string, database: string) => `postgres://${user}@127.0.0.1:${server.port}/${database}`;
  const yesterday = { ADMIN_URL: at("postgres", "fanfold"), DATABASE_URL: at("postgres", "fanfold") };
  const administrator = at("cloud_admin", "fanfold");
  const before = [
    `fanfold migrate --database-url ${administrator}`,
    "fanfold submit hello_world n=3",
    "fanfold work --once",
  ];
  for (const command of before) expect(shell(command, yesterday)).toEqual(fine(command));

  const commands = commandsOf("operate.md");
  const restored = commands.indexOf("createdb fanfold_restored");
  for (const command of commands.slice(0, restored)) {
    const as = command.includes("--enable-row-security") ? { ADMIN_URL: administrator } : {};
    expect(shell(command, { ...yesterday, ...as })).toEqual(fine(command));
  }
  // What happens after the backup: the restored database does not know of it.
  expect(shell("fanfold submit hello_world n=4", yesterday).code).toBe(0);

  const today = {
    ADMIN_URL: at("postgres", "fanfold_restored"),
    DATABASE_URL: at("postgres", "fanfold_restored"),
  };
  for (const command of commands.slice(restored)) expect(shell(command, today)).toEqual(fine(command));
  expect(commands.length).toBeGreaterThan(10);
  const { jobs } = JSON.parse(shell("fanfold jobs --json", today).out) as { jobs: { status: string }[] };
  expect(jobs.map(({ status }) => status)).toEqual(["completed"]);
  const moved = "fanfold files prove --renew";
  expect(readFileSync(join(root, "docs/operate.md"), "utf8")).toContain(moved);
  expect(shell(moved, today)).toEqual(fine(moved));
});

test("history is kept, looked at and let go by the commands of the page, and a tenant leaves", {
  timeout: 180_000,
}, async () => {
  const server = await startOwnServer();
  const shell = shellAt(server);
  const env = { DATABASE_URL: server.admin_url };
  for (const command of ["fanfold migrate", "fanfold tenants create acme", "fanfold submit hello_world n=2"])
    expect(shell(command, env)).toEqual(fine(command));
  expect(shell("fanfold work --once", env).code).toBe(0);
  const { jobs } = JSON.parse(shell("fanfold jobs --json", env).out) as { jobs: { job_id: string }[] };
  const commands = commandsOf("retention.md").map((command) => command.replace("<job>", jobs[0]!.job_id));
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) expect(shell(command, env)).toEqual(fine(command));
});
