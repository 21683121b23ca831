// A tile as PNG or WebP. A PNG is packed by zlib in its own threads; what is grey or opaque is said so, which makes it smaller.
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { Picture } from "../../geo/raster_tiles/paint.js";
import { framedPng, type PngHead } from "../../geo/raster_tiles/png.js";
import { compiled } from "./wasm_file.js";

const pack = promisify(deflate) as (bytes: Uint8Array, options: { level: number }) => Promise<Buffer>;
/** Higher ones take twice the time for a twentieth of the bytes. */
const level = 4;

export async function pngOf({ width, height, rgba, filled }: Picture): Promise<Uint8Array> {
  const is_opaque = filled === width * height;
  const is_grey = isGrey(rgba);
  const channels = is_grey ? (is_opaque ? [0] : [0, 3]) : is_opaque ? [0, 1, 2] : [0, 1, 2, 3];
  const color_type = [0, 4, 2, 6][channels.length - 1] as PngHead["color_type"];
  const row_bytes = width * channels.length + 1;
  // Each row starts with its filter; 0 is none.
  const rows = new Uint8Array(row_bytes * height);
  let from = 0;
  for (let y = 0; y < height; y++) {
    let to = y * row_bytes + 1;
    for (let x = 0; x < width; x++, from += 4) for (const channel of channels) rows[to++] = rgba[from + channel]!;
  }
  return framedPng({ width, height, color_type }, await pack(rows, { level }));
}

function isGrey(rgba: Uint8ClampedArray): boolean {
  for (let at = 0; at < rgba.length; at += 4) if (rgba[at] !== rgba[at + 1] || rgba[at] !== rgba[at + 2]) return false;
  return true;
}

type Encode = (
  picture: { data: Uint8ClampedArray; width: number; height: number },
  options: object,
) => Promise<ArrayBuffer>;
let webp: Promise<Encode> | undefined;

async function openWebp(): Promise<Encode> {
  const { default: encode, init } = await import("@jsquash/webp/encode.js");
  await init(await compiled("@jsquash/webp/codec/enc/webp_enc_simd.wasm"));
  return encode as never;
}

export async function webpOf({ width, height, rgba }: Picture): Promise<Uint8Array> {
  webp ??= openWebp();
  return new Uint8Array(await (await webp)({ data: rgba, width, height }, { quality: 85, method: 2 }));
}
