// The program as it ships: compiled, and started as a process of its own.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { madeOnce } from "../made_once.js";

const run = promisify(execFile);

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The program alone: types are what `npm run check` looks at, and take six times as long. */
const as_it_ships = ["-p", "tsconfig.build.json", "--noCheck", "--declaration", "false"];

/** Into dist/, and once per run: a file that compiles again takes away what a process of another file is just reading. */
export async function build(): Promise<void> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  await madeOnce("program", () => run(process.execPath, [tsc, ...as_it_ships], { cwd: root }));
}

/** A program that ends soon has no use for WebAssembly compiled a second time, which would be half of its work. */
const quickly = "--liftoff-only";

export interface Spawned {
  child: ChildProcess;
  out(): string;
  err(): string;
  until(text: string): Promise<void>;
  ended: Promise<{ code: number | null; out: string; err: string }>;
}

export function spawnFanfold(
  argv: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Spawned {
  const { DATABASE_URL: _, ...inherited } = process.env;
  const env = { ...inherited, FANFOLD_LOG_LEVEL: "fatal", ...options.env };
  const child = spawn(process.execPath, [quickly, `${root}dist/cli/main.js`, ...argv], {
    cwd: options.cwd ?? root,
    env,
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, out, err }));
  });
  const until = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => (out + err).includes(text) && resolve();
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      look();
      void ended.then(({ code }) => reject(new Error(`ended with ${code} before "${text}":\n${out}\n${err}`)));
    });
  return { child, out: () => out, err: () => err, until, ended };
}
