// Forks the process of isolated handlers: its own process group, its own memory limit, no stdin, and an environment that
// was stripped of the database's credentials.
import { type ChildProcess, spawn } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { fault } from "../../fault.js";

/** Compiled or as it was written: it lies beside this file and has the same ending. */
export const entry = fileURLToPath(new URL(`./child_main${extname(import.meta.url)}`, import.meta.url));

export interface ForkSettings {
  /** The file: URL of the module that exports the handlers. */
  module: string;
  memory_mb: number;
  node_args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Another user than the worker's. */
  uid?: number | undefined;
  /** Words before the program's own. */
  words?: readonly string[];
}

export function forkChild({ module, memory_mb, node_args, env, uid, words = [] }: ForkSettings): ChildProcess {
  // The last of two such flags counts: the worker's own heap limit is not the child's.
  const flags = [...inheritedArgs(process.execArgv), `--max-old-space-size=${memory_mb}`, ...node_args];
  const [program = "", ...args] = [...words, process.execPath, ...flags, entry, module, String(process.pid)];
  void fault("fork");
  return spawn(program, args, {
    // Both drop the worker's groups as well.
    uid,
    gid: uid,
    detached: true,
    // The last one is the channel.
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: env as NodeJS.ProcessEnv,
  });
}

const own_program = /^(-e|-p|-pe|--eval|--print)(=|$)/;
const only_one = /^--(inspect|debug-port|watch|test|input-type)/;
/** Would bring back the credentials that the environment was stripped of. */
const env_file = /^--env-file/;

/** The worker's own flags (a loader, conditions), without the program of `node -e` and what only one process can have. */
export function inheritedArgs(args: readonly string[]): string[] {
  return withoutFlags(args, (flag) => own_program.test(flag) || only_one.test(flag) || env_file.test(flag));
}

/** The worker's own environment, with a debugger in NODE_OPTIONS left to the worker: two cannot share its port. */
export function inheritedEnv(env: ForkSettings["env"]): ForkSettings["env"] {
  const { NODE_OPTIONS } = env;
  if (NODE_OPTIONS === undefined) return env;
  // As node reads it: cut at spaces, but not between quotes.
  const flags = NODE_OPTIONS.match(/("(\\.|[^"\\])*"?|[^ "])+/g) ?? [];
  return { ...env, NODE_OPTIONS: withoutFlags(flags, (flag) => /^--(inspect|debug-port)/.test(flag)).join(" ") };
}

/** What follows a flag and is none itself can only be its value, and goes with it. */
function withoutFlags(args: readonly string[], unwanted: (flag: string) => boolean): string[] {
  let dropping = false;
  return args.filter((arg) => {
    // Node takes --inspect_port for --inspect-port.
    if (arg.startsWith("-")) dropping = unwanted(arg.replaceAll("_", "-"));
    return !dropping;
  });
}
