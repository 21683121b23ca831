// A PMTiles file as its own package reads it, and a tile of it as vector tiles are read.
import { open } from "node:fs/promises";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { type Header, PMTiles, type Source } from "pmtiles";

export interface ReadTile {
  layers: Record<string, { length: number; properties: Record<string, unknown>[] }>;
}

export async function openPmtiles(path: string): Promise<{
  header: Header;
  metadata: Record<string, unknown>;
  tile(z: number, x: number, y: number): Promise<ReadTile | null>;
  close(): Promise<void>;
}> {
  const handle = await open(path);
  const source: Source = {
    getKey: () => path,
    getBytes: async (offset, length) => {
      const bytes = Buffer.alloc(length);
      const { bytesRead } = await handle.read(bytes, 0, length, offset);
      return { data: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytesRead) as ArrayBuffer };
    },
  };
  const file = new PMTiles(source);
  return {
    header: await file.getHeader(),
    metadata: (await file.getMetadata()) as Record<string, unknown>,
    async tile(z, x, y) {
      const found = await file.getZxy(z, x, y);
      if (found === undefined) return null;
      const { layers } = new VectorTile(new PbfReader(new Uint8Array(found.data)));
      return {
        layers: Object.fromEntries(
          Object.entries(layers).map(([name, layer]) => [
            name,
            {
              length: layer.length,
              properties: Array.from({ length: layer.length }, (_, at) => layer.feature(at).properties),
            },
          ]),
        ),
      };
    },
    close: () => handle.close(),
  };
}
