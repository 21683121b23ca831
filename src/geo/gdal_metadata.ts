// The XML in which GDAL keeps names, units and scales of bands in a TIFF. Read with patterns, not with an XML parser: there is
// nothing in it that entities or nesting could blow up, and broken text only loses its items. Pure.

export interface BandMetadata {
  description: string | null;
  unit: string | null;
  scale: number | null;
  offset: number | null;
  color_interpretation: string | null;
}

export function bandMetadata(
  xml: string | null,
  band_count: number,
): { bands: BandMetadata[]; metadata: Record<string, string> } {
  const none: BandMetadata = { description: null, unit: null, scale: null, offset: null, color_interpretation: null };
  const bands: BandMetadata[] = Array.from({ length: band_count }, () => ({ ...none }));
  const metadata: Record<string, string> = {};
  for (const [, attributes = "", content = ""] of (xml ?? "").matchAll(
    /<Item\s([^<>]{0,500})>([^<]{0,4000})<\/Item>/g,
  )) {
    const name = attribute(attributes, "name");
    const sample = attribute(attributes, "sample");
    // Twice, because GDAL escapes the text and then the XML it is in.
    const value = unescapeXml(unescapeXml(content));
    if (sample === null) {
      // A domain of its own (such as of structure) is not the file's description.
      if (name && attribute(attributes, "domain") === null && Object.keys(metadata).length < 200)
        metadata[name] = value;
      continue;
    }
    const band = /^\d+$/.test(sample) ? bands[Number(sample)] : undefined;
    if (!band) continue;
    switch (attribute(attributes, "role")) {
      case "description":
        band.description = value;
        break;
      case "unittype":
        band.unit = value;
        break;
      case "scale":
        band.scale = finite(value);
        break;
      case "offset":
        band.offset = finite(value);
        break;
      case "colorinterp":
        band.color_interpretation = value.toLowerCase();
        break;
    }
  }
  return { bands, metadata };
}

function attribute(attributes: string, name: string): string | null {
  const found = new RegExp(`\\b${name}="([^"]{0,300})"`).exec(attributes)?.[1];
  return found === undefined ? null : unescapeXml(found);
}

function unescapeXml(text: string): string {
  const names: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => names[name]!);
}

function finite(text: string): number | null {
  const value = Number(text);
  return text.trim() !== "" && Number.isFinite(value) ? value : null;
}
