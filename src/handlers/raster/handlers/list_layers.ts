// raster.list_layers: which rasters a file holds: of each of its variables that lies somewhere, each step. A GeoTIFF is one.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import type { ItemDates } from "../../../geo/stac_dates.js";
import { stacId, stacIds } from "../../../geo/stac_ids.js";
import { fetchForeign } from "../formats/foreign_source.js";
import { variablesOf } from "../formats/layers.js";
import { engineFor } from "../gdal/engine_choice.js";
import { gdal_process } from "../gdal/gdal_process.js";
import { layer_choice, source_ref, stac_id, time_fields } from "../settings.js";

export interface ListedLayer {
  item_id: string;
  source: string;
  variable?: string;
  step?: number;
  dates?: ItemDates;
}

export interface ListedLayers {
  layers: ListedLayer[];
  layer_count: number;
  /** Variables that lie nowhere: axes, bounds, tables. */
  passed_over: string[];
}

/** More would not fit into a result. */
const most_layers = 5000;

const parameters = z.object({ source: source_ref, item_id: stac_id, ...time_fields, ...layer_choice });

export const rasterListLayers = defineHandler(
  "raster.list_layers",
  { parameters, ...gdal_process },
  async ({ source, item_id, variables: wanted }, ctx): Promise<ListedLayers> => {
    const engine = await engineFor(ctx.raster);
    const foreign = await fetchForeign(ctx, source, engine, { max_bytes: ctx.raster.source_max_bytes });
    if (foreign === null) return { layers: [{ item_id, source }], layer_count: 1, passed_over: [] };
    const all = await variablesOf(foreign.engine, foreign.file, ctx.signal);
    refuseMissing(
      source,
      wanted,
      all.map(({ name }) => name),
    );
    const chosen = all.filter(({ name }) => wanted === undefined || (name !== null && wanted.includes(name)));
    const placed = chosen.filter(({ has_place }) => has_place);
    const layers: (ListedLayer & { words: string })[] = [];
    for (const { name, steps } of placed) {
      for (const [at, { moment, labels }] of steps.entries()) {
        const words = [placed.length > 1 ? name : null, ...Object.values(labels), moment?.replace(/[-:]/g, "") ?? null];
        layers.push({
          item_id,
          source,
          ...(name === null || all.length === 1 ? {} : { variable: name }),
          ...(steps.length > 1 ? { step: at + 1 } : {}),
          ...(moment === null ? {} : { dates: { datetime: moment, source: "file" } }),
          words: words.filter((word) => word !== null).join("-"),
        });
      }
      if (layers.length > most_layers) {
        throw new Permanent(
          `${source} holds more than ${most_layers} rasters: give variables, or its parts as files of their own`,
          {
            code: "too_many_layers",
          },
        );
      }
    }
    if (layers.length === 0) {
      throw new Permanent(
        `nothing in ${source} says where it lies: give a file with a grid of coordinates or a geotransform`,
        {
          code: "no_georeference",
        },
      );
    }
    const counts = new Map<string, number>();
    for (const { words } of layers) counts.set(words, (counts.get(words) ?? 0) + 1);
    const told = layers.map(({ words }, at) => (counts.get(words) === 1 ? words : `${words}-${at + 1}`));
    const ids = stacIds(told).map((id, at) => (told[at] === "" ? item_id : stacId(`${item_id}-${id}`)));
    return {
      layers: layers.map(({ words: _, ...layer }, at) => ({ ...layer, item_id: ids[at]! })),
      layer_count: layers.length,
      passed_over: chosen.filter(({ has_place }) => !has_place).flatMap(({ name }) => name ?? []),
    };
  },
);

function refuseMissing(source: string, wanted: readonly string[] | undefined, names: readonly (string | null)[]): void {
  const missing = (wanted ?? []).filter((name) => !names.includes(name));
  if (missing.length === 0) return;
  const there = names.filter((name) => name !== null).join(", ") || "none with a name";
  throw new Permanent(`${source} has no variable ${missing.join(", ")}; it has ${there}`, { code: "no_such_layer" });
}
