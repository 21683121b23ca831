// What filters may name, as JSON Schema: what every item has, what ours always have, and what a collection says of its items. Any
// other property may be named too.
import type { StacCollection } from "../../../geo/stac.js";

type Schema = Record<string, unknown>;

const moment = { type: "string", format: "date-time" };

const of_every_item: Record<string, Schema> = {
  id: { title: "Item", type: "string" },
  collection: { title: "Collection", type: "string" },
  geometry: { title: "Footprint", $ref: "https://geojson.org/schema/Geometry.json" },
  datetime: { title: "When", ...moment },
  start_datetime: { title: "From", ...moment },
  end_datetime: { title: "Until", ...moment },
  created: { title: "Recorded", ...moment },
  updated: { title: "Recorded last", ...moment },
  gsd: { title: "Metres of a pixel on the ground", type: "number" },
  "proj:code": { title: "Coordinate reference system", type: "string", examples: ["EPSG:32636"] },
  "fanfold:job_id": { title: "The job that made it", type: "string" },
};

export function queryablesOf(url: string, title: string, collection?: StacCollection): Schema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: url,
    type: "object",
    title,
    properties: { ...of_every_item, ...summarised(collection) },
    // Others may be named: a property that an item does not have is null to a filter.
    additionalProperties: true,
  };
}

/** A summary is a list of the values there are, a range, or a schema. */
function summarised(collection: StacCollection | undefined): Record<string, Schema> {
  const known = Object.entries(collection?.summaries ?? {}).filter(([name]) => /^[A-Za-z_][\w:.-]{0,100}$/.test(name));
  return Object.fromEntries(
    known.slice(0, 200).flatMap(([name, summary]) => {
      const schema = schemaOf(summary);
      return schema === null ? [] : [[name, { title: name, ...schema }]];
    }),
  );
}

function schemaOf(summary: unknown): Schema | null {
  if (Array.isArray(summary)) {
    const kinds = new Set(summary.map((one) => typeof one));
    const [kind] = kinds;
    if (kinds.size !== 1 || !["string", "number", "boolean"].includes(kind ?? "")) return {};
    return { type: kind, ...(summary.length <= 100 ? { enum: summary } : {}) };
  }
  if (typeof summary !== "object" || summary === null) return null;
  const { minimum, maximum, type } = summary as Record<string, unknown>;
  if (typeof minimum === "number" && typeof maximum === "number") return { type: "number", minimum, maximum };
  if (typeof minimum === "string") return moment;
  return typeof type === "string" ? { type } : {};
}
