// A small GeoTIFF writer for fixtures and the demo: any data type, bands, tiles or strips, overviews, and the layout of a COG.
// Products are written by GDAL. The compressor is an argument, so that this stays pure.
import type { DataType, GeoTransform } from "../../geo/raster.js";
import { ghostArea, sample_layouts, tags } from "../../geo/tiff/tiff_layout.js";
import { encodeTiff, type TiffDirectory, type TiffEntry } from "./tiff_file.js";

export interface NewGeoTiff {
  width: number;
  height: number;
  data_type: DataType;
  /** One array per band, row by row; for complex, two values a pixel. */
  bands: ArrayLike<number>[];
  /** Side of a tile in pixels, a multiple of 16; default: strips. */
  tile?: number;
  rows_per_strip?: number;
  /** A zlib stream of the bytes; default: not compressed. */
  deflate?: (bytes: Uint8Array) => Uint8Array;
  /** Default pixel: the bands of a pixel lie together. */
  interleave?: "pixel" | "band";
  transform?: GeoTransform;
  crs?: { epsg: number; kind: "geographic" | "projected" };
  nodata?: number | "nan";
  descriptions?: (string | null)[];
  units?: (string | null)[];
  scales?: (number | null)[];
  offsets?: (number | null)[];
  /** Default gray. rgb takes three bands as colours, and a fourth as alpha. */
  colors?: "gray" | "rgb" | "palette";
  /** For palette: 256 (8-bit) entries of red, green, blue, 0–255. */
  color_table?: readonly (readonly [number, number, number])[];
  /** Each half of the one before, by leaving out pixels. */
  overviews?: number;
  /** Directories first, smallest overview's data first, size before each block: as GDAL's COG driver. */
  cog?: boolean;
  big_tiff?: boolean;
  big_endian?: boolean;
}

export function writeGeoTiff(raster: NewGeoTiff): Uint8Array {
  const levels = [levelOf(raster)];
  for (let i = 0; i < (raster.overviews ?? 0); i++) levels.push(halve(levels.at(-1)!, raster.data_type));
  const directories = levels.map((level, i) => directoryOf(raster, level, i > 0));
  return encodeTiff({
    directories,
    big_tiff: raster.big_tiff,
    big_endian: raster.big_endian,
    ...(raster.cog
      ? { ghost: ghostArea(), leaders: true, data_order: directories.map((_, i) => directories.length - 1 - i) }
      : {}),
  });
}

interface Level {
  width: number;
  height: number;
  bands: ArrayLike<number>[];
}

function levelOf({ width, height, bands }: NewGeoTiff): Level {
  return { width, height, bands };
}

function halve({ width, height, bands }: Level, data_type: DataType): Level {
  const parts = data_type === "complex" ? 2 : 1;
  const half = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) };
  return {
    ...half,
    bands: bands.map((band) => {
      const values = new Float64Array(half.width * half.height * parts);
      for (let i = 0; i < values.length; i++) {
        const pixel = Math.floor(i / parts);
        const row = Math.floor(pixel / half.width) * 2;
        const column = (pixel % half.width) * 2;
        values[i] = band[(row * width + column) * parts + (i % parts)]!;
      }
      return values;
    }),
  };
}

function directoryOf(raster: NewGeoTiff, level: Level, is_overview: boolean): TiffDirectory {
  const { data_type, bands } = raster;
  const { bits, format } = sample_layouts[data_type];
  const tiled = raster.tile !== undefined;
  const each = <T>(value: T) => bands.map(() => value);
  const colors = raster.colors === "rgb" ? 3 : 1;
  const entries: (TiffEntry | false)[] = [
    is_overview && { tag: tags.subfile_type, type: "long", values: [1] },
    { tag: tags.width, type: "long", values: [level.width] },
    { tag: tags.height, type: "long", values: [level.height] },
    { tag: tags.bits_per_sample, type: "short", values: each(bits) },
    { tag: tags.compression, type: "short", values: [raster.deflate ? 8 : 1] },
    { tag: tags.photometric, type: "short", values: [{ gray: 1, rgb: 2, palette: 3 }[raster.colors ?? "gray"]] },
    { tag: tags.samples_per_pixel, type: "short", values: [bands.length] },
    { tag: tags.planar_configuration, type: "short", values: [raster.interleave === "band" ? 2 : 1] },
    { tag: tags.sample_format, type: "short", values: each(format) },
    bands.length > colors && {
      tag: tags.extra_samples,
      type: "short",
      values: bands.slice(colors).map((_, i) => (colors === 3 && i === 0 ? 2 : 0)),
    },
    raster.colors === "palette" && {
      tag: tags.color_map,
      type: "short",
      values: [0, 1, 2].flatMap((c) =>
        Array.from({ length: 256 }, (_, i) => (raster.color_table?.[i]?.[c] ?? 0) * 257),
      ),
    },
    ...(tiled
      ? [
          { tag: tags.tile_width, type: "long" as const, values: [raster.tile!] },
          { tag: tags.tile_height, type: "long" as const, values: [raster.tile!] },
        ]
      : [{ tag: tags.rows_per_strip, type: "long" as const, values: [rowsPerStrip(raster, level)] }]),
    ...(is_overview ? [] : geoEntries(raster)),
    raster.nodata !== undefined && { tag: tags.gdal_nodata, type: "ascii", values: String(raster.nodata) },
    !is_overview && metadataEntry(raster),
  ];
  return { tiled, blocks: blocksOf(raster, level), entries: entries.filter((entry) => entry !== false) };
}

/** About 64 KB each, as many writers do. */
function rowsPerStrip({ rows_per_strip, data_type, bands }: NewGeoTiff, { width, height }: Level): number {
  const row = width * bands.length * (sample_layouts[data_type].bits / 8);
  return Math.max(1, Math.min(rows_per_strip ?? Math.floor(65536 / row), height));
}

function blocksOf(raster: NewGeoTiff, level: Level): Uint8Array[] {
  const block_width = raster.tile ?? level.width;
  const block_height = raster.tile ?? rowsPerStrip(raster, level);
  const planes = raster.interleave === "band" ? level.bands.map((band) => [band]) : [level.bands];
  const blocks: Uint8Array[] = [];
  for (const plane of planes) {
    for (let y = 0; y < level.height; y += block_height) {
      // The last strip is as short as what is left; tiles are always whole.
      const rows = raster.tile ? block_height : Math.min(block_height, level.height - y);
      for (let x = 0; x < level.width; x += block_width) {
        const bytes = pixels(raster, level, plane, { x, y, columns: block_width, rows });
        blocks.push(raster.deflate ? raster.deflate(bytes) : bytes);
      }
    }
  }
  return blocks;
}

function pixels(
  { data_type, big_endian, nodata }: NewGeoTiff,
  { width, height }: Level,
  plane: ArrayLike<number>[],
  { x, y, columns, rows }: { x: number; y: number; columns: number; rows: number },
): Uint8Array {
  const size = sample_layouts[data_type].bits / 8;
  const parts = data_type === "complex" ? 2 : 1;
  const bytes = new Uint8Array(columns * rows * plane.length * size);
  const view = new DataView(bytes.buffer);
  const outside = nodata === "nan" ? Number.NaN : (nodata ?? 0);
  let at = 0;
  for (let row = y; row < y + rows; row++) {
    for (let column = x; column < x + columns; column++) {
      const inside = row < height && column < width;
      const pixel = (row * width + column) * parts;
      for (const band of plane) {
        for (let part = 0; part < parts; part++) {
          setSample(view, at, inside ? band[pixel + part]! : outside, data_type, !big_endian);
          at += size / parts;
        }
      }
    }
  }
  return bytes;
}

function setSample(view: DataView, at: number, value: number, data_type: DataType, little: boolean): void {
  switch (data_type) {
    case "uint8":
      view.setUint8(at, value);
      break;
    case "int8":
      view.setInt8(at, value);
      break;
    case "uint16":
      view.setUint16(at, value, little);
      break;
    case "int16":
      view.setInt16(at, value, little);
      break;
    case "uint32":
      view.setUint32(at, value, little);
      break;
    case "int32":
      view.setInt32(at, value, little);
      break;
    case "uint64":
      view.setBigUint64(at, BigInt(Math.trunc(value)), little);
      break;
    case "int64":
      view.setBigInt64(at, BigInt(Math.trunc(value)), little);
      break;
    case "float64":
      view.setFloat64(at, value, little);
      break;
    case "float32":
    case "complex":
      view.setFloat32(at, value, little);
      break;
  }
}

function geoEntries({ transform, crs }: NewGeoTiff): TiffEntry[] {
  const entries: TiffEntry[] = [];
  if (transform) {
    const [x0, dx, rx, y0, ry, dy] = transform;
    if (rx === 0 && ry === 0 && dx > 0 && dy < 0) {
      entries.push({ tag: tags.pixel_scale, type: "double", values: [dx, -dy, 0] });
      entries.push({ tag: tags.tie_points, type: "double", values: [0, 0, 0, x0, y0, 0] });
    } else {
      const matrix = [dx, rx, 0, x0, ry, dy, 0, y0, 0, 0, 0, 0, 0, 0, 0, 1];
      entries.push({ tag: tags.model_transformation, type: "double", values: matrix });
    }
  }
  if (crs) {
    const geographic = crs.kind === "geographic";
    const keys = [
      [1024, 0, 1, geographic ? 2 : 1],
      [1025, 0, 1, 1],
      [geographic ? 2048 : 3072, 0, 1, crs.epsg],
    ];
    entries.push({ tag: tags.geo_keys, type: "short", values: [1, 1, 0, keys.length, ...keys.flat()] });
  }
  return entries;
}

function metadataEntry(raster: NewGeoTiff): TiffEntry | false {
  const items = raster.bands.flatMap((_, i) => [
    item(i, "DESCRIPTION", "description", raster.descriptions?.[i]),
    item(i, "OFFSET", "offset", raster.offsets?.[i]),
    item(i, "SCALE", "scale", raster.scales?.[i]),
    item(i, "UNITTYPE", "unittype", raster.units?.[i]),
  ]);
  const text = items.join("");
  if (text === "") return false;
  return { tag: tags.gdal_metadata, type: "ascii", values: `<GDALMetadata>\n${text}</GDALMetadata>\n` };
}

function item(sample: number, name: string, role: string, value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  // Twice, because GDAL unescapes what its XML parser has unescaped already.
  const text = escapeXml(escapeXml(String(value)));
  return `  <Item name="${name}" sample="${sample}" role="${role}">${text}</Item>\n`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
