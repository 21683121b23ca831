// Reads layers of cells in tests, and counts the connections that are open while a job runs.
import { setTimeout as rest } from "node:timers/promises";
import type { Database } from "../../src/engine/database/database.js";
import { layerOf } from "../vector/layer_rows.js";

async function inView<T>(db: Database, layer: string, read: () => Promise<T>): Promise<T> {
  const { table_name } = (await layerOf(db, layer))!;
  await db.script(`create view public.cells_of_a_test as select * from geo.${table_name}`);
  try {
    return await read();
  } finally {
    await db.script("drop view public.cells_of_a_test");
  }
}

/** Sorted; every row, so that one that is there twice is seen. */
export function cellsOf(db: Database, layer: string): Promise<string[]> {
  return inView(db, layer, async () => {
    const rows = await db.sql<{ h3: string }>`select h3 from public.cells_of_a_test order by h3 collate "C"`;
    return rows.map(({ h3 }) => h3);
  });
}

export function rowsOf(db: Database, layer: string): Promise<Record<string, unknown>[]> {
  return inView(db, layer, async () => {
    const rows = await db.sql<{ row: Record<string, unknown> }>`
      select to_jsonb(t) - 'geom' as row from public.cells_of_a_test t order by fid`;
    return rows.map(({ row }) => row);
  });
}

/** Outlines that are no valid polygons, those beyond the map, and the area of all in the plane of degrees. */
export function invalidCells(db: Database, layer: string) {
  return inView(db, layer, async () => {
    const [row] = await db.sql<{ invalid: number; off_the_map: number; area: number }>`
      select (count(*) filter (where not st_isvalid(t.geom)))::int as invalid,
        (count(*) filter (where st_xmax(t.geom) - st_xmin(t.geom) > 180 and st_numgeometries(t.geom) = 1 and abs(st_ymax(t.geom)) < 90 and abs(st_ymin(t.geom)) < 90
          or not st_geometrytype(t.geom) = 'ST_MultiPolygon'))::int as off_the_map,
        round(sum(st_area(t.geom))::numeric, 4)::float8 as area
        from public.cells_of_a_test t`;
    return row!;
  });
}

/** Looks as often as it can until it is called; gives the most connections that were open at once: the worker's, its processes' and the caller's, without the one that looks. */
export function sampleConnections(db: Database): () => Promise<number> {
  let most = 0;
  let goes_on = true;
  const sampling = (async () => {
    while (goes_on) {
      const [row] = await db.sql<{ count: number }>`
        select count(*)::int as count from pg_stat_activity
         where datname = current_database() and application_name <> 'fanfold test' and backend_type = 'client backend'`;
      most = Math.max(most, row!.count);
      await rest(10);
    }
  })();
  // A test that fails before it asks leaves nothing behind that fails too.
  sampling.catch(() => {});
  return async () => {
    goes_on = false;
    await sampling;
    return most;
  };
}
