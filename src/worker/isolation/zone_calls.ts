// What an isolated handler does with zones, done by the worker for it: the child has no credential, only paths in its scratch
// directory. A path that a child names is looked at before anything is read from or written to it.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chown, lstat, open, readlink, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import { Permanent } from "../../core/errors/errors.js";
import { quoted } from "../../core/errors/problems.js";
import type { TaskZones } from "../../core/places/zones.js";

/** The verb and what it was given, as in TaskZones. */
export type ZoneCall = {
  [Verb in keyof TaskZones]: [verb: Verb, ...given: Parameters<TaskZones[Verb]>];
}[keyof TaskZones];

const verbs = [
  "stat",
  "list",
  "read",
  "download",
  "publish",
  "adopt",
  "retract",
] as const satisfies (keyof TaskZones)[];

/** ctx.zones of a child. */
export function remoteZones(ask: (call: ZoneCall) => Promise<unknown>): TaskZones {
  const zones = Object.fromEntries(
    verbs.map((verb) => [verb, async (...given: unknown[]) => ask([verb, ...given] as unknown as ZoneCall)]),
  ) as unknown as TaskZones;
  const download: TaskZones["download"] = async (ref, file, options) => {
    const { at, ...got } = (await zones.download(ref, file, options)) as Delivered;
    // The worker does not follow paths through a folder that is not its own.
    if (at !== undefined) await rename(at, file);
    return got;
  };
  return { ...zones, download };
}

type Delivered = Awaited<ReturnType<TaskZones["download"]>> & { at?: string };

/** `scratch` is the attempt's; `owner` the user it belongs to, where that is not the worker's. */
export async function answerZoneCall(
  zones: TaskZones,
  scratch: () => Promise<string>,
  [verb, ...given]: ZoneCall,
  owner?: number,
): Promise<unknown> {
  if (!verbs.includes(verb)) throw new Permanent(`zones have no ${quoted(verb)}`, { code: "bad_call" });
  const asked = [...given] as unknown[];
  const call = () => (zones[verb] as (...given: unknown[]) => Promise<unknown>)(...asked);
  if (verb === "publish") {
    const { handle, path } = await ownFile(await scratch(), asked[0], owner);
    asked[0] = path;
    return call().finally(() => handle.close());
  }
  if (verb !== "download") return call();
  const root = await scratch();
  asked[1] = await newFile(root, asked[1]);
  if (owner === undefined) return call();
  const name = `.in-${randomUUID()}`;
  const at = join(root, name);
  const beside = join(dirname(root), name);
  asked[1] = beside;
  try {
    const got = (await call()) as Delivered;
    await chown(beside, owner, owner);
    await rename(beside, at);
    return { ...got, at };
  } finally {
    await rm(beside, { force: true });
  }
}

/** A file of the attempt's own, opened: what its path leads to may change from now on, and must not matter. */
async function ownFile(scratch: string, file: unknown, owner: number | undefined) {
  const path = await inside(scratch, file);
  // Not waiting: a pipe in the file's place would be waited for until somebody writes.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw refused(file, error.code === "ELOOP" ? "is a symbolic link" : "is not there");
  });
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw refused(file, "is not a file");
    // A second name of somebody else's file.
    if (owner !== undefined && found.uid !== owner) throw refused(file, "is not a file of this task");
    if (process.platform !== "linux") return { handle, path };
    const opened = `/proc/self/fd/${handle.fd}`;
    if (!(await readlink(opened)).startsWith(`${await realpath(scratch)}${sep}`)) {
      throw refused(file, "is not inside ctx.scratch()");
    }
    return { handle, path: opened };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function newFile(scratch: string, file: unknown): Promise<string> {
  const path = await inside(scratch, file);
  if ((await lstat(path).catch(() => null)) !== null) throw refused(file, "is there already");
  return path;
}

/** The path with its folder as it really is, which must be the scratch directory or one below it. */
async function inside(scratch: string, file: unknown): Promise<string> {
  if (typeof file !== "string" || !isAbsolute(file) || file.includes("\0")) throw refused(file, "is not a full path");
  const name = basename(file);
  const folder = await realpath(dirname(file)).catch(() => null);
  if (folder === null) throw refused(file, "is in no folder");
  const root = await realpath(scratch);
  if (name === ".." || name === "." || `${folder}${sep}`.startsWith(`${root}${sep}`) === false) {
    throw refused(file, "is not inside ctx.scratch()");
  }
  return join(folder, name);
}

function refused(file: unknown, why: string): Permanent {
  return new Permanent(`${quoted(file)} ${why}: zones take files in the task's scratch directory`, {
    code: "bad_path",
  });
}
