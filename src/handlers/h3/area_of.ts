// The area that cells are wanted for, from what a job says of it: a box, the land that ships with us, polygons of a layer.
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { TaskContext } from "../../core/task/context.js";
import { Area, boxPolygons, type PolygonRings } from "../../geo/h3/area.js";
import { type Topology, topologyPolygons } from "../../geo/h3/topology.js";
import type { GridParameters } from "./settings.js";

/** Some 200 MB of memory. */
const most_points = 2_000_000;

const land_file = new URL("../../../db/land/natural_earth_50m.json.gz", import.meta.url);

let land: Promise<Area> | undefined;

/** The land of Natural Earth that ships with us, read once in a process. */
export function landArea(): Promise<Area> {
  land ??= (async () => {
    const text = await promisify(gunzip)(await readFile(land_file));
    return new Area(topologyPolygons(JSON.parse(text.toString()) as Topology));
  })();
  return land;
}

/** A cell belongs when it belongs to every one of them; to the whole world where there is none. */
export async function areasOf(
  ctx: TaskContext,
  { extent, land, within }: Pick<GridParameters, "extent" | "land" | "within">,
  within_version: number | null,
): Promise<Area[]> {
  const areas: Area[] = [];
  if (extent !== undefined) areas.push(new Area(boxPolygons(extent)));
  if (land) areas.push(await landArea());
  if (within !== undefined) {
    const rows = await ctx.db(
      (session) => session.sql<{ polygon: string }>`
        select geo.area_polygons(${within.layer}::text, ${JSON.stringify(within.where)}::text::jsonb, ${most_points}::integer,
          ${within_version}::bigint) as polygon`,
    );
    areas.push(new Area(rows.map(({ polygon }) => (JSON.parse(polygon) as { coordinates: PolygonRings }).coordinates)));
  }
  return areas;
}
