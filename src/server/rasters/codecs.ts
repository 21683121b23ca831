// The codecs of the blocks of a TIFF. Each gives exactly the bytes that the block has to have, or throws: what a file claims of itself is
// never believed, so that a few bytes do not become a gigabyte.
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { decompressZstd } from "hyparquet-compressors";
import jpeg from "jpeg-js";
import * as lerc from "lerc";
import { unpackLzw } from "../../geo/tiff/tiff_pixels.js";
import { compiled } from "./wasm_file.js";

export interface BlockFacts {
  compression: string | null;
  width: number;
  height: number;
  /** Samples that stand side by side. */
  per_pixel: number;
  /** That it has when it is decoded. */
  bytes: number;
  photometric: number | null;
  jpeg_tables: Uint8Array | null;
  /** How LERC data are packed: 1 when deflated after it, 2 when packed with zstd. */
  lerc_packing: number;
}

const inflate = promisify(zlib.inflate) as (bytes: Uint8Array, options: zlib.ZlibOptions) => Promise<Buffer>;

/** Those that are decoded here. */
export const decoded_compressions = ["none", "deflate", "lzw", "zstd", "jpeg", "webp", "lerc"] as const;

export async function decoded(packed: Uint8Array, facts: BlockFacts): Promise<Uint8Array> {
  const bytes = await unpacked(packed, facts);
  if (bytes.length < facts.bytes)
    throw new Error(`a block has ${bytes.length} bytes of the ${facts.bytes} it has to have`);
  return bytes.subarray(0, facts.bytes);
}

async function unpacked(packed: Uint8Array, facts: BlockFacts): Promise<Uint8Array> {
  switch (facts.compression) {
    case "none":
      return packed;
    case "deflate":
      return inflated(packed, facts.bytes);
    case "lzw":
      return unlzw(packed, facts.bytes);
    case "zstd":
      return unzstd(packed, facts.bytes);
    case "jpeg":
      return fromJpeg(packed, facts);
    case "webp":
      return fromWebp(packed, facts);
    case "lerc":
      return fromLerc(packed, facts);
    default:
      throw new Error(`blocks of ${facts.compression ?? "an unknown codec"} cannot be decoded here`);
  }
}

function inflated(packed: Uint8Array, bytes: number): Promise<Buffer> {
  return inflate(packed, { maxOutputLength: Math.max(bytes, 64) });
}

/** Into memory of the right size: without it the decoder would make as much as the file says. */
function unzstd(packed: Uint8Array, bytes: number): Uint8Array {
  const into = new Uint8Array(bytes);
  decompressZstd(packed, into);
  return into;
}

/** What a block lacks at its end is zero. */
function unlzw(packed: Uint8Array, bytes: number): Uint8Array {
  const into = new Uint8Array(bytes);
  into.set(unpackLzw(packed, bytes));
  return into;
}

const megapixels = 4;

function fromJpeg(
  packed: Uint8Array,
  { jpeg_tables, photometric, width, height, per_pixel, bytes }: BlockFacts,
): Uint8Array {
  // The tables end with an end-of-image, and what follows begins with a start: both go.
  const whole =
    jpeg_tables === null
      ? packed
      : Buffer.concat([jpeg_tables.subarray(0, jpeg_tables.length - 2), packed.subarray(2)]);
  const { data, ...made } = jpeg.decode(whole, {
    useTArray: true,
    formatAsRGBA: false,
    // As the file says it: not every block says it again.
    colorTransform: photometric === 6,
    maxResolutionInMP: megapixels,
    maxMemoryUsageInMB: 128,
  });
  if (made.width !== width || made.height < height)
    throw new Error("a JPEG block has another size than its image's blocks");
  if (per_pixel === 3) return data;
  if (per_pixel !== 1) throw new Error(`a JPEG of ${per_pixel} bands cannot be decoded here`);
  return Uint8Array.from({ length: bytes }, (_, at) => data[at * 3]!);
}

let webp:
  | Promise<(packed: ArrayBuffer) => Promise<{ data: Uint8ClampedArray; width: number; height: number }>>
  | undefined;

async function openWebp() {
  const { default: decode, init } = await import("@jsquash/webp/decode.js");
  await init(await compiled("@jsquash/webp/codec/dec/webp_dec.wasm"));
  return decode as never;
}

async function fromWebp(packed: Uint8Array, { width, height, per_pixel, bytes }: BlockFacts): Promise<Uint8Array> {
  const size = webpSize(packed);
  if (size === null || size[0] !== width || size[1] !== height)
    throw new Error("a WebP block has another size than its image's blocks");
  webp ??= openWebp();
  const { data } = await (await webp)(new Uint8Array(packed).buffer);
  if (per_pixel === 4) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const out = new Uint8Array(bytes);
  for (let from = 0, to = 0; to < bytes; from += 4) for (let band = 0; band < 3; band++) out[to++] = data[from + band]!;
  return out;
}

/** As its header says it, so that nothing is decoded that is larger than it may be. */
function webpSize(packed: Uint8Array): [number, number] | null {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (packed.length < 30) return null;
  const kind = String.fromCharCode(...packed.subarray(12, 16));
  if (kind === "VP8 ") return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  if (kind === "VP8L") {
    const bits = view.getUint32(21, true);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  if (kind !== "VP8X") return null;
  const three = (at: number) => packed[at]! | (packed[at + 1]! << 8) | (packed[at + 2]! << 16);
  return [three(24) + 1, three(27) + 1];
}

async function fromLerc(packed: Uint8Array, facts: BlockFacts): Promise<Uint8Array> {
  const { lerc_packing, bytes, width, height, per_pixel } = facts;
  // Without a saving LERC keeps the pixels as they are, with its head before them.
  const most = bytes * 2 + 65_536;
  const blob = lerc_packing === 1 ? await inflated(packed, most) : lerc_packing === 2 ? unzstd(packed, most) : packed;
  await lerc.load();
  const info = lerc.getBlobInfo(blob);
  if (info.width !== width || info.height !== height || info.depthCount * info.bandCount !== per_pixel)
    throw new Error("a LERC block has another size than its image's blocks");
  const { pixels, mask } = lerc.decode(blob, { returnInterleaved: true });
  const [values] = pixels;
  if (pixels.length !== 1 || values === undefined)
    throw new Error("a LERC block with bands apart cannot be decoded here");
  // What is no number is kept as a mask.
  if (mask !== null && (values instanceof Float32Array || values instanceof Float64Array))
    for (let at = 0; at < values.length; at++) if (mask[Math.floor(at / per_pixel)] === 0) values[at] = Number.NaN;
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
