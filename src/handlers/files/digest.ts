// files.digest: size and SHA-256 of one file. Reads the file in pieces, so that its size does not matter.
// A file that is gone by now is an answer (`missing`), because folders change while they are read; a file that may not be
// read is a failure of its task, because somebody should know.
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import { Permanent, Transient } from "../../core/errors/errors.js";
import { mustBeFolder } from "./list.js";

export type FileDigest = { path: string; sha256: string; size: number } | { path: string; missing: string };

const piece_bytes = 1 << 20;

const relativePath = z
  .string()
  .min(1)
  .refine((text) => !path.isAbsolute(text) && !text.split(/[/\\]/).includes(".."), "must stay inside the folder");

export const filesDigest = defineHandler(
  "files.digest",
  { parameters: z.object({ folder: z.string().min(1), path: relativePath }) },
  async (parameters, ctx): Promise<FileDigest> => {
    const handle = await openFile(parameters.folder, parameters.path);
    if (typeof handle === "string") return { path: parameters.path, missing: handle };
    try {
      return await digest(handle, parameters.path, ctx.signal);
    } finally {
      await handle.close();
    }
  },
);

/** The open file, or why there is none to digest any more. */
async function openFile(folder: string, relative: string): Promise<FileHandle | string> {
  try {
    // NOFOLLOW: the file may have become a link since it was listed. NONBLOCK: or a pipe, and opening one would wait.
    return await open(path.join(folder, relative), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const named = JSON.stringify(relative);
    if (code === "ENOENT" || code === "ENOTDIR") {
      await mustBeFolder(folder);
      return "vanished after it was listed";
    }
    if (code === "ELOOP" || code === "EMLINK") return "became a symbolic link after it was listed";
    if (code === "ENXIO") return "is no longer a regular file";
    if (code === "EACCES" || code === "EPERM")
      throw new Permanent(`not permitted to read ${named}`, { code: "not_permitted" });
    if (code === "ENAMETOOLONG")
      throw new Permanent(`the path of ${named} is too long for this machine`, { code: "path_too_long" });
    throw error;
  }
}

async function digest(handle: FileHandle, relative: string, signal: AbortSignal): Promise<FileDigest> {
  const before = await handle.stat();
  if (!before.isFile()) return { path: relative, missing: "is no longer a regular file" };
  const hash = createHash("sha256");
  // One byte more than the file, so that a small file is read to its end in one call.
  const piece = Buffer.allocUnsafe(Math.min(piece_bytes, before.size + 1));
  let size = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(piece, 0, piece.length, null);
    if (bytesRead === 0) break;
    hash.update(piece.subarray(0, bytesRead));
    size += bytesRead;
  }
  const after = await handle.stat();
  if (after.size !== size || after.mtimeMs !== before.mtimeMs) {
    throw new Transient(`${JSON.stringify(relative)} changed while it was read`, { code: "file_changed" });
  }
  return { path: relative, sha256: hash.digest("hex"), size };
}
