// In which order a cloud-optimised TIFF holds its data: smallest overview first, after all directories, rows in order, masks
// beside their imagery. Pure.
import type { CogViolation } from "./cog_check.js";
import { blockCount } from "./preflight_pixels.js";
import type { TiffHeader, TiffImageHeader } from "./tiff/tiff_header.js";

/** By the first block of each level, as GDAL and rio-cogeo do. `levels`: the image, then its overviews. */
export function dataOrder(header: TiffHeader, levels: TiffImageHeader[]): CogViolation[] {
  const errors: CogViolation[] = [];
  const firsts = levels.map((level) => firstBlock(level));
  if (levels[0] && !levels[0].offsets) errors.push({ code: "no_blocks", message: "The image has no list of blocks." });
  const last_directory = Math.max(...header.images.map(({ directory_offset }) => directory_offset));
  const lowest = Math.min(...firsts.filter((offset) => offset !== null));
  if (lowest < last_directory) {
    const message = `Data begins at byte ${lowest}, before the last directory at ${last_directory}.`;
    errors.push({ code: "data_before_directories", message });
  }
  // Levels without a stored block (sparse) have no place in the order.
  const placed = firsts.map((offset, level) => ({ offset, level })).filter(({ offset }) => offset !== null);
  placed.forEach(({ offset, level }, i) => {
    const larger = placed[i - 1];
    if (larger && larger.offset! < offset!) {
      const name = larger.level === 0 ? "the image" : `overview ${larger.level}`;
      const message = `The data of ${name} begins before that of overview ${level}; the smallest has to come first.`;
      errors.push({ code: "data_out_of_order", message });
    }
  });
  const beyond = header.images.findIndex((image) => lastByte(image) > header.file_size);
  if (beyond >= 0)
    errors.push({ code: "data_beyond_end", message: `Blocks of image ${beyond} end behind the end of the file.` });
  return errors;
}

/** What GDAL's note at the start of the file promises; without the note nothing is promised. */
export function ghostClaims({ ghost, images }: TiffHeader): CogViolation[] {
  if (!ghost) return [];
  const { options } = ghost;
  const errors: CogViolation[] = [];
  if (options.KNOWN_INCOMPATIBLE_EDITION === "YES") {
    errors.push({
      code: "changed_after_writing",
      message: "The file was changed after it was written; its order is lost.",
    });
  }
  if (options.LAYOUT !== undefined && options.LAYOUT !== "IFDS_BEFORE_DATA") {
    errors.push({ code: "layout_unknown", message: `The file claims the layout ${options.LAYOUT.slice(0, 40)}.` });
  }
  images.forEach((image, i) => {
    if (options.BLOCK_ORDER === "ROW_MAJOR" && !isRowMajor(image)) {
      errors.push({
        code: "blocks_out_of_order",
        message: `The blocks of image ${i} are not in the order of rows, as claimed.`,
      });
    }
  });
  if (options.BLOCK_LEADER === "SIZE_AS_UINT4" && options.BLOCK_TRAILER === "LAST_4_BYTES_REPEATED") {
    const narrow = images.findIndex((image) => !hasRoomBetween(image));
    if (narrow >= 0) {
      const message = `Blocks of image ${narrow} lie too close together for the sizes that are claimed to be between them.`;
      errors.push({ code: "block_leader", message });
    }
  }
  return errors;
}

export function masks(
  { images, ghost }: TiffHeader,
  overview_count: number,
): { errors: CogViolation[]; warnings: CogViolation[] } {
  const errors: CogViolation[] = [];
  const warnings: CogViolation[] = [];
  images.forEach((mask, i) => {
    if (mask.role !== "mask" && mask.role !== "overview_mask") return;
    const role = mask.role === "mask" ? "image" : "overview";
    const owner = images.find((one) => one.role === role && one.width === mask.width && one.height === mask.height);
    if (!owner) {
      errors.push({ code: "mask_size", message: `Mask ${i} is ${mask.width} × ${mask.height}, the size of no image.` });
      return;
    }
    if (mask.block_width !== owner.block_width || mask.block_height !== owner.block_height) {
      errors.push({
        code: "mask_block_size",
        message: `The blocks of mask ${i} have another size than those of its image.`,
      });
    } else if (ghost?.options.MASK_INTERLEAVED_WITH_IMAGERY === "YES" && !isInterleaved(owner, mask)) {
      errors.push({
        code: "mask_order",
        message: `The blocks of mask ${i} are not beside those of its image, as claimed.`,
      });
    }
  });
  const mask_overviews = images.filter(({ role }) => role === "overview_mask").length;
  if (images.some(({ role }) => role === "mask") && mask_overviews !== overview_count) {
    const message = `The image has a mask, but ${overview_count} overviews have ${mask_overviews} masks.`;
    warnings.push({ code: "mask_overviews_missing", message });
  }
  return { errors, warnings };
}

function firstBlock({ offsets }: TiffImageHeader): number | null {
  const all = [...(offsets?.values ?? []), ...(offsets?.last_values ?? [])];
  return all.find((offset) => offset > 0) ?? null;
}

function lastByte({ offsets, byte_counts }: TiffImageHeader): number {
  let last = 0;
  offsets?.values.forEach((offset, i) => {
    last = Math.max(last, offset + (byte_counts?.values[i] ?? 0));
  });
  for (const offset of offsets?.last_values ?? []) last = Math.max(last, offset);
  return last;
}

/** Within each plane of bands that lie apart. */
function isRowMajor(image: TiffImageHeader): boolean {
  const { offsets, planar_configuration, band_count } = image;
  const per_plane = planar_configuration === 2 ? blockCount(image) / band_count : Number.POSITIVE_INFINITY;
  let before = 0;
  return (offsets?.values ?? []).every((offset, i) => {
    if (i % per_plane === 0) before = 0;
    if (offset === 0) return true;
    const in_order = offset > before;
    before = offset;
    return in_order;
  });
}

function hasRoomBetween({ offsets, byte_counts }: TiffImageHeader): boolean {
  const placed = (offsets?.values ?? [])
    .map((offset, i) => ({ offset, end: offset + (byte_counts?.values[i] ?? 0) }))
    .filter(({ offset, end }) => offset > 0 && end > offset)
    .sort((a, b) => a.offset - b.offset);
  return placed.every(({ offset }, i) => i === 0 || offset - placed[i - 1]!.end >= 8);
}

function isInterleaved(image: TiffImageHeader, mask: TiffImageHeader): boolean {
  return (mask.offsets?.values ?? []).every((offset, i) => {
    const start = image.offsets?.values[i] ?? 0;
    return offset === 0 || start === 0 || offset === start + (image.byte_counts?.values[i] ?? 0) + 8;
  });
}
