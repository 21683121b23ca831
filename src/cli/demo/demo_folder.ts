// The folder of the raster demo: made afresh by each run, and known again by a file that says what the last run left there. A folder
// without that file is somebody's data, and is never touched.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { EmbeddedFolderBusy } from "../../engine/database/embedded_folder.js";
import { lockFolder } from "../../engine/database/folder_lock.js";
import { type Cli, globals } from "../terminal/command.js";
import { CliFailure, explainBusy, usage } from "../terminal/failure.js";
import { servedAt } from "../terminal/served_at.js";

export interface DemoNotes {
  job_id: string;
  collection: string;
  scene_count: number;
  /** The one that is broken on purpose: where it lies, and the file that belongs there. */
  broken: { source: string; mended: string };
}

const default_folder = ".fanfold-demo";
const notes_name = "demo.json";

/** --data-dir, or a fixed place below the current folder: the next command finds it. */
export function demoFolder(cli: Cli): string {
  return path.resolve(cli.io.cwd, globals(cli).dataDir ?? default_folder);
}

/** As it is typed: relative where it lies below the current folder, in quotes where a shell needs them. */
export function typed(cwd: string, file: string): string {
  const relative = path.relative(cwd, file);
  const short = relative === "" ? "." : relative.startsWith("..") || path.isAbsolute(relative) ? file : relative;
  return /^[\w./@%+=:,-]+$/.test(short) ? short : `'${short.replaceAll("'", "'\\''")}'`;
}

/** What lies in the folder. Throws when it is not the demo's. */
function ownEntries(cli: Cli, folder: string, name: string): string[] {
  const entries = existsSync(folder) ? readdirSync(folder) : [];
  if (entries.length > 0 && !entries.includes(notes_name)) {
    throw usage(`${typed(cli.io.cwd, folder)} holds something that is not the demo's`, {
      why: "the demo starts afresh in its folder, and would remove it",
      next: `fanfold ${name} --data-dir ${typed(cli.io.cwd, `${folder}-2`)}`,
    });
  }
  return entries;
}

/** Leaves what the folder of the demo holds, or makes an empty one. Throws when it is not the demo's. */
export function keptFolder(cli: Cli, folder: string, name: string): void {
  if (ownEntries(cli, folder, name).length > 0) return;
  mkdirSync(folder, { recursive: true });
  writeNotes(folder, { job_id: null });
}

/** Empties the folder of what an earlier demo left. Throws when another process works on it, or when it is not the demo's. */
export async function freshFolder(cli: Cli, folder: string): Promise<void> {
  const entries = ownEntries(cli, folder, "demo");
  const release = await lockDatabase(folder);
  try {
    mkdirSync(folder, { recursive: true });
    // First: a demo that is interrupted from here on leaves a folder that the next one knows to be the demo's.
    writeNotes(folder, { job_id: null });
    for (const name of entries) {
      if (name !== notes_name) rmSync(path.join(folder, name), { recursive: true, force: true });
    }
  } finally {
    release();
  }
}

async function lockDatabase(folder: string): Promise<() => void> {
  const database = path.join(folder, "database");
  if (!existsSync(database)) return () => {};
  try {
    return await lockFolder(database);
  } catch (error) {
    if (!(error instanceof EmbeddedFolderBusy)) throw error;
    throw new CliFailure(explainBusy(error, servedAt(folder, error.pid)));
  }
}

/** What stands in the file; `world`: fanfold demo world came to its end in this folder, too. */
type Written = (DemoNotes | { job_id: null }) & { world?: boolean };

export function writeNotes(folder: string, notes: Written): void {
  writeFileSync(path.join(folder, notes_name), `${JSON.stringify(notes, null, 2)}\n`);
}

/** null when the demo of rasters did not come to its end there. */
export function readNotes(folder: string): DemoNotes | null {
  const notes = written(folder);
  return notes.job_id === null ? null : notes;
}

export function noteWorld(folder: string): void {
  writeNotes(folder, { ...written(folder), world: true });
}

export function hasWorld(folder: string): boolean {
  return written(folder).world === true;
}

function written(folder: string): Written {
  try {
    return JSON.parse(readFileSync(path.join(folder, notes_name), "utf8")) as Written;
  } catch {
    return { job_id: null };
  }
}
