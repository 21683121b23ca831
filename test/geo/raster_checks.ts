// docs/raster_checks.md, made from the tables in the code.
import { type FindingFacts, finding_table } from "../../src/geo/findings.js";
import { default_raster_limits } from "../../src/geo/preflight.js";
import { bytesText } from "../../src/geo/preflight_pixels.js";
import { raster_types } from "../../src/geo/raster.js";
import { treatmentOf } from "../../src/geo/raster_treatment.js";

const headings: Record<FindingFacts["group"], string> = {
  file: "What the file is",
  structure: "Whether its structure holds",
  size: "How large it is, and how it is packed",
  georeference: "Where it lies",
  pixels: "What its pixels are",
  statistics: "What its values say",
  collection: "Whether it fits its collection",
};

export function page(): string {
  const all = Object.entries(finding_table) as [string, FindingFacts][];
  const sections = (Object.keys(headings) as FindingFacts["group"][]).map((group) => {
    const rows = all
      .filter(([, facts]) => facts.group === group)
      .map(([code, { severity, when, hint }]) => `| \`${code}\` | ${severity} | ${cell(when)} | ${cell(hint)} |`);
    return [`## ${headings[group]}`, "", "| code | severity | when | what to do |", "|---|---|---|---|", ...rows].join(
      "\n",
    );
  });
  const codecs = new Set(["deflate", "lzw"]);
  const treatments = raster_types.map((type) => {
    const { resampling, overview_resampling, reason } = treatmentOf(type, [], codecs);
    return `| ${type} | ${resampling} | ${overview_resampling} | ${reason.split(";")[0]} |`;
  });
  const { pixels, bands, unpacked_bytes, unpack_ratio, block_bytes } = default_raster_limits;
  return `# Checks of a raster

<!-- Made from the code by test/geo/raster_checks.test.ts: FANFOLD_WRITE_DOCS=1 npx vitest run test/geo/raster_checks.test.ts -->

Every source is looked at before any work is done on it. First its header: a few kilobytes are read, whatever the file claims,
and GDAL does not see the file before this has passed. Then its statistics. All findings are told at once; one \`error\` stops
the raster, a \`warning\` or an \`info\` does not.

Limits, unless the operator sets others: ${pixels.toLocaleString("en-US")} pixels, ${bands} bands, ${bytesText(unpacked_bytes)} unpacked,
${unpack_ratio.toLocaleString("en-US")} times the size of the file (from 1 GB unpacked on), ${bytesText(block_bytes)} in one strip or tile.

${sections.join("\n\n")}

## What is done with each type

The type is found from bands, data type, colours and statistics, or given as \`raster_type\` where the bands allow it. Values are
packed without loss unless \`visualization\` is asked for, and then only 8-bit pictures without nodata are not.

| type | resampling | of overviews | because |
|---|---|---|---|
${treatments.join("\n")}
`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
