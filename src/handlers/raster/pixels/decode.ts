// One block of a TIFF, from the bytes in the file to numbers. Only what we write ourselves and what most others write; the rest is GDAL's.
import { inflateSync } from "node:zlib";
import type { TiffImageHeader } from "../../../geo/tiff/tiff_header.js";
import {
  type BlockLayout,
  blockBytes,
  decodeBlock,
  isSampleType,
  type Samples,
  unpackLzw,
} from "../../../geo/tiff/tiff_pixels.js";

const codecs = new Set(["none", "deflate", "lzw"]);

export interface BlockShape extends BlockLayout {
  compression: string;
}

/** null: not one of those that are read here. */
export function shapeOf(image: TiffImageHeader): BlockShape | null {
  const { data_type, compression, predictor, planar_configuration, photometric } = image;
  if (!isSampleType(data_type)) return null;
  if (compression === null || !codecs.has(compression)) return null;
  const is_float = data_type === "float32" || data_type === "float64";
  const is_known = predictor === 1 || (predictor === 2 && data_type !== "float64") || (predictor === 3 && is_float);
  if (!is_known || (photometric !== null && photometric > 3)) return null;
  return {
    width: image.block_width,
    height: image.block_height,
    samples: planar_configuration === 2 ? 1 : image.band_count,
    data_type,
    compression,
    predictor,
    // The reader leaves the others to GDAL.
    little_endian: true,
  };
}

/** Throws for bytes that are not what the header says. `rows`: of the last strip fewer. */
export function unpackedBlock(packed: Uint8Array, shape: BlockShape, rows = shape.height): Samples {
  const layout = { ...shape, height: rows };
  return decodeBlock(unpacked(packed, shape.compression, blockBytes(layout)), layout);
}

function unpacked(packed: Uint8Array, compression: string, bytes: number): Uint8Array {
  if (compression === "none") return packed;
  if (compression === "lzw") return unpackLzw(packed, bytes);
  // A little more than a block: what would swell to more is not what it says. In one piece, which is not put together again.
  const most = bytes + 1024;
  return inflateSync(packed, { maxOutputLength: most, chunkSize: most });
}
