// Whether a TIFF is cloud-optimised: the rules of GDAL's validate_cloud_optimized_geotiff and of rio-cogeo in strict mode, and
// what those leave out (tile sizes, masks, steps of overviews), read from the same header as every other check. Pure.
import { dataOrder, ghostClaims, masks } from "./cog_layout.js";
import { fileKind } from "./file_kind.js";
import {
  HeaderError,
  type HeaderLimits,
  type RangeReader,
  readTiffHeader,
  type TiffHeader,
  type TiffImageHeader,
} from "./tiff/tiff_header.js";

export interface CogViolation {
  code: string;
  message: string;
}

export interface CogCheck {
  /** No errors, and in strict mode no warnings either. */
  valid: boolean;
  errors: CogViolation[];
  warnings: CogViolation[];
}

export interface CogCheckOptions {
  /** Default true, as what we write has to be. */
  strict?: boolean;
  /** An .ovr or .msk file lies beside it. */
  has_external_overviews?: boolean;
}

/** Sides up to this need neither tiles nor overviews. */
const small = 512;

export function checkCog(header: TiffHeader, options: CogCheckOptions = {}): CogCheck {
  const errors: CogViolation[] = [];
  const warnings: CogViolation[] = [];
  const error = (code: string, message: string) => errors.push({ code, message });
  const warn = (code: string, message: string) => warnings.push({ code, message });
  const [main] = header.images;
  const overviews = header.images.filter(({ role }) => role === "overview");

  if (options.has_external_overviews) {
    error("external_overviews", "Overviews or masks lie in a file beside it; they have to be inside.");
  }
  if (header.images.slice(1).some(({ role }) => role === "image")) {
    error("several_images", "The file holds more than one full image.");
  }
  if (isLarge(main) && overviews.length === 0) {
    warn("no_overviews", `The image is ${size(main)} and has no overviews.`);
  }
  const last = overviews.at(-1);
  if (last && Math.min(last.width, last.height) > 2 * Math.max(small, last.block_width)) {
    warn("overviews_too_few", `The smallest overview is still ${size(last)}.`);
  }
  for (const [i, image] of [main, ...overviews].entries()) {
    const name = levelName(i);
    if (isLarge(image) && !image.tiled)
      error(i === 0 ? "not_tiled" : "overview_not_tiled", `${name} is ${size(image)} and not tiled.`);
    if (image.tiled && (image.block_width % 16 !== 0 || image.block_height % 16 !== 0 || image.block_width === 0)) {
      error(
        "block_size",
        `${name} has tiles of ${image.block_width} × ${image.block_height}; both must be multiples of 16.`,
      );
    }
    // rio-cogeo takes a width of one tile for no tiles at all.
    if (isLarge(image) && image.tiled && image.block_width === image.width) {
      warn("one_tile_wide", `${name} is ${size(image)}, as wide as its tiles, which some tools take for strips.`);
    }
    const before = [main, ...overviews][i - 1];
    if (!before) continue;
    if (image.width > before.width || image.height > before.height) {
      error("overview_larger", `${name} is ${size(image)}, larger than the one before it (${size(before)}).`);
    } else if (!isHalf(image.width, before.width) || !isHalf(image.height, before.height)) {
      warn("overviews_not_halving", `${name} is ${size(image)}, not half of ${size(before)}.`);
    }
  }
  errors.push(...directoryOrder(header), ...dataOrder(header, [main, ...overviews]), ...ghostClaims(header));
  const masked = masks(header, overviews.length);
  errors.push(...masked.errors);
  warnings.push(...masked.warnings);
  return { valid: errors.length === 0 && (warnings.length === 0 || options.strict === false), errors, warnings };
}

/** Reads the header first, and then the size before and the bytes repeated behind up to `blocks` blocks of each image. */
export async function checkCogFile(
  read: RangeReader,
  file_size: number,
  options: CogCheckOptions & { blocks?: number; header_limits?: Partial<HeaderLimits> } = {},
): Promise<CogCheck> {
  const kind = fileKind(file_size === 0 ? new Uint8Array() : await read(0, Math.min(512, file_size)));
  if (kind) return { valid: false, errors: [kind], warnings: [] };
  try {
    const header = await readTiffHeader(read, file_size, options.header_limits);
    const check = checkCog(header, options);
    const leaders = await leaderErrors(read, header, options.blocks ?? 64);
    return { ...check, valid: check.valid && leaders.length === 0, errors: [...check.errors, ...leaders] };
  } catch (error) {
    if (!(error instanceof HeaderError)) throw error;
    return { valid: false, errors: [error.finding], warnings: [] };
  }
}

async function leaderErrors(read: RangeReader, header: TiffHeader, most: number): Promise<CogViolation[]> {
  const { ghost, file_size } = header;
  const has_leader = ghost?.options.BLOCK_LEADER === "SIZE_AS_UINT4";
  const has_trailer = ghost?.options.BLOCK_TRAILER === "LAST_4_BYTES_REPEATED";
  if (!has_leader && !has_trailer) return [];
  const errors: CogViolation[] = [];
  for (const [level, image] of header.images.entries()) {
    for (const [i, offset, count] of sampleBlocks(image, most)) {
      const name = `Block ${i} of image ${level}`;
      if (has_leader && offset >= 4) {
        const bytes = await read(offset - 4, 4);
        const leader = bytes.length === 4 ? new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true) : -1;
        if (leader !== count)
          errors.push({
            code: "block_leader",
            message: `${name} has ${count} bytes, the size before it says ${leader}.`,
          });
      }
      if (has_trailer && count >= 4) {
        const tail = offset + count + 4 <= file_size ? await read(offset + count - 4, 8) : new Uint8Array();
        if (tail.length < 8 || [0, 1, 2, 3].some((k) => tail[k] !== tail[k + 4])) {
          errors.push({
            code: "block_trailer",
            message: `${name} does not have its last four bytes repeated behind it.`,
          });
        }
      }
    }
  }
  return errors;
}

/** First and last blocks: what an editor appends is at the end. */
function sampleBlocks({ offsets, byte_counts }: TiffImageHeader, most: number): [number, number, number][] {
  const blocks: [number, number, number][] = [];
  const known = Math.min(offsets?.values.length ?? 0, byte_counts?.values.length ?? 0);
  for (let i = 0; i < known; i++) {
    const [offset, count] = [offsets!.values[i]!, byte_counts!.values[i]!];
    if (offset > 0 && count > 0) blocks.push([i, offset, count]);
  }
  if (blocks.length <= most) return blocks;
  return [...blocks.slice(0, Math.ceil(most / 2)), ...blocks.slice(blocks.length - Math.floor(most / 2))];
}

function directoryOrder({ images, big_tiff, ghost_end }: TiffHeader): CogViolation[] {
  const errors: CogViolation[] = [];
  const first = images[0].directory_offset;
  const expected = ghost_end ?? (big_tiff ? 16 : 8);
  if (first !== expected + (expected % 2)) {
    const message = `The first directory is at byte ${first}, not at ${expected + (expected % 2)}.`;
    errors.push({ code: "directory_not_first", message });
  }
  images.forEach((image, i) => {
    const before = images[i - 1];
    if (before && image.directory_offset < before.directory_offset) {
      const message = `The directory of image ${i} is at byte ${image.directory_offset}, before that of image ${i - 1}.`;
      errors.push({ code: "directories_out_of_order", message });
    }
  });
  return errors;
}

/** Rounded either way: writers differ. */
function isHalf(part: number, whole: number): boolean {
  return part === Math.floor(whole / 2) || part === Math.ceil(whole / 2) || (whole === 1 && part === 1);
}

function isLarge({ width, height }: TiffImageHeader): boolean {
  return width > small || height > small;
}

function size({ width, height }: TiffImageHeader): string {
  return `${width} × ${height}`;
}

function levelName(level: number): string {
  return level === 0 ? "The image" : `Overview ${level}`;
}
