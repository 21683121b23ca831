// fanfold migrate: brings the database's schema up to this version, or says what that would do.

import type { Config } from "../../config.js";
import type { Database } from "../../engine/database/database.js";
import { session_bounds } from "../../engine/database/session_bounds.js";
import { type CatalogState, catalogState } from "../../engine/schema/catalog_schema.js";
import { judgeMigrations } from "../../engine/schema/diagnosis.js";
import { migrate, schemaState } from "../../engine/schema/migrate.js";
import { type MigrationPlan, migrationPlan, type TableSize } from "../../engine/schema/migration_plan.js";
import { answer, type Cli } from "../terminal/command.js";
import { exit_codes } from "../terminal/failure.js";
import { bytes, count } from "../terminal/figures.js";
import { configOf, sayOpening } from "../terminal/session.js";

interface MigrateFlags {
  status?: boolean;
  check?: boolean;
  plan?: boolean;
  force?: boolean;
}

export function addMigrate(cli: Cli): void {
  cli.program
    .command("migrate")
    .summary("bring the database's schema up to date")
    .description(
      "Brings the schema up to this version, in one transaction. Safe to run twice and from several machines at once.\n" +
        "Needs a role that may create roles and schemas; run the workers with another one.",
    )
    .option("--status", "only say what is pending (exit 1 when something is)")
    .option("--check", "the same, for scripts and deployments: 0 nothing is pending, 1 something is")
    .option(
      "--plan",
      "only say what would be applied, and which tables that locks, rewrites or reads, and how large they are",
    )
    .option("--force", "also take away what live workers of older releases still need")
    .examples(
      "fanfold migrate --check",
      "fanfold migrate --plan",
      "fanfold migrate --database-url postgres://admin@db/maps",
    )
    .action(async (options: MigrateFlags) => {
      const config = configOf(cli);
      const opened = await openBare(cli, config);
      try {
        if (options.plan) await showPlan(cli, opened.db);
        else if (options.status || options.check) await showState(cli, opened.db, config);
        else await bringUp(cli, opened.db, config, options.force);
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

async function showPlan(cli: Cli, db: Database): Promise<void> {
  const plan = await db.transaction((tx) => migrationPlan(tx));
  answer(cli, plan, () => planLines(plan));
}

function* planLines({ migrations, functions, locked }: MigrationPlan): Generator<string> {
  if (migrations.length + functions.length === 0) yield "nothing is pending";
  for (const { migration, tables, contract, has_built_statements } of migrations) {
    yield `apply     ${migration}`;
    for (const one of tables) yield `  ${one.effect.padEnd(10)} ${sized(one)}`;
    if (has_built_statements) yield "  and what statements that it builds as it runs do";
    if (contract === null) continue;
    yield `  needs workers of ${contract.release} or later`;
    for (const { worker_id, host, version } of contract.older_workers)
      yield `  refused while  ${worker_id} lives, on ${host ?? "an unknown host"} of ${version ?? "an unknown release"}`;
  }
  if (functions.length > 0) yield `replace   ${count(functions.length)} functions`;
  if (locked.length === 0) return;
  const total = locked.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  yield `locked    ${count(locked.length)} tables (${bytes(total)}) from the first change to the commit, the largest of them`;
  for (const one of locked.slice(0, 5)) yield `  ${sized(one)}`;
}

function sized({ table, size_bytes, rows }: TableSize): string {
  return `${table}  ${bytes(size_bytes)}${rows === null ? "" : `, about ${count(rows)} rows`}`;
}

async function bringUp(cli: Cli, db: Database, { catalog: choice }: Config, force = false): Promise<void> {
  const { applied, functions, version, catalog } = await migrate(db, { catalog: choice, force });
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
