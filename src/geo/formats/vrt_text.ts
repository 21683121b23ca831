// A VRT somebody else has written, read as data: sizes, places and names, each of them checked, and never handed to GDAL. What is made
// of it is a text of our own over files that were fetched and checked. Everything this reader does not know is refused, since a VRT can
// hold programs, addresses and paths. Pure.
import { Permanent } from "../../core/errors/errors.js";
import { quoted } from "../../core/errors/problems.js";

export interface VrtRaster {
  width: number;
  height: number;
  /** As it stands there: GDAL reads it, as it reads that of any file. */
  srs: { text: string; mapping: string | null } | null;
  transform: string[] | null;
  bands: VrtBand[];
}

export interface VrtBand {
  data_type: string;
  nodata: string | null;
  description: string | null;
  color: string | null;
  /** Red, green, blue and alpha of each value. */
  color_table: string[][] | null;
  offset: string | null;
  scale: string | null;
  unit: string | null;
  sources: VrtSource[];
}

export interface VrtSource {
  /** As it stands there: a path below the VRT's folder, or zone:key. */
  name: string;
  is_relative: boolean;
  band: number;
  from: Rect;
  to: Rect;
  nodata: string | null;
}

interface Rect {
  x: string;
  y: string;
  width: string;
  height: string;
}

export const max_vrt_bytes = 4 * 1024 * 1024;
const max_sources = 10_000;
const number_rule = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^[+-]?(nan|inf)$/i;
const types = /^(Byte|Int8|UInt16|Int16|UInt32|Int32|UInt64|Int64|Float32|Float64)$/;
const colors = /^(Gray|Palette|Red|Green|Blue|Alpha|Undefined)$/;

/** Said of the file and not for pixels: left out. */
const passed_over = new Set(["Metadata", "Histograms", "BlockXSize", "BlockYSize", "OverviewList", "CategoryNames"]);

/** Throws Permanent with what is not read here. */
export function readVrt(text: string): VrtRaster {
  const root = parseXml(text);
  if (root.name !== "VRTDataset" || root.attributes.subClass !== undefined) {
    throw refused(
      `${root.name}${root.attributes.subClass === undefined ? "" : ` of the kind ${root.attributes.subClass}`}`,
    );
  }
  const vrt: VrtRaster = {
    width: whole(root.attributes.rasterXSize),
    height: whole(root.attributes.rasterYSize),
    srs: null,
    transform: null,
    bands: [],
  };
  for (const part of root.children) {
    if (part.name === "SRS") vrt.srs = srsOf(part);
    else if (part.name === "GeoTransform") vrt.transform = part.text.split(",").map(number);
    else if (part.name === "VRTRasterBand") vrt.bands.push(bandOf(part));
    else if (!passed_over.has(part.name)) throw refused(part.name);
  }
  if (vrt.bands.length === 0 || (vrt.transform !== null && vrt.transform.length !== 6))
    throw refused("a raster without bands or place");
  if (vrt.bands.reduce((sum, { sources }) => sum + sources.length, 0) > max_sources)
    throw refused(`more than ${max_sources} sources`);
  return vrt;
}

/** A code or WKT: GDAL takes names of files and addresses as well, and a datum shift may name a file of its own. */
function srsOf({ text, attributes }: Node): VrtRaster["srs"] {
  const rest = text.replaceAll("+nadgrids=@null", "");
  const is_plain = /^(EPSG:\d{4,6}|[A-Z_]{6,20}\s*\[[^\0]*\])$/i.test(text.trim()) && !/grids|\+init|file=/i.test(rest);
  if (!is_plain) throw refused("a coordinate system that is neither a code nor WKT, or that names a file");
  const mapping = /^[12],[12]$/.test(attributes.dataAxisToSRSAxisMapping ?? "")
    ? attributes.dataAxisToSRSAxisMapping!
    : null;
  return { text: text.trim(), mapping };
}

function bandOf(node: Node): VrtBand {
  const { dataType = "Byte", subClass } = node.attributes;
  if (subClass !== undefined || !types.test(dataType)) throw refused(subClass ?? `the type ${dataType}`);
  const band: VrtBand = {
    ...{ data_type: dataType, nodata: null, description: null, color: null, offset: null },
    ...{ scale: null, unit: null, color_table: null },
    sources: [],
  };
  for (const part of node.children) {
    if (part.name === "NoDataValue") band.nodata = number(part.text);
    else if (part.name === "Offset") band.offset = number(part.text);
    else if (part.name === "Scale") band.scale = number(part.text);
    else if (part.name === "Description") band.description = part.text;
    else if (part.name === "UnitType") band.unit = part.text;
    else if (part.name === "ColorInterp") band.color = colors.test(part.text) ? part.text : "Undefined";
    else if (part.name === "ColorTable") band.color_table = part.children.map(colorOf);
    else if (part.name === "SimpleSource" || part.name === "ComplexSource") band.sources.push(sourceOf(part));
    else if (!passed_over.has(part.name)) throw refused(part.name);
  }
  return band;
}

function colorOf({ name, attributes: { c1, c2, c3, c4 } }: Node): string[] {
  if (name !== "Entry") throw refused(name);
  return [c1, c2, c3, c4].map(number);
}

function sourceOf(node: Node): VrtSource {
  const parts = new Map(node.children.map((part) => [part.name, part]));
  for (const { name } of node.children) {
    if (!["SourceFilename", "SourceBand", "SourceProperties", "SrcRect", "DstRect", "NODATA"].includes(name))
      throw refused(name);
  }
  const [named, from, to] = [parts.get("SourceFilename"), parts.get("SrcRect"), parts.get("DstRect")];
  if (named === undefined || from === undefined || to === undefined)
    throw refused("a source without a name or a place");
  return {
    name: named.text,
    is_relative: named.attributes.relativeToVRT === "1",
    band: whole(parts.get("SourceBand")?.text ?? "1"),
    from: rectOf(from),
    to: rectOf(to),
    nodata: parts.has("NODATA") ? number(parts.get("NODATA")!.text) : null,
  };
}

function rectOf({ attributes: { xOff, yOff, xSize, ySize } }: Node): Rect {
  return { x: number(xOff), y: number(yOff), width: number(xSize), height: number(ySize) };
}

/** Our own text over what these sources are now. */
export function writeVrt(vrt: VrtRaster): string {
  const bands = vrt.bands.map((band, at) => {
    const facts = [
      ...[
        element("Description", band.description),
        element("NoDataValue", band.nodata),
        element("UnitType", band.unit),
      ],
      ...[element("Offset", band.offset), element("Scale", band.scale), element("ColorInterp", band.color)],
      band.color_table === null ? "" : `<ColorTable>${band.color_table.map(entryText).join("")}</ColorTable>`,
    ];
    const sources = band.sources.map((source) => {
      const kind = source.nodata === null ? "SimpleSource" : "ComplexSource";
      const inner = [
        `<SourceFilename relativeToVRT="${source.is_relative ? 1 : 0}">${escaped(source.name)}</SourceFilename>`,
        `<SourceBand>${source.band}</SourceBand>`,
        rectText("SrcRect", source.from),
        rectText("DstRect", source.to),
        element("NODATA", source.nodata),
      ];
      return `<${kind}>${inner.join("")}</${kind}>`;
    });
    return `<VRTRasterBand dataType="${band.data_type}" band="${at + 1}">${[...facts, ...sources].join("")}</VRTRasterBand>`;
  });
  const mapping = vrt.srs?.mapping ? ` dataAxisToSRSAxisMapping="${vrt.srs.mapping}"` : "";
  const place = [
    vrt.srs === null ? "" : `<SRS${mapping}>${escaped(vrt.srs.text)}</SRS>`,
    vrt.transform === null ? "" : `<GeoTransform>${vrt.transform.join(",")}</GeoTransform>`,
  ];
  return `<VRTDataset rasterXSize="${vrt.width}" rasterYSize="${vrt.height}">${[...place, ...bands].join("")}</VRTDataset>\n`;
}

function entryText([c1, c2, c3, c4]: string[]): string {
  return `<Entry c1="${c1}" c2="${c2}" c3="${c3}" c4="${c4}"/>`;
}

function rectText(name: string, { x, y, width, height }: Rect): string {
  return `<${name} xOff="${x}" yOff="${y}" xSize="${width}" ySize="${height}"/>`;
}

function element(name: string, text: string | null): string {
  return text === null ? "" : `<${name}>${escaped(text)}</${name}>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function number(text: string | undefined): string {
  const plain = (text ?? "").trim();
  if (!number_rule.test(plain)) throw refused(`${quoted(plain)} where a number belongs`);
  return plain;
}

function whole(text: string | undefined): number {
  const value = Number((text ?? "").trim());
  if (!Number.isInteger(value) || value < 1 || value > 2_147_483_647)
    throw refused(`${quoted(text ?? "")} where a size belongs`);
  return value;
}

function refused(what: string): Permanent {
  return new Permanent(
    `the VRT holds ${what}, which is not read here: a VRT may put GeoTIFFs together (gdalbuildvrt), and nothing else. Make a GeoTIFF of it: gdal_translate`,
    { code: "vrt_refused" },
  );
}

interface Node {
  name: string;
  attributes: Record<string, string>;
  children: Node[];
  text: string;
}

const token =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([A-Za-z][\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/gy;

/** Elements, attributes and text: no document types, no sections, no entities but the five. */
function parseXml(text: string): Node {
  const top: Node = { name: "", attributes: {}, children: [], text: "" };
  const open = [top];
  token.lastIndex = 0;
  let read = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    read = token.lastIndex;
    const [, closing, name, attributes = "", empty, words] = found;
    const current = open.at(-1)!;
    if (words !== undefined) current.text += unescaped(words);
    else if (name === undefined) continue;
    else if (closing === "/") {
      if (current.name !== name || open.length === 1) throw refused("XML that is not whole");
      open.pop();
    } else {
      const node: Node = { name, attributes: attributesOf(attributes), children: [], text: "" };
      current.children.push(node);
      if (empty !== "/") open.push(node);
      if (open.length > 12) throw refused("XML that is nested deeply");
    }
  }
  if (read !== text.length || open.length !== 1 || top.children.length !== 1) throw refused("XML that is not whole");
  return top.children[0]!;
}

function attributesOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)];
  return Object.fromEntries(pairs.map(([, name, one, other]) => [name!, unescaped(one ?? other ?? "")]));
}

const named_letters: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(\w+|#\w+);/g, (_, name: string) => {
    const letter = named_letters[name];
    if (letter === undefined) throw refused(`&${name};`);
    return letter;
  });
}
