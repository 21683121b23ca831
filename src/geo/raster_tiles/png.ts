// What stands around the packed pixels of a PNG. The packing itself is zlib's, and the caller's. Pure.

export interface PngHead {
  width: number;
  height: number;
  /** 0 grey, 2 colour, 4 grey with alpha, 6 colour with alpha; of eight bits each. */
  color_type: 0 | 2 | 4 | 6;
}

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export function framedPng({ width, height, color_type }: PngHead, packed: Uint8Array): Uint8Array {
  const png = new Uint8Array(signature.length + 25 + 12 + packed.length + 12);
  png.set(signature);
  const head = new Uint8Array(13);
  const view = new DataView(head.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  head.set([8, color_type], 8);
  let at = signature.length;
  at = chunk(png, at, "IHDR", head);
  at = chunk(png, at, "IDAT", packed);
  chunk(png, at, "IEND", new Uint8Array(0));
  return png;
}

function chunk(png: Uint8Array, at: number, name: string, body: Uint8Array): number {
  const view = new DataView(png.buffer, at);
  view.setUint32(0, body.length);
  for (let letter = 0; letter < 4; letter++) png[at + 4 + letter] = name.charCodeAt(letter);
  png.set(body, at + 8);
  view.setUint32(8 + body.length, checksum(png.subarray(at + 4, at + 8 + body.length)));
  return at + 12 + body.length;
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32; node's own is younger than the oldest node we run on. */
function checksum(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = table[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
