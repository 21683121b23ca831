// What an isolated handler does with zones, done by the worker for it: the child has no credential, only paths in its scratch
// directory. A path that a child names is looked at before anything is read from or written to it.
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import { Permanent } from "../../core/errors.js";
import { quoted } from "../../core/problems.js";
import type { TaskZones } from "../../core/zones.js";

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
  return Object.fromEntries(
    verbs.map((verb) => [verb, async (...given: unknown[]) => ask([verb, ...given] as unknown as ZoneCall)]),
  ) as unknown as TaskZones;
}

/** `scratch` is the attempt's. */
export async function answerZoneCall(
  zones: TaskZones,
  scratch: () => Promise<string>,
  [verb, ...given]: ZoneCall,
): Promise<unknown> {
  if (!verbs.includes(verb)) throw new Permanent(`zones have no ${quoted(verb)}`, { code: "bad_call" });
  const asked = [...given] as unknown[];
  if (verb === "download") asked[1] = await newFile(await scratch(), asked[1]);
  if (verb === "publish") asked[0] = await ownFile(await scratch(), asked[0]);
  return (zones[verb] as (...given: unknown[]) => Promise<unknown>)(...asked);
}

/** A file of the attempt's own: no link, because what it leads to is not what was checked. */
async function ownFile(scratch: string, file: unknown): Promise<string> {
  const path = await inside(scratch, file);
  const found = await lstat(path).catch(() => null);
  if (found === null) throw refused(file, "is not there");
  if (found.isSymbolicLink()) throw refused(file, "is a symbolic link");
  if (!found.isFile()) throw refused(file, "is not a file");
  return path;
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
