// VRTs, which are text about other files: we write them ourselves over files that were checked, and read the few facts we asked GDAL to
// put into one. Never anything a tenant wrote. Pure.
import type { BandStatistics, Bounds, GeoTransform, RasterInfo } from "../../../geo/raster.js";
import { crsInfo } from "./gdal_crs.js";

export interface StackBand {
  /** Below the folder the VRT lies in. */
  relative: string;
  band: number;
  name: string;
  info: RasterInfo;
}

/** The bands of several files of equal size and place, as one raster. */
export function stackText(bands: readonly StackBand[]): string {
  const { width, height, transform, crs } = bands[0]!.info;
  const parts = bands.map(({ relative, band, name, info }, at) => {
    const { data_type, nodata, scale, offset, unit } = info.bands[band - 1]!;
    const facts = [
      `<Description>${escaped(name)}</Description>`,
      nodata === null ? "" : `<NoDataValue>${nodata === "nan" ? "nan" : gdalNumber(nodata)}</NoDataValue>`,
      unit === null ? "" : `<UnitType>${escaped(unit)}</UnitType>`,
      offset === null ? "" : `<Offset>${gdalNumber(offset)}</Offset>`,
      scale === null ? "" : `<Scale>${gdalNumber(scale)}</Scale>`,
      `<ColorInterp>${at === 0 ? "Gray" : "Undefined"}</ColorInterp>`,
    ];
    const rect = `xOff="0" yOff="0" xSize="${width}" ySize="${height}"`;
    const source = [
      `<SourceFilename relativeToVRT="1">${escaped(relative)}</SourceFilename>`,
      `<SourceBand>${band}</SourceBand>`,
      `<SrcRect ${rect}/>`,
      `<DstRect ${rect}/>`,
    ];
    const type = gdal_types[data_type];
    return `<VRTRasterBand dataType="${type}" band="${at + 1}">${facts.join("")}<SimpleSource>${source.join("")}</SimpleSource></VRTRasterBand>`;
  });
  const place = transform === null ? "" : `<GeoTransform>${transform.map(gdalNumber).join(",")}</GeoTransform>`;
  const system = crs === null ? "" : `<SRS dataAxisToSRSAxisMapping="${axisOrder(crs)}">${escaped(crs.wkt)}</SRS>`;
  return `<VRTDataset rasterXSize="${width}" rasterYSize="${height}">${system}${place}${parts.join("")}</VRTDataset>\n`;
}

export interface MosaicFile {
  /** Below the folder the VRT lies in. */
  relative: string;
  info: RasterInfo;
}

/** Files of one grid of pixels as one raster of these bounds; where a later one has nodata, the earlier shows. */
export function mosaicText(parts: readonly MosaicFile[], [west, south, east, north]: Bounds): string {
  const first = parts[0]!.info;
  const [, dx, , , , dy] = first.transform!;
  const [width, height] = [Math.round((east - west) / dx), Math.round((south - north) / dy)];
  const bands = first.bands.map(({ data_type, nodata, scale, offset, unit, description, color_interpretation }, at) => {
    const none = nodata === null ? null : nodata === "nan" ? "nan" : gdalNumber(nodata);
    const sources = parts.map(({ relative, info }) => {
      const [x, , , y] = info.transform!;
      const [left, top] = [Math.round((x - west) / dx), Math.round((y - north) / dy)];
      const size = `xSize="${info.width}" ySize="${info.height}"`;
      const kind = none === null ? "SimpleSource" : "ComplexSource";
      return [
        `<${kind}><SourceFilename relativeToVRT="1">${escaped(relative)}</SourceFilename><SourceBand>${at + 1}</SourceBand>`,
        `<SrcRect xOff="0" yOff="0" ${size}/><DstRect xOff="${left}" yOff="${top}" ${size}/>`,
        `${none === null ? "" : `<NODATA>${none}</NODATA>`}</${kind}>`,
      ].join("");
    });
    const facts = [
      description ? `<Description>${escaped(description)}</Description>` : "",
      none === null ? "" : `<NoDataValue>${none}</NoDataValue>`,
      unit === null ? "" : `<UnitType>${escaped(unit)}</UnitType>`,
      offset === null ? "" : `<Offset>${gdalNumber(offset)}</Offset>`,
      scale === null ? "" : `<Scale>${gdalNumber(scale)}</Scale>`,
      `<ColorInterp>${vrtColor(color_interpretation)}</ColorInterp>`,
    ];
    return `<VRTRasterBand dataType="${gdal_types[data_type]}" band="${at + 1}">${facts.join("")}${sources.join("")}</VRTRasterBand>`;
  });
  const place = `<GeoTransform>${[west, dx, 0, north, 0, dy].map(gdalNumber).join(",")}</GeoTransform>`;
  const { crs } = first;
  const system = crs === null ? "" : `<SRS dataAxisToSRSAxisMapping="${axisOrder(crs)}">${escaped(crs.wkt)}</SRS>`;
  return `<VRTDataset rasterXSize="${width}" rasterYSize="${height}">${system}${place}${bands.join("")}</VRTDataset>\n`;
}

function vrtColor(name: string | null): string {
  const known = /^(gray|red|green|blue|alpha)$/i.test(name ?? "");
  return known ? `${name![0]!.toUpperCase()}${name!.slice(1).toLowerCase()}` : "Undefined";
}

/**
 * From a VRT of GDAL's own over one file: the same bands with nothing where a mask or an alpha band hides them. Null when none does.
 * Not a number is a value that no pixel of any type loses by it; the alpha band itself has all of its values.
 */
export function maskedText(vrt: string): string | null {
  if (!/<MaskBand>|<ColorInterp>Alpha</.test(vrt)) return null;
  const [, width = "", height = ""] = /rasterXSize="(\d+)" rasterYSize="(\d+)"/.exec(vrt) ?? [];
  const [filename = ""] = /<SourceFilename[^>]*>[^<]*<\/SourceFilename>/.exec(vrt) ?? [];
  const own = vrt.replace(/<MaskBand>[\s\S]*?<\/MaskBand>/, "");
  const rect = `xOff="0" yOff="0" xSize="${width}" ySize="${height}"`;
  const parts = [...own.matchAll(/<VRTRasterBand\b[^>]*>([\s\S]*?)<\/VRTRasterBand>/g)].map(([, body = ""], at) => {
    const source = `${filename}<SourceBand>${at + 1}</SourceBand><SrcRect ${rect}/><DstRect ${rect}/>`;
    const mask = body.includes("<ColorInterp>Alpha<") ? "" : "<UseMaskBand>true</UseMaskBand>";
    return `<VRTRasterBand dataType="Float64" band="${at + 1}"><NoDataValue>nan</NoDataValue><ComplexSource>${source}${mask}</ComplexSource></VRTRasterBand>`;
  });
  return `<VRTDataset rasterXSize="${width}" rasterYSize="${height}">${parts.join("")}</VRTDataset>\n`;
}

/** Pixels are always x first, whatever the authority says. */
function axisOrder({ wkt }: { wkt: string }): string {
  const [first = ""] = /AXIS\["[^"]*",\s*(\w+)/i.exec(wkt)?.slice(1) ?? [];
  return /^(north|south)$/i.test(first) ? "2,1" : "1,2";
}

export const gdal_types: Readonly<Record<string, string>> = {
  uint8: "Byte",
  int8: "Int8",
  uint16: "UInt16",
  int16: "Int16",
  uint32: "UInt32",
  int32: "Int32",
  uint64: "UInt64",
  int64: "Int64",
  float32: "Float32",
  float64: "Float64",
  complex: "CFloat32",
};

/** As GDAL reads numbers: the shortest text that is this very number. */
export function gdalNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "inf";
  if (value === Number.NEGATIVE_INFINITY) return "-inf";
  return Object.is(value, -0) ? "0" : String(value);
}

/** Band names instead of those a VRT of GDAL's own has; null leaves one as it is. */
export function renamedBands(vrt: string, names: readonly (string | null)[]): string {
  let at = -1;
  return vrt.replace(
    /(<VRTRasterBand\b[^>]*>)([\s\S]*?)(<\/VRTRasterBand>)/g,
    (_, start: string, body: string, end: string) => {
      at++;
      const name = names[at] ?? null;
      if (name === null) return start + body + end;
      return `${start}<Description>${escaped(name)}</Description>${body.replace(/<Description>[\s\S]*?<\/Description>/, "")}${end}`;
    },
  );
}

export function readPlace(vrt: string): { width: number; height: number; transform: GeoTransform } | null {
  const [, head = ""] = /<VRTDataset\b([^>]*)>/.exec(vrt) ?? [];
  const width = Number(/\brasterXSize="(\d+)"/.exec(head)?.[1]);
  const height = Number(/\brasterYSize="(\d+)"/.exec(head)?.[1]);
  const transform = (/<GeoTransform>([^<]*)<\/GeoTransform>/.exec(vrt)?.[1] ?? "").split(",").map(Number);
  if (!(width > 0 && height > 0) || transform.length !== 6 || !transform.every(Number.isFinite)) return null;
  return { width, height, transform: transform as GeoTransform };
}

/** Whether the CRS that GDAL wrote into a VRT counts in degrees, and not in grads or metres. */
export function isInDegrees(vrt: string): boolean {
  const wkt = (/<SRS\b[^>]*>([^<]*)<\/SRS>/.exec(vrt)?.[1] ?? "").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  const unit = Number(
    /(?:ANGLE)?UNIT\["[^"]*",\s*([0-9.eE+-]+)/.exec(wkt.replace(/PRIMEM\[(?:[^[\]]|\[[^\]]*\])*\]/g, ""))?.[1],
  );
  return crsInfo(wkt).is_geographic && Math.abs(unit - Math.PI / 180) < 1e-9;
}

/** Reads the statistics of each band, as GDAL computed them; null for one without a valid pixel. */
export function readStatistics(vrt: string): (BandStatistics | null)[] {
  const bands = [...vrt.matchAll(/<VRTRasterBand\b[^>]*>([\s\S]*?)<\/VRTRasterBand>/g)];
  return bands.map(([, body = ""]) => {
    const [, own = ""] = /<Metadata>([\s\S]*?)<\/Metadata>/.exec(body) ?? [];
    const value = (key: string) =>
      numberOf(new RegExp(`<MDI key="STATISTICS_${key}">([^<]*)</MDI>`).exec(own)?.[1] ?? "-");
    const valid_percent = value("VALID_PERCENT");
    const [minimum, maximum, mean, stddev] = [value("MINIMUM"), value("MAXIMUM"), value("MEAN"), value("STDDEV")];
    if (!(valid_percent > 0) || Number.isNaN(minimum) || Number.isNaN(maximum)) return null;
    return { minimum: minimum!, maximum: maximum!, mean: mean!, stddev: stddev!, valid_percent };
  });
}

/** An infinite pixel makes the mean no number, which says more than that there is no pixel. */
function numberOf(text: string): number {
  const [, sign, is_infinite] = /^\s*([+-]?)(?:(inf)|.)/i.exec(text) ?? [];
  if (is_infinite === undefined) return Number(text);
  return sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function escaped(text: string): string {
  return (
    text
      // What XML cannot hold.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must go
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
  );
}
