// Finds or starts a real Postgres server for a test run: the one DATABASE_URL names, binaries of this machine, or those
// of the npm package. A started server lives in a temporary folder and is gone with the run.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { findBinaries, freePort, own, type User, unprivilegedUser } from "../bench/postgres_binaries.js";
import type { Database } from "../src/engine/database/database.js";
import { openServer } from "../src/engine/database/server_database.js";

export { freePort, own, type User, unprivilegedUser };

export interface RunningServer {
  admin_url: string;
  version: string;
  /** Null for a server that was found running: its log is not ours to read. */
  log_path: string | null;
  stop(): Promise<void>;
}

export interface ServerChoice {
  /** Use the npm package's binaries even if the machine has its own. */
  npm_binaries?: boolean;
  /** A copy of this data folder, whose server was stopped, instead of a new one. */
  data?: string;
}

/** Fast, because nothing here must survive a power cut; the rest as a server would have it. */
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  fsync: "off",
  full_page_writes: "off",
  max_connections: "150",
  log_lock_waits: "on",
  log_line_prefix: "%m [%p] %d %e ",
  timezone: "UTC",
};

/** A server's binaries and its data, which outlive the process: faults stop it and start it again. */
export interface Installation {
  folder: string;
  bin: string;
  data_dir: string;
  log_path: string;
  user: User;
}

export function installServer(choice: ServerChoice = {}): Installation {
  const user = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), "fanfold-pg-"));
  try {
    own(folder, user);
    const bin = findBinaries(folder, user, choice.npm_binaries);
    const data_dir = join(folder, "data");
    const quiet = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
    const [program, args] =
      choice.data === undefined
        ? [join(bin, "initdb"), ["-D", data_dir, ...quiet]]
        : ["cp", ["-a", choice.data, data_dir]];
    // A copy keeps its owner only if the one who copies may give it away.
    const as = choice.data === undefined ? user : {};
    execFileSync(program, args, { ...as, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    return { folder, bin, data_dir, log_path: join(folder, "server.log"), user };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

export interface Launch {
  port: number;
  settings?: Record<string, string>;
  env?: Record<string, string>;
}

/** The postmaster. It ends with this process, because a run that is killed must not leave a server behind. */
export function launchServer(installed: Installation, { port, settings: more, env }: Launch): ChildProcess {
  const { bin, data_dir, folder, log_path, user } = installed;
  const log = openSync(log_path, "a");
  const given = Object.entries({ ...settings, ...more, port: String(port) }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  const server = spawn(join(bin, "postgres"), ["-D", data_dir, ...given], {
    ...user,
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const killWithUs = () => server.kill("SIGQUIT");
  process.once("exit", killWithUs);
  server.once("exit", () => process.removeListener("exit", killWithUs));
  return server;
}

export async function startServer(choice: ServerChoice = {}): Promise<RunningServer> {
  const installed = installServer(choice);
  const { folder, log_path } = installed;
  const remove = () => rmSync(folder, { recursive: true, force: true });
  let server: ChildProcess | undefined;
  try {
    const port = await freePort();
    const started = launchServer(installed, { port });
    server = started;
    const admin_url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const version = await serverAnswers(admin_url, started, log_path);
    return {
      admin_url,
      version,
      log_path,
      stop: async () => {
        await serverStopped(started);
        remove();
      },
    };
  } catch (error) {
    server?.kill("SIGQUIT");
    remove();
    throw error;
  }
}

/** A server that is there already. */
export async function foundServer(admin_url: string): Promise<RunningServer> {
  return { admin_url, version: await serverVersion(admin_url), log_path: null, stop: async () => {} };
}

/** The migrated databases of one test run, told from those of another on the same server. */
export function templatePrefix(shared_dir: string): string {
  return `fanfold_template_${Buffer.from(basename(shared_dir)).toString("hex").slice(-16)}_`;
}

/** A connection to the server itself, for as long as the work takes. */
export async function onAdmin<T>(admin_url: string, work: (admin: Database) => Promise<T>): Promise<T> {
  const admin = openServer(admin_url, { application_name: "fanfold test admin" });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

async function serverVersion(url: string): Promise<string> {
  const db = openServer(url);
  try {
    const [row] = await db.sql<{ version: string }>`select current_setting('server_version') as version`;
    return row?.version ?? "";
  } finally {
    await db.close();
  }
}

/** Resolves with its version when it takes connections. */
export async function serverAnswers(url: string, server: ChildProcess, log_path: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    try {
      return await serverVersion(url);
    } catch (error) {
      if (server.exitCode !== null || tries === 200) {
        throw new Error(`Postgres did not start:\n${readFileSync(log_path, "utf8")}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Immediate unless told otherwise: what is in it is thrown away anyway. */
export function serverStopped(server: ChildProcess, signal: NodeJS.Signals = "SIGQUIT"): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) return resolve();
    server.once("exit", () => resolve());
    server.kill(signal);
  });
}
