// The files an engine is given: absolute, regular, ours. GDAL reads names (a prefix makes another driver of it, a link leads elsewhere),
// so a name is looked at before GDAL sees it.
import { constants } from "node:fs";
import { lstat, open, rm } from "node:fs/promises";
import { isAbsolute, normalize } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import { hiddenPath } from "../../../geo/hidden_paths.js";
import type { SourceFile } from "../gdal/gdal_programs.js";

/** Nothing GDAL could take for more than a name. */
const plain_name = /^(\/[\p{L}\p{M}\p{N}._ @+=,~%()#-]+)+$/u;

function checkName(file: string): void {
  const is_plain = isAbsolute(file) && normalize(file) === file && plain_name.test(file) && !/^\/vsi/i.test(file);
  if (!is_plain || file.split("/").some((part) => part.startsWith("-"))) {
    throw new Permanent("a raster's local file must have a plain, absolute name", { code: "bad_file_name" });
  }
}

export async function checkedSource(file: string): Promise<SourceFile> {
  checkName(file);
  const stat = await lstat(file).catch(() => null);
  if (stat === null) throw new Permanent("the raster's local file is not there", { code: "missing_file" });
  if (!stat.isFile()) throw new Permanent("the raster's local file is no regular file", { code: "bad_file_name" });
  if (file.endsWith(".vrt")) return { file, driver: "VRT" };
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const read = async (offset: number, length: number) => {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    };
    const hidden = await hiddenPath(read, stat.size);
    if (hidden !== null) throw new Permanent(`${hidden.message} ${hidden.hint}`, { code: "unsafe_raster" });
  } finally {
    await handle.close();
  }
  return { file, driver: "GTiff" };
}

/** What is there already would be added to instead of replaced. */
export async function freeTarget(file: string): Promise<void> {
  checkName(file);
  await rm(file, { force: true });
}
