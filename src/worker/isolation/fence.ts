// What keeps the processes of isolated handlers away from their worker, found out by trying. Where the worker is root, each tenant's
// have a user of their own, who can read neither the worker's /proc (its environment, its memory) nor any file that is not for
// everybody. Elsewhere they are the worker's user in a user namespace of their own, where the system allows that: the kernel then
// refuses them the worker's /proc, and nothing else. Where it does not, only their environment is stripped.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { entry } from "./fork.js";

/** auto: the best there is. own: a user of their own, or the worker does not start. same: the worker's user, and no fence. */
export const isolation_users = ["auto", "own", "same"] as const;
export type IsolationUser = (typeof isolation_users)[number];

export interface Fence {
  kind: "user" | "namespace" | "none";
  /** What it would take to have a user of their own. */
  why: string;
  /** Put before the program. */
  words: readonly string[];
}

/** As was asked for. */
export const no_fence: Fence = { kind: "none", why: "isolation_user is same", words: [] };

export const fence_words: Record<Fence["kind"], string> = {
  user: "isolated handlers run as users of their own, one for each tenant",
  namespace:
    "isolated handlers run as the worker's user, out of reach of its environment and memory but not of its files",
  none: "isolated handlers run as the worker's user: fenced against accidents, not malice",
};

/** Above the users of people, services and containers, and below those that systemd and signed numbers have their own ideas of. */
const first_user = 0x7000_0000;
const users = 0x0ffe_0000;
const trial_user = userOfTenant("");
/** So that no program it starts gains rights. */
const no_rights = ["setpriv", "--no-new-privs", "--"];
const own_namespace = ["unshare", "--user", "--map-current-user", "--"];
/** Generous: a busy machine must not take the fence away. */
const trial_ms = 30_000;
/** CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID: to give a user files, to take them away, to end what it runs, to become it. */
const capabilities = 0b1110_1011n;

/** The same in every worker of the machine, so that what is cached for a tenant is its own everywhere. */
export function userOfTenant(tenant_id: string): number {
  const digest = createHash("sha256").update(`fanfold tenant ${tenant_id}`).digest();
  return first_user + (digest.readUInt32BE(0) % users);
}

/** The best there is on this machine for this process. */
export async function findFence(choice: IsolationUser): Promise<Fence> {
  if (choice === "same") return no_fence;
  if (process.platform !== "linux") return { ...no_fence, why: "only Linux has the means" };
  const why = await whyNoUser();
  if (why === null) {
    const words = (await runs([...no_rights, "true"], trial_user)) ? no_rights : [];
    return { kind: "user", why: "", words };
  }
  return namespaceOrNone(why);
}

async function namespaceOrNone(why: string): Promise<Fence> {
  const words = own_namespace;
  return (await cannotLook(words)) ? { kind: "namespace", why, words } : { kind: "none", why, words: [] };
}

async function whyNoUser(): Promise<string | null> {
  if (process.getuid?.() !== 0) return "the worker would have to be root, to give them another user";
  const status = await readFile("/proc/self/status", "latin1").catch(() => "");
  const [, effective = "0"] = /^CapEff:\s*([0-9a-f]+)/m.exec(status) ?? [];
  if ((BigInt(`0x${effective}`) & capabilities) !== capabilities) {
    return "root lacks one of the capabilities CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID and SETUID here";
  }
  return (await cannotLook([], trial_user)) ? null : "this machine or container lets no process take another user";
}

/** A user of its own can have only modules that everybody may read. */
export interface FencedModules {
  fence: Fence;
  /** Fences of the modules that cannot have it. */
  others: ReadonlyMap<string, Fence>;
}

export async function fenceModules(
  choice: IsolationUser,
  modules: Iterable<string>,
  scratch_dir: string,
): Promise<FencedModules> {
  const fence = await findFence(choice);
  const others = new Map<string, Fence>();
  if (fence.kind === "user") {
    await mkdir(scratch_dir, { recursive: true, mode: 0o711 });
    const { mode } = await stat(scratch_dir);
    // To be passed through, not to be read, unless the operator's folder is for everybody.
    if ((mode & 0o001) === 0) await chmod(scratch_dir, mode | 0o011);
    const needed = [process.execPath, entry];
    const hidden = await unreachable(scratch_dir, [
      ...needed,
      ...Array.from(modules, (module) => fileURLToPath(module)),
    ]);
    for (const module of modules) {
      const path = [scratch_dir, ...needed, fileURLToPath(module)].find((one) => hidden.has(one));
      if (path !== undefined) others.set(module, await namespaceOrNone(`not everybody may read ${path}`));
    }
  }
  const [lacking] = fence.kind === "user" ? others.values() : [fence];
  if (choice === "own" && lacking !== undefined) {
    throw new Error(`isolation_user is own, and isolated handlers cannot have a user of their own: ${lacking.why}`);
  }
  return { fence, others };
}

/** Whether it is the folder that a user of their own cannot pass through, and which of the files such a one cannot read. */
async function unreachable(folder: string, files: readonly string[]): Promise<Set<string>> {
  const say = 'printf "%s\\0"';
  const script = `test -x "$1" || ${say} "$1"; shift; for file; do test -r "$file" || ${say} "$file"; done`;
  const out = await output(["sh", "-c", script, "sh", folder, ...files], trial_user);
  return out === null ? new Set([folder]) : new Set(out.split("\0"));
}

/** Whether a process that is started so is refused the environment of this one. */
function cannotLook(words: readonly string[], uid?: number): Promise<boolean> {
  const script = 'test -e "$1" && ! head -c 1 "$1"';
  return runs([...words, "sh", "-c", script, "sh", `/proc/${process.pid}/environ`], uid);
}

async function runs(command: readonly string[], uid?: number): Promise<boolean> {
  return (await output(command, uid)) !== null;
}

/** null: it could not be started, or failed. */
function output([program = "", ...args]: readonly string[], uid?: number): Promise<string | null> {
  const user = { uid, gid: uid };
  return new Promise((resolve) => {
    // What no process may be started as is thrown at once.
    try {
      const options = { ...user, cwd: "/", timeout: trial_ms };
      execFile(program, args, options, (error, stdout) => resolve(error === null ? stdout : null));
    } catch {
      resolve(null);
    }
  });
}
