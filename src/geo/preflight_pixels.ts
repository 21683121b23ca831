// The part of the header check that is about pixels: how many there are, of which type, and whether the blocks that should hold
// them can be there. Pure.
import { finding } from "./findings.js";
import type { RasterLimits } from "./preflight.js";
import { type DataType, type Finding, isWide } from "./raster.js";
import type { TiffHeader, TiffImageHeader } from "./tiff/tiff_header.js";
import { sample_layouts } from "./tiff/tiff_layout.js";

export function preflightPixels(header: TiffHeader, limits: RasterLimits): Finding[] {
  const [image, ...others] = header.images;
  const findings = typeFindings(header);
  if (image.width < 1 || image.height < 1 || image.band_count < 1) {
    findings.push(finding("zero_size", `The raster is ${size(image)}.`));
    return findings;
  }
  findings.push(...sizeFindings(header, limits));
  for (const one of header.images) findings.push(...blockFindings(one, header.file_size));
  const more = others.filter(({ role }) => role === "image").length;
  if (more > 0) findings.push(finding("several_images", `The file holds ${more + 1} images; the first is used.`));
  // Overviews of a broken file say the same again.
  return findings.filter((one, i) => findings.findIndex(({ code }) => code === one.code) === i);
}

function sizeFindings({ images: [image], file_size }: TiffHeader, limits: RasterLimits): Finding[] {
  const findings: Finding[] = [];
  const pixels = image.width * image.height;
  const bytes = sampleBytes(image);
  const unpacked = pixels * image.band_count * bytes;
  if (pixels > limits.pixels) {
    findings.push(
      finding("pixel_limit", `The raster has ${count(pixels)} pixels; ${count(limits.pixels)} are allowed.`),
    );
  }
  if (image.band_count > limits.bands) {
    findings.push(finding("band_limit", `The raster has ${image.band_count} bands; ${limits.bands} are allowed.`));
  }
  const ratio = unpacked / file_size;
  if (unpacked > limits.unpacked_bytes) {
    const most = bytesText(limits.unpacked_bytes);
    findings.push(finding("raster_bomb", `The raster unpacks to ${bytesText(unpacked)}; ${most} are allowed.`));
  } else if (unpacked > 1024 ** 3 && ratio > limits.unpack_ratio) {
    const words = `The file has ${bytesText(file_size)} and unpacks to ${bytesText(unpacked)}`;
    findings.push(finding("raster_bomb", `${words}, ${count(Math.round(ratio))} times as much.`));
  }
  const per_block = image.planar_configuration === 2 ? 1 : image.band_count;
  const block = image.block_width * image.block_height * per_block * bytes;
  // GDAL reads strips that are not compressed row by row.
  const is_whole = image.tiled || image.compression !== "none";
  if (is_whole && block > limits.block_bytes) {
    const what = image.tiled ? "tile" : "strip";
    const most = bytesText(limits.block_bytes);
    findings.push(finding("block_too_large", `One ${what} unpacks to ${bytesText(block)}; ${most} are allowed.`));
  }
  return findings;
}

function blockFindings(image: TiffImageHeader, file_size: number): Finding[] {
  const { offsets, byte_counts } = image;
  if (image.block_width < 1 || image.block_height < 1 || image.width < 1 || image.height < 1) {
    const words = `${image.width} × ${image.height} pixels in blocks of ${image.block_width} × ${image.block_height}`;
    return [finding("header_broken", `One image of the file (${image.role}) has ${words}.`)];
  }
  const needed = blockCount(image);
  if (!offsets || !byte_counts || offsets.count < needed || byte_counts.count < needed) {
    const has = Math.min(offsets?.count ?? 0, byte_counts?.count ?? 0);
    return [finding("blocks_missing", `The raster has ${count(needed)} blocks, the file lists ${count(has)}.`)];
  }
  const pairs = [
    ...offsets.values.map((offset, i) => [offset, byte_counts.values[i] ?? 0] as const),
    ...(offsets.last_values ?? []).map((offset, i) => [offset, lastCount(image, i)] as const),
  ];
  const beyond = pairs.filter(([offset, length]) => offset + length > file_size).length;
  const sparse = pairs.filter(([offset, length]) => offset === 0 && length === 0).length;
  const findings: Finding[] = [];
  if (beyond > 0) {
    const seen = offsets.last_values ? ` of the ${count(pairs.length)} looked at` : ` of ${count(needed)}`;
    findings.push(finding("data_beyond_end", `${count(beyond)}${seen} blocks end behind the end of the file.`));
  }
  if (sparse > 0) findings.push(finding("sparse", `${count(sparse)} of ${count(needed)} blocks are left out.`));
  return findings;
}

/** Lists of offsets and sizes may be cut differently, when their types differ; then the size is left out. */
function lastCount({ offsets, byte_counts }: TiffImageHeader, i: number): number {
  const lengths = byte_counts?.last_values;
  const from_end = (offsets?.last_values?.length ?? 0) - i;
  return lengths && from_end <= lengths.length ? lengths[lengths.length - from_end]! : 0;
}

export function blockCount(image: TiffImageHeader): number {
  const across = Math.ceil(image.width / image.block_width);
  const down = Math.ceil(image.height / image.block_height);
  return across * down * (image.planar_configuration === 2 ? image.band_count : 1);
}

function typeFindings({ images: [image], nodata }: TiffHeader): Finding[] {
  const findings: Finding[] = [];
  const bits = image.bits_per_sample[0] ?? 1;
  const { data_type } = image;
  if (data_type === "complex") findings.push(finding("complex_data", "The pixels are complex numbers."));
  else if (data_type === null) {
    const format = image.sample_formats[0] ?? 1;
    // GDAL widens these, and loses nothing.
    const is_widened = (format === 1 && bits < 32) || (format === 3 && (bits === 16 || bits === 24));
    const is_small = is_widened && new Set(image.bits_per_sample).size <= 1 && new Set(image.sample_formats).size <= 1;
    const words = `The pixels have ${[...new Set(image.bits_per_sample)].join(" and ") || bits} bits`;
    const kind = `each, as ${[...new Set(image.sample_formats.map(formatName))].join(" and ") || formatName(1)}`;
    if (is_small) findings.push(finding("sub_byte_data", `${words}.`));
    else findings.push(finding("data_type_unsupported", `${words} ${kind}.`));
  } else if (data_type === "float64") {
    findings.push(finding("sixty_four_bit", "The pixels are 64-bit floating point numbers."));
  } else if (isWide(data_type)) {
    findings.push(finding("sixty_four_bit_whole", "The pixels are 64-bit whole numbers."));
  }
  if (nodata !== null && typeof nodata === "object") {
    findings.push(finding("nodata_unreadable", `The nodata value is written ${JSON.stringify(nodata.unreadable)}.`));
  } else if (nodata !== null && data_type && !fits(nodata, data_type)) {
    findings.push(finding("nodata_out_of_range", `No ${data_type} pixel can have the nodata value ${nodata}.`));
  }
  return findings;
}

/** Whether a pixel of this type can have this value. */
export function fits(value: number | "nan", data_type: DataType): boolean {
  if (data_type === "complex" || data_type === "float64") return true;
  // Written as decimal text, the largest float32 is often a little more than it is.
  if (data_type === "float32") return value === "nan" || !Number.isFinite(value) || Math.abs(value) <= 3.4028236e38;
  if (value === "nan" || !Number.isInteger(value)) return false;
  const { bits, format } = sample_layouts[data_type];
  const low = format === 2 ? -(2 ** (bits - 1)) : 0;
  return value >= low && value <= low + 2 ** bits - 1;
}

function sampleBytes({ bits_per_sample, data_type }: TiffImageHeader): number {
  return data_type === "complex" ? 16 : Math.max(1, Math.ceil((bits_per_sample[0] ?? 1) / 8));
}

function size({ width, height, band_count }: TiffImageHeader): string {
  return `${width} × ${height} pixels with ${band_count} bands`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

export function bytesText(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB", "PB", "EB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${Number((bytes / 1024 ** power).toPrecision(3))} ${units[power]}`;
}

/** TIFF's SampleFormat, in words. */
function formatName(format: number): string {
  const names: Record<number, string> = { 1: "whole numbers", 2: "signed whole numbers", 3: "floating point numbers" };
  return names[format] ?? `format ${format}`;
}
