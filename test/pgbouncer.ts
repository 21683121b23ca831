// PgBouncer before the test's Postgres, as Debian ships it: transaction mode, and every other setting left as it is. Where it cannot be
// had, tests are skipped with the reason in their name.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installed, works } from "./debian_package.js";
import { freePort, own, serverStopped, unprivilegedUser } from "./postgres_server.js";

/** Not everybody has the administrator's programs in the search path. */
const program = () => (existsSync("/usr/sbin/pgbouncer") ? "/usr/sbin/pgbouncer" : "pgbouncer");

let asked: Promise<string | null> | undefined;

/** Null when it can be started, else why not. */
export function withoutPgbouncer(): Promise<string | null> {
  asked ??= installed("pgbouncer", () => works(program(), ["--version"]));
  return asked;
}

export interface Pooler {
  /** The same database, through it. */
  through(url: string): string;
  /** As a crash does. Whoever uses it loses every connection. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Before the server at this address, for every database and login of it. */
export async function startPooler(server_url: string, more: Record<string, string> = {}): Promise<Pooler> {
  const server = new URL(server_url);
  const port = await freePort();
  const user = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), "fanfold-pooler-"));
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    // Logins that are made later are looked up.
    auth_type: "trust",
    auth_file: join(folder, "users"),
    pool_mode: "transaction",
    ...more,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const databases = `* = host=${server.hostname} port=${server.port} auth_user=${server.username}`;
  writeFileSync(join(folder, "users"), `"${server.username}" ""\n`);
  writeFileSync(join(folder, "pgbouncer.ini"), `[databases]\n${databases}\n[pgbouncer]\n${lines.join("\n")}\n`);
  for (const path of [folder, join(folder, "users"), join(folder, "pgbouncer.ini")]) own(path, user);
  let running: ChildProcess | null = null;
  const start = async () => {
    const log = openSync(join(folder, "log"), "a");
    const child = spawn(program(), [join(folder, "pgbouncer.ini")], {
      ...user,
      cwd: folder,
      stdio: ["ignore", log, log],
    });
    running = child;
    const killWithUs = () => child.kill("SIGKILL");
    process.once("exit", killWithUs);
    child.once("exit", () => process.removeListener("exit", killWithUs));
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}: see ${folder}/log`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const kill = async () => {
    if (running !== null) await serverStopped(running, "SIGKILL");
    running = null;
  };
  await start();
  return {
    through(url) {
      const through = new URL(url);
      through.port = String(port);
      return through.href;
    },
    kill,
    start,
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
