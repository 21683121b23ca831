// A small picture as PNG: noise that looks like land from above. Made here, so that no file of pixels is kept.
import { crc32, deflateSync } from "node:zlib";

const size = 128;

export function picture(seed: number): Buffer {
  const rows: Buffer[] = [];
  for (let y = 0; y < size; y++) {
    const row = Buffer.alloc(1 + size * 3);
    for (let x = 0; x < size; x++) row.set(colourAt(x, y, seed), 1 + x * 3);
    rows.push(row);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function colourAt(x: number, y: number, seed: number): number[] {
  const wave = (scale: number, turn: number) =>
    Math.sin((x * Math.cos(turn) + y * Math.sin(turn)) / scale + seed * turn * 3) / 2 + 0.5;
  const height = (wave(23, 0.3) + wave(11, 1.9) + wave(7, 2.7) * 0.6) / 2.6;
  if (height > 0.72) return [236, 240, 244];
  if (height > 0.55) return [138, 126, 110];
  return height > 0.28 ? [62, 110 + Math.round(height * 60), 70] : [40, 84, 128];
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
