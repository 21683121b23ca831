// The header of a local file, read by our own code: what it says, and whether the file is a COG.
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { type CogCheck, checkCogFile } from "../../../geo/cog_check.js";
import { HeaderError, type RangeReader, readTiffHeader, type TiffHeader } from "../../../geo/tiff/tiff_header.js";

/** null: what GDAL would have to make something of. */
export async function localHeader(file: string): Promise<TiffHeader | null> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await handle.stat();
    const read: RangeReader = async (offset, length) => {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    };
    return await readTiffHeader(read, size);
  } catch (error) {
    if (error instanceof HeaderError) return null;
    throw error;
  } finally {
    await handle.close();
  }
}

export async function checkLocalCog(file: string): Promise<CogCheck> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const read = async (offset: number, length: number) => {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
      return new Uint8Array(buffer.subarray(0, bytesRead));
    };
    return await checkCogFile(read, size, { strict: true });
  } finally {
    await handle.close();
  }
}
