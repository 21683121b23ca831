// What a header that we have read says, as gdalinfo would have told it; null where GDAL has a way of its own with something in it. Its
// CRS has a code and no WKT: who needs that asks GDAL. Pure.
import type { BandInfo, CrsInfo } from "../../../geo/raster.js";
import type { TiffHeader } from "../../../geo/tiff/tiff_header.js";
import type { LookedAt } from "./gdal_info.js";

/** Signed bytes are read as unsigned ones by GDAL before 3.7, and complex numbers come in four kinds. */
const own_ways = new Set(["int8", "complex"]);

export function headerInfo(header: TiffHeader): LookedAt | null {
  const { images, georeference, metadata } = header;
  const [main] = images;
  const { transform } = georeference;
  const bands = bandsOf(header);
  const crs = crsOf(georeference.crs);
  const has_strange =
    images.some(({ role }) => role === "other") || images.slice(1).some(({ role }) => role === "image");
  if (bands === null || crs === null || transform === null || has_strange) return null;
  return {
    driver: "GTiff",
    width: main.width,
    height: main.height,
    bands,
    transform,
    crs,
    compression: main.compression === "none" ? null : main.compression,
    block_size: [main.block_width, main.block_height],
    overview_count: images.filter(({ role }) => role === "overview").length,
    metadata,
    has_mask: images.some(({ role }) => role === "mask"),
    color_table: null,
  };
}

function crsOf(crs: TiffHeader["georeference"]["crs"]): CrsInfo | null {
  if (crs === null || crs.code === null || (crs.kind !== "projected" && crs.kind !== "geographic")) return null;
  return { code: crs.code, wkt: "", name: crs.name ?? crs.code, is_geographic: crs.kind === "geographic" };
}

function bandsOf({ images: [main], bands, nodata }: TiffHeader): BandInfo[] | null {
  const { data_type, photometric, band_count, extra_samples, has_color_table } = main;
  if (data_type === null || own_ways.has(data_type) || has_color_table) return null;
  if (typeof nodata === "object" && nodata !== null) return null;
  // Colours of JPEG and of printing are turned into others by GDAL.
  const colors = photometric === 2 ? ["red", "green", "blue"] : photometric === 1 ? ["gray"] : null;
  if (colors === null && !(photometric === 6 && main.compression === "jpeg" && band_count === 3)) return null;
  const known = colors ?? ["red", "green", "blue"];
  if (known.length > band_count) return null;
  const value = typeof nodata === "number" && data_type === "float32" ? Math.fround(nodata) : nodata;
  return Array.from({ length: band_count }, (_, at): BandInfo => {
    const told = bands[at];
    const extra = extra_samples[at - (band_count - extra_samples.length)];
    const is_alpha = at >= known.length && (extra === 1 || extra === 2);
    return {
      data_type,
      nodata: value,
      color_interpretation: told?.color_interpretation ?? (is_alpha ? "alpha" : (known[at] ?? "undefined")),
      description: told?.description || null,
      has_color_table: false,
      ...scaling(told?.scale ?? 1, told?.offset ?? 0),
      unit: told?.unit || null,
    };
  });
}

/** GDAL tells both or neither. */
function scaling(scale: number, offset: number): Pick<BandInfo, "scale" | "offset"> {
  return scale === 1 && offset === 0 ? { scale: null, offset: null } : { scale, offset };
}
