// fanfold migrate: brings the database's schema up to this version, or says what that would do.

import type { Config } from "../../config.js";
import type { Database } from "../../engine/database/database.js";
import { session_bounds } from "../../engine/database/session_bounds.js";
import { type CatalogState, catalogState } from "../../engine/schema/catalog_schema.js";
import { judgeMigrations } from "../../engine/schema/diagnosis.js";
import { migrate, schemaState } from "../../engine/schema/migrate.js";
import { answer, type Cli } from "../terminal/command.js";
import { exit_codes } from "../terminal/failure.js";
import { configOf, sayOpening } from "../terminal/session.js";

export function addMigrate(cli: Cli): void {
  cli.program
    .command("migrate")
    .summary("bring the database's schema up to date")
    .description(
      "Brings the schema up to this version, in one transaction. Safe to run twice and from several machines at once.\n" +
        "Needs a role that may create roles and schemas; run the workers with another one.",
    )
    .option("--status", "only say what is pending (exit 1 when something is)")
    .examples("fanfold migrate --status", "fanfold migrate --database-url postgres://admin@db/maps")
    .action(async (options: { status?: boolean }) => {
      const config = configOf(cli);
      const opened = await openBare(cli, config);
      try {
        await (options.status ? showState(cli, opened.db, config) : bringUp(cli, opened.db, config));
      } finally {
        await opened.close();
      }
    });
}

/** The database without an engine around it: the schema may be missing or old. As superuser where it is embedded. */
export async function openBare(cli: Cli, config: Config): Promise<{ db: Database; close(): Promise<void> }> {
  if (config.database_url !== undefined) {
    const { openServer } = await import("../../engine/database/server_database.js");
    const db = openServer(config.database_url, {
      max: 1,
      prepare: config.prepare,
      listen_url: config.listen_url,
      application_name: "fanfold migrate",
      ...session_bounds.migrate,
    });
    return { db, close: () => db.close() };
  }
  const opened = sayOpening(cli, config, config.catalog);
  const { openEmbedded } = await import("../../engine/database/embedded_database.js");
  const postgis = config.catalog === "auto" ? undefined : config.catalog !== "off";
  const embedded = await openEmbedded(config.database_dir, { postgis }).finally(opened);
  return { db: embedded.as(null), close: () => embedded.close() };
}

async function showState(cli: Cli, db: Database, { catalog: choice }: Config): Promise<void> {
  const { database_version, code_version, pending: app_pending } = await schemaState(db);
  const catalog = choice === "off" ? null : await catalogState(db, { choice });
  const pending = [...app_pending, ...(catalog?.pending ?? [])];
  const finding = judgeMigrations({ database_version, code_version, pending });
  if (finding.level !== "ok") cli.exit_code = exit_codes.failed;
  answer(cli, { database_version, code_version, pending, catalog }, () => [
    `schema  ${finding.message}`,
    ...pending.map((name) => `  pending  ${name}`),
    ...(finding.fix ? [`  ${finding.fix}`] : []),
    ...(catalog === null ? [] : catalogLines(catalog)),
  ]);
}

async function bringUp(cli: Cli, db: Database, { catalog: choice }: Config): Promise<void> {
  const { applied, functions, version, catalog } = await migrate(db, { catalog: choice });
  const changed = applied.length + functions.length > 0;
  answer(cli, { applied, functions, version, catalog }, () => [
    ...applied.map((name) => `applied   ${name}`),
    ...(functions.length > 0 ? [`replaced  ${functions.length} functions`] : []),
    `schema    version ${version}, ${changed ? "now current" : "was current already"}`,
    ...(catalog === undefined ? [] : catalogLines(catalog)),
  ]);
}

/** Without PostGIS everything but the catalogue works: that is told, not failed. */
function catalogLines({ obstacle, database_version, postgis, pgstac, pgstac_refused }: CatalogState): string[] {
  if (obstacle !== null) return [`catalogue none: ${obstacle.problem}`, `          ${obstacle.fix}`];
  if (database_version === null) return ["catalogue not installed yet"];
  return [
    `catalogue version ${database_version} on PostGIS ${postgis}${pgstac === null ? "" : ` and pgSTAC ${pgstac}`}`,
    ...(pgstac_refused === null ? [] : [`          ${pgstac_refused}`]),
  ];
}
