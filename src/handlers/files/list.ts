// files.list: the regular files below a folder, sorted by the bytes of their relative path. Reads folders, never contents.
// Symbolic links are counted and not followed: a link may leave the folder or run in a circle.
// What cannot be read is reported, not fatal: one locked subfolder must not hide the other ten thousand files.
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import { Permanent } from "../../core/errors/errors.js";
import { compareBytes } from "./merkle.js";

export interface FileList {
  files: string[];
  file_count: number;
  link_count: number;
  /** Sockets, pipes and devices: nothing that could be digested. */
  special_count: number;
  unreadable_count: number;
  /** The first of them; the count is true. */
  unreadable: { path: string; problem: string }[];
}

export const most_named = 100;

export const filesList = defineHandler(
  "files.list",
  { parameters: z.object({ folder: z.string().min(1) }) },
  async ({ folder }, ctx): Promise<FileList> => {
    await mustBeFolder(folder);
    const list: FileList = {
      files: [],
      file_count: 0,
      link_count: 0,
      special_count: 0,
      unreadable_count: 0,
      unreadable: [],
    };
    const folders = [""];
    for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
      ctx.signal.throwIfAborted();
      const entries = await readFolder(folder, below, list);
      for (const entry of entries) sort(entry, below, folders, list);
    }
    list.files.sort(compareBytes);
    list.file_count = list.files.length;
    list.unreadable.sort((a, b) => compareBytes(a.path, b.path));
    ctx.log.info("listed", { folder, file_count: list.file_count, unreadable_count: list.unreadable_count });
    return list;
  },
);

/** Says which of the three it is, because each has another remedy. */
export async function mustBeFolder(folder: string): Promise<void> {
  let found: Awaited<ReturnType<typeof stat>>;
  try {
    found = await stat(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const named = JSON.stringify(folder);
    if (code === "ENOENT")
      throw new Permanent(`there is no folder ${named} on the worker's machine`, { code: "folder_missing" });
    if (code === "ENOTDIR") throw new Permanent(`${named} leads through a file`, { code: "not_a_folder" });
    if (code === "EACCES" || code === "EPERM")
      throw new Permanent(`not permitted to look at ${named}`, { code: "not_permitted" });
    throw error;
  }
  if (!found.isDirectory())
    throw new Permanent(`${JSON.stringify(folder)} is a file, not a folder`, { code: "not_a_folder" });
}

async function readFolder(folder: string, below: string, list: FileList): Promise<Dirent<Buffer>[]> {
  try {
    return await readdir(path.join(folder, below), { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    if (below === "") {
      const reason = code === "EACCES" || code === "EPERM" ? "not_permitted" : "folder_unreadable";
      throw new Permanent(`cannot read the folder ${JSON.stringify(folder)} (${code})`, { code: reason });
    }
    report(
      list,
      below,
      code === "ENOENT" ? "the folder vanished while it was listed" : `the folder cannot be read (${code})`,
    );
    return [];
  }
}

function sort(entry: Dirent<Buffer>, below: string, folders: string[], list: FileList): void {
  const name = entry.name.toString("utf8");
  const relative = below === "" ? name : `${below}/${name}`;
  // A name that is not UTF-8 cannot travel as JSON: its replacement characters would name another file.
  if (!Buffer.from(name, "utf8").equals(entry.name)) report(list, relative, "its name is not valid UTF-8");
  else if (entry.isSymbolicLink()) list.link_count += 1;
  else if (entry.isDirectory()) folders.push(relative);
  else if (entry.isFile()) list.files.push(relative);
  else list.special_count += 1;
}

function report(list: FileList, relative: string, problem: string): void {
  list.unreadable_count += 1;
  if (list.unreadable.length < most_named) list.unreadable.push({ path: relative, problem });
}
