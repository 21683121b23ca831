// vector.inspect: one source looked at before anything is loaded: format, layers, fields, CRS, counts, and what is against it.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { parseOgrInfo, type ToldLayer } from "../../../geo/ogr_info.js";
import type { SourceLayer } from "../../../geo/vector.js";
import { crsInfo } from "../../raster/gdal/gdal_crs.js";
import { refuseFindings } from "../../raster/source/refuse_findings.js";
import type { Inspection } from "../facts.js";
import { ogrFor } from "../gdal/ogr_choice.js";
import { source_fields, vector_memory_mb, vector_module } from "../settings.js";
import { default_crs } from "../source/format.js";
import { openVector, type VectorFinding, type VectorSource } from "../source/open_source.js";
import { parquetLayer } from "../source/parquet_rows.js";

const parameters = z.object({ ...source_fields, source: z.string() });

export const vectorInspect = defineHandler(
  "vector.inspect",
  { parameters, isolation: "process", module: vector_module, memory_mb: vector_memory_mb, timeout_s: 3600 },
  async (given, ctx): Promise<Inspection> => {
    const { source, encoding, x_column: x, y_column: y, wkt_column: wkt } = given;
    const opened = await openVector(ctx, source, { encoding, x, y, wkt });
    const engine = await ogrFor(ctx.raster);
    const told: ToldLayer[] =
      opened.format === "geoparquet"
        ? [{ ...(await parquetLayer(opened.path, "rows")), geometry_count: 1 }]
        : parseOgrInfo(await engine.info(opened, ctx.signal), (text) => crsInfo(text).code);
    const wanted = given.layers === undefined ? told : told.filter(({ name }) => given.layers!.includes(name));
    const findings = [...opened.findings, ...findingsOf(opened, told, wanted, given)];
    refuseFindings(source, findings, false);
    const layers = wanted.map(({ geometry_count: _, ...layer }): SourceLayer => {
      const crs = given.source_crs ?? layer.crs ?? (layer.wkt === null ? (default_crs[opened.format] ?? null) : null);
      return { ...layer, crs, wkt: crs === null ? layer.wkt : null };
    });
    const { bytes, sha256, format, places } = opened;
    return {
      source,
      bytes,
      sha256,
      format,
      layers,
      places,
      findings,
      engine: { name: engine.name, version: engine.version },
    };
  },
);

function findingsOf(
  { format, places }: VectorSource,
  told: readonly ToldLayer[],
  wanted: readonly ToldLayer[],
  given: { layers?: string[] | undefined; source_crs?: string | undefined },
): VectorFinding[] {
  const found: VectorFinding[] = [];
  const error = (code: string, message: string, hint: string) => found.push({ code, severity: "error", message, hint });
  const names = told.map(({ name }) => name);
  for (const missing of (given.layers ?? []).filter((name) => !names.includes(name))) {
    error(
      "layer_missing",
      `There is no layer ${JSON.stringify(missing)}.`,
      `It has: ${names.slice(0, 50).join(", ")}.`,
    );
  }
  if (told.length === 0) error("no_layers", "There is no layer in it.", "Look whether it is the right file.");
  for (const layer of wanted) {
    const name = JSON.stringify(layer.name);
    if (layer.geometry_count > 1) {
      error(
        "several_geometries",
        `Layer ${name} has several columns of geometries.`,
        "Give one that has a single one.",
      );
    }
    if (
      layer.has_geometry &&
      layer.crs === null &&
      layer.wkt === null &&
      given.source_crs === undefined &&
      default_crs[format] === undefined
    ) {
      error("no_crs", `Layer ${name} does not say in which CRS it is.`, "Give source_crs, such as EPSG:4326.");
    }
    if (layer.feature_count === 0) {
      found.push({
        code: "empty_layer",
        severity: "warning",
        message: `Layer ${name} has no features.`,
        hint: "Look whether that is meant.",
      });
    }
    if (format === "csv" && places === null) {
      const hint = "Give x_column and y_column, or wkt_column, if it has any.";
      found.push({
        code: "no_places",
        severity: "warning",
        message: "No column of the file is a place: the layer is a table.",
        hint,
      });
    }
  }
  return found;
}
