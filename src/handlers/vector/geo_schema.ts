// Whether the database has what vector layers need, and what to do where it has not.
import { Permanent } from "../../core/errors/errors.js";
import type { TaskContext } from "../../core/task/context.js";

export async function requireGeo(ctx: TaskContext): Promise<void> {
  const [row] = await ctx.db(
    (session) => session.sql<{ installed: boolean; postgis: boolean }>`
      select
        exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'geo' and p.proname = 'publish_layer') as installed,
        exists (select from pg_extension where extname = 'postgis') as postgis`,
  );
  if (row?.installed) return;
  const fix = row?.postgis
    ? "run: fanfold migrate"
    : "install PostGIS on the database's server (postgresql-NN-postgis-3), then run: fanfold migrate";
  throw new Permanent(`vector layers need PostGIS and the schema geo, which this database does not have: ${fix}`, {
    code: "no_postgis",
  });
}
