// How a reference system is computed, from the database's own list of them.
import type { SqlSession } from "../core/task/context.js";
import { answer } from "./answers.js";

/** In the words of proj4, or as WKT; null for a number that PostGIS does not have, and where there is no PostGIS. */
export async function crsDefinition(db: SqlSession, srid: number): Promise<string | null> {
  try {
    return await answer<string | null>(db.sql`select geo.crs_definition(${srid}::integer) as reply`);
  } catch (error) {
    if (/^(3F000|42883)$/.test(String((error as { code?: unknown }).code))) return null;
    throw error;
  }
}
