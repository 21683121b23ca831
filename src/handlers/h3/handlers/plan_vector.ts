// h3.plan_vector: which features of a layer are counted in which task. Makes the tables that tallies and cells go into.
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { statisticColumns } from "../../../geo/h3/statistics.js";
import { requireGeo } from "../../vector/geo_schema.js";
import { refuseTaken } from "../../vector/handlers/plan.js";
import type { FeaturePart, TallyPlan, Told } from "../facts.js";
import { cellTarget, makeTable } from "../load_cells.js";
import { type LayerParts, layerParts } from "../read_rows.js";
import { type VectorParameters, vector_parameters } from "../settings.js";
import { makeTallyTable } from "../tally_table.js";

const features_of_a_task = 50_000;

export const h3PlanVector = defineHandler(
  "h3.plan_vector",
  { parameters: vector_parameters },
  async (given, ctx): Promise<TallyPlan<FeaturePart>> => {
    await requireGeo(ctx);
    const { from_layer, max_cells } = given;
    const source = await layerParts(ctx, from_layer, features_of_a_task);
    refuseColumns(source, given);
    // A cell needs a feature.
    if (source.feature_count > max_cells) {
      throw new Permanent(
        `the layer ${from_layer} has ${source.feature_count} features, more than ${max_cells}: raise max_cells`,
        { code: "too_many_cells" },
      );
    }
    const told = toldOf(given);
    const target = cellTarget(given, {
      columns: told.flatMap(({ prefix, statistics }) => statisticColumns(statistics, prefix)),
      sources: [{ source: "layer", sha256: "", layer: from_layer, format: "layer", crs: "EPSG:4326" }],
    });
    await refuseTaken(ctx, [target], { mode: given.mode, split_by: undefined });
    const prefixes = told.map(({ prefix }) => prefix);
    const tallies = given.dry_run ? "" : await makeTallyTable(ctx, given.layer, prefixes);
    const table = given.dry_run ? target.table : await makeTable(ctx, target);
    return {
      targets: [{ ...target, table }],
      parts: source.parts.map(({ from, to }, part) => ({ part, tallies, source_table: source.table, from, to })),
      tallies,
      at_most: source.feature_count,
      within_version: null,
      findings: [],
      renamed: [],
    };
  },
);

/** The features themselves, which are counted, then each column. */
export function toldOf({ values, category }: Pick<VectorParameters, "values" | "category">): Told[] {
  return [
    { prefix: "", statistics: ["count"] },
    ...values.map(({ column, statistics }) => ({ prefix: `${column}_`, statistics })),
    ...(category === undefined ? [] : [{ prefix: `${category}_`, statistics: ["dominant", "shares"] }]),
  ];
}

function refuseColumns(
  { columns, geometry_type }: LayerParts,
  { from_layer, values, category }: VectorParameters,
): void {
  if (geometry_type === null) {
    throw new Permanent(`the layer ${from_layer} has no places: its features are in no cell`, { code: "no_places" });
  }
  const wrong: string[] = [];
  const asked = values.map(({ column }) => column);
  for (const name of [...asked, ...(category === undefined ? [] : [category])]) {
    const found = columns.find((column) => column.name === name);
    if (found === undefined) wrong.push(`there is no column ${name}`);
    else if (name !== category && found.type !== "integer" && found.type !== "number")
      wrong.push(`${name} is no number`);
  }
  const names = [...asked, category].filter((name) => name !== undefined);
  if (new Set(names).size !== names.length) wrong.push("a column is named twice");
  if (wrong.length === 0) return;
  throw new Permanent(
    `${wrong.join(", ")}: the layer ${from_layer} has ${columns.map(({ name, type }) => `${name} (${type})`).join(", ")}`,
    { code: "no_such_column" },
  );
}
