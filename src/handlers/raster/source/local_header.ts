// The header of a local file, read by our own code: whether it is a COG.
import { open } from "node:fs/promises";
import { type CogCheck, checkCogFile } from "../../../geo/cog_check.js";

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
