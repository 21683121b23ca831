// export.plan_mosaic: which COGs of a collection make up which part of the mosaic, from what their items say; refused where they do not lie on
// one grid of pixels, with every difference, before a file is read.
import { z } from "zod";
import type { SearchQuery } from "../../../catalog/catalog.js";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { parseZoneRef } from "../../../core/places/zones.js";
import { type MosaicMember, mosaicProblems, planMosaic } from "../../../geo/mosaic_plan.js";
import type { StacItem } from "../../../geo/stac.js";
import { catalogOf } from "../../stac/catalog_of.js";
import { ref_field } from "../../stac/item_fields.js";
import { makeCollection } from "../../stac/make_collection.js";
import { refuseTakenIds } from "../../stac/taken_items.js";
import { mosaic_fields } from "../settings.js";

export interface MosaicSource extends MosaicMember {
  source: string;
}

export interface MosaicTask {
  item_id: string;
  tile: { x: number; y: number } | null;
  bounds: [number, number, number, number];
  sources: string[];
}

export interface PlannedMosaic {
  width: number;
  height: number;
  source_count: number;
  datetimes: [string, string] | null;
  tasks: MosaicTask[];
}

const most_sources = 10_000;
const most_named = 20;

export const exportPlanMosaic = defineHandler(
  "export.plan_mosaic",
  { parameters: z.object(mosaic_fields) },
  async (given, ctx): Promise<PlannedMosaic> => {
    const { source, asset, grid, collection, license } = given;
    const name = given.name ?? source;
    const catalog = await catalogOf(ctx);
    const members: MosaicSource[] = [];
    const moments: string[] = [];
    const query: SearchQuery = { collections: [source], limit: 500, sortby: [{ field: "id", direction: "asc" }] };
    let token: string | undefined;
    do {
      ctx.signal.throwIfAborted();
      const asked = token === undefined ? query : { ...query, token };
      const page = await ctx.db((session) => catalog.search(session, asked));
      for (const item of page.items) {
        members.push(memberOf(item, asset));
        const { datetime, start_datetime, end_datetime } = item.properties;
        for (const one of [datetime, start_datetime, end_datetime]) if (typeof one === "string") moments.push(one);
      }
      if (members.length > most_sources) {
        throw new Permanent(`the collection ${source} has more than ${most_sources} items`, {
          code: "too_many_sources",
        });
      }
      token = page.next ?? undefined;
    } while (token !== undefined);
    const problems = mosaicProblems(members);
    if (problems.length > 0) {
      const more = problems.length > most_named ? ` · and ${problems.length - most_named} more` : "";
      throw new Permanent(
        `the rasters of ${source} cannot be put together without resampling: ${problems.slice(0, most_named).join(" · ")}${more}. Make COGs of one CRS and resolution of them first: process_raster_collection`,
        { code: "no_mosaic" },
      );
    }
    const { width, height, parts } = planMosaic(members, grid);
    const tasks = parts.map(({ x, y, bounds, members: inside }): MosaicTask => {
      const is_whole = grid === 1;
      return {
        item_id: is_whole ? name : `${name}_${x}_${y}`,
        tile: is_whole ? null : { x, y },
        bounds,
        sources: inside.map((one) => one.source),
      };
    });
    await refuseTakenIds(
      ctx,
      given,
      tasks.map(({ item_id }) => item_id),
    );
    await makeCollection(ctx, { collection, license });
    moments.sort();
    const datetimes: [string, string] | null = moments.length === 0 ? null : [moments[0]!, moments.at(-1)!];
    return { width, height, source_count: members.length, datetimes, tasks };
  },
);

function memberOf(item: StacItem, name: string): MosaicSource {
  const asset = item.assets[name];
  const ref = asset?.[ref_field];
  const fields = { ...item.properties, ...asset } as Record<string, unknown>;
  const [height, width] = (fields["proj:shape"] ?? []) as number[];
  const [dx, rx, x, ry, dy, y] = (fields["proj:transform"] ?? []) as number[];
  const crs = fields["proj:code"] ?? fields["proj:wkt2"];
  if (
    typeof ref !== "string" ||
    parseZoneRef(ref) === null ||
    typeof crs !== "string" ||
    !width ||
    !height ||
    y === undefined
  ) {
    throw new Permanent(
      `the item ${item.id} has no asset ${name} in a zone whose place its fields tell (proj:code, proj:shape, proj:transform)`,
      { code: "no_place" },
    );
  }
  const bands = ((asset?.bands ?? []) as Record<string, unknown>[]).map(
    ({ data_type, nodata }) => `${data_type}/${nodata ?? "-"}`,
  );
  return {
    name: item.id,
    source: ref,
    crs,
    width,
    height,
    transform: [x!, dx!, rx!, y, ry!, dy!],
    bands: bands.join(" "),
  };
}
