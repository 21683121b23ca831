// From what was found in sources to the layers that are made of it, their columns and the parts of a load. Pure.
import { Permanent } from "../../core/errors/errors.js";
import { columnNames, layerName } from "../../geo/column_names.js";
import { columnType, commonKind, type FieldKind, type SourceField, type SourceLayer } from "../../geo/vector.js";
import type { Inspection, LoadPart, LoadPlan, MappedColumn, Target } from "./facts.js";
import type { VectorParameters } from "./settings.js";
import { has_random_access } from "./source/format.js";

/** How many rows one task takes, where a source can be read from the middle. */
const rows_of_a_part = 200_000;
const most_columns = 1500;
/** For a source that does not say how many rows it has. */
const room = 1_000_000_000;

interface Chosen {
  inspection: Inspection;
  layer: SourceLayer;
}

export function planLayers(inspections: readonly Inspection[], given: VectorParameters): LoadPlan {
  const chosen = inspections.flatMap((inspection) => inspection.layers.map((layer) => ({ inspection, layer })));
  if (chosen.length === 0) throw new Permanent("there is no layer to load in what was given", { code: "no_layers" });
  const groups = grouped(chosen, given);
  const plan: LoadPlan = { targets: [], parts: [], findings: [], renamed: [] };
  for (const { findings, source } of inspections) plan.findings.push(...findings.map((one) => ({ ...one, source })));
  for (const [layer, members] of groups) addTarget(plan, layer, members, given);
  return plan;
}

/** Names are a layer's own where there are several, and never twice. */
function grouped(chosen: readonly Chosen[], given: VectorParameters): Map<string, Chosen[]> {
  if (given.combine) return new Map([[given.layer!, [...chosen]]]);
  const groups = new Map<string, Chosen[]>();
  for (const one of chosen) {
    const own = layerName(ownName(one));
    const wanted =
      given.layer === undefined
        ? own || "layer"
        : chosen.length === 1
          ? given.layer
          : `${given.layer}_${own || "layer"}`;
    let name = wanted.slice(0, 120);
    for (let number = 2; groups.has(name); number++) name = `${wanted.slice(0, 115)}_${number}`;
    groups.set(name, [one]);
  }
  return groups;
}

/** A file of one layer is known by its own name: inside, GDAL calls it after a file of ours. */
function ownName({ inspection, layer }: Chosen): string {
  const file = /([^/:]+?)(\.[A-Za-z0-9]+)?$/.exec(inspection.source)?.[1] ?? "layer";
  const is_named =
    ["gpkg", "filegdb", "shapefile", "kml", "gml"].includes(inspection.format) && inspection.layers.length > 1;
  return is_named ? layer.name : file;
}

function addTarget(plan: LoadPlan, layer: string, members: readonly Chosen[], given: VectorParameters): void {
  const has_geometry = members.some((one) => one.layer.has_geometry);
  const fields = members.map((one) => keptFields(one, given));
  const columns = commonColumns(fields);
  if (columns.length > most_columns) {
    throw new Permanent(
      `layer ${layer} would have ${columns.length} columns, and ${most_columns} are possible: choose some with columns`,
      {
        code: "too_many_columns",
      },
    );
  }
  const srid = has_geometry ? targetSrid(members, given, layer) : null;
  const named = (wanted: string, parameter: string): string => {
    const found = columns.find(({ name, source_name }) => name === wanted || source_name === wanted);
    if (found !== undefined) return found.name;
    const has = columns
      .slice(0, 50)
      .map(({ name }) => name)
      .join(", ");
    throw new Permanent(`${parameter} names a column that layer ${layer} does not have: ${wanted}; it has: ${has}`, {
      code: "column_missing",
    });
  };
  const target: Target = {
    layer,
    table: "",
    title: given.title ?? null,
    srid,
    has_geometry,
    columns: columns.map(({ kind: _, ...column }) => column),
    indexes: given.indexes.map((name) => named(name, "indexes")),
    key: (given.key ?? []).map((name) => named(name, "key")),
    time_column: given.time_column === undefined ? null : named(given.time_column, "time_column"),
    split_by: given.split_by === undefined ? null : named(given.split_by, "split_by"),
    expected: members.reduce<number | null>(
      (sum, one) => (sum === null || one.layer.feature_count === null ? null : sum + one.layer.feature_count),
      0,
    ),
    sources: members.map(({ inspection: { source, sha256, format }, layer: { name, crs } }) => ({
      source,
      sha256,
      layer: name,
      format,
      crs,
    })),
  };
  const time = columns.find(({ name }) => name === target.time_column);
  if (time !== undefined && time.type !== "date" && time.type !== "datetime") {
    throw new Permanent(`time_column ${time.name} of layer ${layer} is a ${time.type}, and must be a date`, {
      code: "bad_time_column",
    });
  }
  plan.targets.push(target);
  for (const { source_name, name } of columns)
    if (source_name !== name) plan.renamed.push({ layer, source_name, name });
  let first = 1;
  for (const [at, one] of members.entries()) {
    addParts(plan, target, one, mapped(columns, fields[at]!), first);
    first += one.layer.feature_count ?? room;
  }
}

type PlacedField = SourceField & { at: number };

/** Some releases of GDAL take the box that GML has beside every feature for two of its properties. */
const gml_boxes = new Set(["lowerCorner", "upperCorner"]);

function keptFields({ inspection, layer }: Chosen, { columns }: VectorParameters): PlacedField[] {
  const all = layer.fields
    .map((field, place) => ({ ...field, at: place + 1 }))
    .filter(({ name }) => inspection.format !== "gml" || !gml_boxes.has(name));
  if (columns === undefined) return all;
  const missing = columns.filter((name) => !all.some((field) => field.name === name));
  if (missing.length > 0) {
    const has = all
      .slice(0, 50)
      .map(({ name }) => name)
      .join(", ");
    throw new Permanent(`${layer.name} has no columns ${missing.slice(0, 20).join(", ")}; it has: ${has}`, {
      code: "column_missing",
    });
  }
  return all.filter(({ name }) => columns.includes(name));
}

type CommonColumn = Omit<MappedColumn, "at">;

/** By their place where one source is loaded, by their names where several are. */
function commonColumns(lists: readonly PlacedField[][]): CommonColumn[] {
  const columns: CommonColumn[] = [];
  for (const fields of lists) {
    const names = columnNames(fields.map(({ name }) => name));
    for (const [place, field] of fields.entries()) {
      const name = names[place]!;
      const known = columns.find((column) => column.name === name);
      const kind: FieldKind = known === undefined ? field.kind : commonKind(known.kind, field.kind);
      if (known !== undefined) Object.assign(known, columnType(kind), { kind });
      else columns.push({ name, source_name: field.name, kind, ...columnType(kind) });
    }
  }
  return columns;
}

function mapped(columns: readonly CommonColumn[], fields: readonly PlacedField[]): MappedColumn[] {
  const names = columnNames(fields.map(({ name }) => name));
  return fields.map((field, place) => {
    const column = columns.find(({ name }) => name === names[place])!;
    // What this source calls a list stays one where another has text.
    const kind = column.kind === "json" || column.type === "json" ? field.kind : column.kind;
    return { ...column, kind, source_name: field.name, at: field.at };
  });
}

function epsg(crs: string | null): number | null {
  const code = /^EPSG:(\d{1,6})$/.exec(crs ?? "")?.[1];
  return code === undefined ? (crs === "OGC:CRS84" ? 4326 : null) : Number(code);
}

function targetSrid(members: readonly Chosen[], { target_crs }: VectorParameters, layer: string): number {
  if (target_crs !== "source") return epsg(target_crs)!;
  const all = [...new Set(members.filter((one) => one.layer.has_geometry).map((one) => epsg(one.layer.crs)))];
  const [only] = all;
  if (all.length === 1 && only !== undefined && only !== null) return only;
  const why = all.length > 1 ? "its sources have several" : "that of its source has no EPSG code";
  throw new Permanent(`layer ${layer} cannot keep the CRS of its source: ${why}; give target_crs`, {
    code: "no_crs_code",
  });
}

function addParts(
  plan: LoadPlan,
  target: Target,
  { inspection, layer }: Chosen,
  columns: MappedColumn[],
  first: number,
): void {
  const source_srid = epsg(layer.crs);
  const common = {
    table: target.layer,
    source: inspection.source,
    sha256: inspection.sha256,
    source_layer: layer.name,
    field_count: layer.fields.length,
    columns,
    has_geometry: layer.has_geometry,
    source_srid: layer.has_geometry ? (source_srid ?? target.srid) : null,
    gdal_target: layer.has_geometry && source_srid === null && target.srid !== null ? `EPSG:${target.srid}` : null,
  } satisfies Partial<LoadPart>;
  const total = layer.feature_count;
  const is_split = has_random_access.has(inspection.format) && total !== null && total > rows_of_a_part;
  if (!is_split) {
    plan.parts.push({ ...common, part: plan.parts.length, expected: total, first });
    return;
  }
  for (let from = 0; from < total; from += rows_of_a_part) {
    const most = Math.min(rows_of_a_part, total - from);
    plan.parts.push({ ...common, part: plan.parts.length, from, most, expected: most, first: first + from });
  }
}
