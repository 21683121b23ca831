// What `fanfold doctor` and the preflight of the server make of a database: facts in, findings out, each with what to do. But for
// examineDatabase, which gathers the facts, pure.
import { performance } from "node:perf_hooks";
import type { Action } from "../../core/shown/action.js";
import { count, seconds } from "../../core/shown/figures.js";
import type { Database } from "../database/database.js";
import type { WayFacts } from "../database/server_way.js";
import type { PlaceProof } from "../upkeep/file_proof.js";
import { type CatalogChoice, type CatalogState, catalogState } from "./catalog_schema.js";
import { schemaState } from "./migrate.js";
import { failureOfPgstac, pgstac_fix } from "./pgstac_schema.js";
import {
  readSchemaFacts,
  readServerFacts,
  readWorkerFacts,
  type SchemaFacts,
  type ServerFacts,
  type WorkerFacts,
} from "./server_facts.js";
import { howToMap, serverRoleSql, sqlName } from "./server_role.js";

export interface CheckResult {
  name: string;
  level: "ok" | "warn" | "fail";
  message: string;
  /** What to do; absent when all is well. */
  fix?: string;
  /** The same as data, where it is one command. */
  action?: Action | undefined;
}

const ok = (name: string, message: string): CheckResult => ({ name, level: "ok", message });
const wrong = (level: CheckResult["level"]) => (name: string, message: string, fix: string, action?: Action) =>
  ({ name, level, message, fix, action }) satisfies CheckResult;
const warn = wrong("warn");
const fail = wrong("fail");
const run_migrate = ["run: fanfold migrate", { verb: "migrate" }] as const;

/** `sees_workers`: the role may know how many there are. */
export async function examineDatabase(
  db: Database,
  { sees_workers = false, catalog }: { sees_workers?: boolean; catalog?: CatalogChoice } = {},
): Promise<CheckResult[]> {
  const { kind } = db;
  const [asked, started] = [Date.now(), performance.now()];
  const facts = await readServerFacts(db);
  const round_trip_ms = performance.now() - started;
  const way = await wayOf(db);
  const findings = judgeServer(facts, { kind, way, asked_at_ms: asked + round_trip_ms / 2, round_trip_ms });
  if (!facts.may_use_schema) return findings;
  findings.push(judgeMigrations(await schemaState(db)));
  if (!facts.has_schema) return findings;
  if (catalog !== undefined && catalog !== "off") {
    const state = await catalogState(db, { choice: catalog });
    const failed = state.pgstac === null || state.pending.length > 0 ? null : await failureOfPgstac(db);
    findings.push(judgeCatalog(state, kind, failed));
  }
  const schema = await readSchemaFacts(db);
  findings.push(...judgeSchema(schema, kind));
  const sees_all = sees_workers || facts.is_superuser || facts.is_owner || schema.mapping === "server";
  // For the command line the embedded database is held by this very process, so that no worker can be live on it.
  if (kind === "server" || sees_workers) findings.push(judgeWorkers(sees_all ? await readWorkerFacts(db) : null));
  return findings;
}

/** Whether NOTIFY arrives is tried, unless that is known. */
async function wayOf(db: Database): Promise<WayFacts | null> {
  const way = db.way?.() ?? null;
  if (way === null || way.hears !== null) return way;
  const listener = await db.listen("fanfold_ready", () => {}).catch(() => null);
  await listener?.stop();
  return way;
}

/** A whole Fanfold has none unless it is asked to catalogue: what is missing is no failure. */
export function judgeCatalog(state: CatalogState, kind: Database["kind"], failed: string | null = null): CheckResult {
  const { obstacle, pending, postgis, pgstac, pgstac_refused, database_version } = state;
  if (obstacle !== null && kind === "embedded")
    return ok(
      "catalogue",
      "none; the embedded database gets one with the first raster job submitted here, or with FANFOLD_CATALOG=stac",
    );
  if (obstacle !== null) return warn("catalogue", obstacle.problem, obstacle.fix);
  if (database_version === null) return warn("catalogue", "not installed in this database", ...run_migrate);
  if (pending.length > 0) return fail("catalogue", `${count(pending.length)} changes pending`, ...run_migrate);
  if (failed !== null)
    return fail("catalogue", `no item can be written into pgSTAC ${pgstac}: ${failed}`, ...run_migrate);
  if (pgstac_refused !== null)
    return warn("catalogue", `built in, on PostGIS ${postgis}; ${pgstac_refused}`, pgstac_fix);
  return ok(
    "catalogue",
    pgstac === null ? `built in, on PostGIS ${postgis}` : `pgSTAC ${pgstac}, on PostGIS ${postgis}`,
  );
}

export function judgeNode(version: string): CheckResult {
  const major = Number(/^v?(\d+)/.exec(version)?.[1]);
  if (major >= 20) return ok("node", `Node ${version}`);
  return fail("node", `Node ${version} is too old`, "install Node 20 or later");
}

export interface ServerContext {
  kind: "server" | "embedded";
  /** How it is reached; null for the embedded one. */
  way: WayFacts | null;
  /** The middle of the question and its answer, by this machine's clock. */
  asked_at_ms: number;
  round_trip_ms: number;
}

export function judgeServer(facts: ServerFacts, context: ServerContext): CheckResult[] {
  const findings = [judgeVersion(facts), judgeClock(facts, context)];
  const { way } = context;
  if (way !== null) findings.push(judgeWay(way), judgeConnections(facts, way), judgeRights(facts));
  findings.push(judgeRoles(facts));
  return findings;
}

function judgeVersion(facts: ServerFacts): CheckResult {
  if (facts.version_num >= 150_000) return ok("version", `Postgres ${facts.version}`);
  return fail("version", `Postgres ${facts.version} is too old`, "use Postgres 15 or later");
}

function judgeClock(facts: ServerFacts, context: ServerContext): CheckResult {
  const offset_s = (facts.now.getTime() - context.asked_at_ms) / 1000;
  const text = `the database's clock is ${seconds(Math.abs(offset_s))} ${offset_s < 0 ? "behind" : "ahead of"} this machine's`;
  // The answer cannot be truer than the time it took.
  if (Math.abs(offset_s) * 1000 <= Math.max(2000, context.round_trip_ms)) return ok("clock", text);
  return warn(
    "clock",
    text,
    "only the database's clock counts for Fanfold, but times in logs will not match: set up NTP",
  );
}

function judgeWay({ pooled, prepares, takes_settings, hears }: WayFacts): CheckResult {
  const parts = [
    pooled ? "a connection pooler stands before the server" : "no connection pooler",
    prepares ? "statements are prepared" : "no statement is prepared",
    hears ? "NOTIFY arrives" : "NOTIFY does not arrive: new tasks are looked for every 100 to 200 ms",
    ...(takes_settings
      ? []
      : ["the times that a statement and a lock may take hold within transactions, else the role's"]),
  ];
  if (hears) return ok("pooler", parts.join("; "));
  return warn(
    "pooler",
    parts.join("; "),
    "let FANFOLD_LISTEN_URL name the server's own address, or that of a pooler in session mode",
  );
}

function judgeConnections(facts: ServerFacts, { pooled }: WayFacts): CheckResult {
  const usable = facts.max_connections - facts.reserved_connections;
  const budget = Math.floor(facts.max_connections / 2);
  const rule = pooled
    ? "behind the pooler, workers and servers share those that it opens"
    : `all workers together should stay under ${count(budget)} (4 each)`;
  const text = `${count(facts.used_connections)} of ${count(usable)} connections in use; ${rule}`;
  if (facts.used_connections < budget) return ok("connections", text);
  const fix = pooled
    ? "raise max_connections, or lower the pooler's default_pool_size"
    : "raise max_connections, put PgBouncer in front, or run fewer workers with more slots each";
  return facts.used_connections < usable - 4 ? warn("connections", text, fix) : fail("connections", text, fix);
}

function judgeRights(facts: ServerFacts): CheckResult {
  const text = `connected as "${facts.session_user}"`;
  if (!facts.may_use_schema) {
    const role = sqlName(facts.session_user);
    const fix = `as an administrator: grant fanfold_api, fanfold_worker to ${role}; ${howToMap(facts.session_user)}`;
    return fail("login", `${text}, which has no right to use Fanfold's schema`, fix);
  }
  if (!facts.is_superuser && !facts.is_owner) return ok("login", text);
  return warn(
    "login",
    `${text}, ${facts.is_superuser ? "a superuser" : "an owner of the tables"}: row-level security does not hold for it`,
    `migrate with it, but serve and work as a role beside it: ${serverRoleSql(facts.server_role_exists)}`,
  );
}

function judgeRoles(facts: ServerFacts): CheckResult {
  if (facts.missing_roles.length === 0)
    return ok("roles", "fanfold_owner, fanfold_api, fanfold_worker and fanfold_admin exist");
  return fail("roles", `missing: ${facts.missing_roles.join(", ")}`, ...run_migrate);
}

export interface SchemaVersions {
  database_version: number | null;
  code_version: number;
  pending: readonly string[];
}

export function judgeMigrations(state: SchemaVersions): CheckResult {
  const at = state.database_version;
  if (at !== null && at > state.code_version) {
    return fail(
      "schema",
      `the database is at version ${at}, newer than this fanfold's ${state.code_version}`,
      "update fanfold",
    );
  }
  if (at === null || at === 0) return fail("schema", "not installed in this database", ...run_migrate);
  if (state.pending.length === 0) return ok("schema", `version ${at}, current`);
  const few = state.pending.slice(0, 3).join(", ");
  const text = `version ${at}, ${count(state.pending.length)} changes pending (${few}${state.pending.length > 3 ? ", …" : ""})`;
  return fail("schema", text, ...run_migrate);
}

export function judgeSchema(facts: SchemaFacts, kind: "server" | "embedded"): CheckResult[] {
  const findings: CheckResult[] = [];
  const open = [...facts.tables_without_security, ...facts.tables_without_force];
  const what = "row-level security";
  if (open.length === 0) findings.push(ok("row_security", `${what} is enabled and forced on every table`));
  else
    findings.push(fail("row_security", `${what} is not enabled and forced on ${open.join(", ")}`, securityFix(open)));
  if (kind === "server") findings.push(judgeTenant(facts), judgeBounds(facts));
  return findings;
}

/** Judges the bounds of the role's sessions: Fanfold's own say more themselves, unless a pooler takes nothing of it. */
function judgeBounds({ role, database, unset_bounds }: SchemaFacts): CheckResult {
  if (unset_bounds.length === 0) return ok("bounds", "sessions of this role are bounded in time and space");
  const names = unset_bounds.map(({ name }) => name).join(", ");
  const set = unset_bounds.map(({ name, value }) => {
    return `alter role ${sqlName(role)} in database ${sqlName(database)} set ${name} = '${value}';`;
  });
  return warn("bounds", `sessions of this role start without ${names}`, `as a superuser: ${set.join(" ")}`);
}

function securityFix(tables: readonly string[]): string {
  return `alter table app.${tables[0]} enable row level security, force row level security; and find out who changed it`;
}

function judgeTenant(facts: SchemaFacts): CheckResult {
  if (facts.mapping === "tenant") return ok("tenant", `this role acts for tenant "${facts.mapped_tenant}"`);
  if (facts.mapping === "server") return ok("tenant", "this role may act for every tenant (--tenant names one)");
  return fail(
    "tenant",
    "this role is mapped to no tenant, so it sees and writes nothing",
    `as an administrator: ${howToMap(facts.role)}`,
  );
}

/** null: a tenant's role is not told how many workers serve all. */
export function judgeWorkers(facts: WorkerFacts | null): CheckResult {
  if (facts === null) return ok("workers", "not counted for this role; those that serve its tenant: fanfold workers");
  if (facts.live === 0) return warn("workers", "no live worker: submitted jobs wait", "start one: fanfold up");
  const silent = facts.silent > 0 ? `, ${count(facts.silent)} silent for longer than their lease` : "";
  return ok("workers", `${count(facts.live)} live with ${count(facts.slots)} slots${silent}`);
}

/** Null: nothing to say, because the embedded database keeps a key of its own. */
export function judgeSecretKey(kind: "server" | "embedded", keys: number): CheckResult | null {
  if (kind === "embedded") return null;
  if (keys > 0) return ok("secret_key", "FANFOLD_SECRET_KEY is set");
  return warn("secret_key", no_secret_key.what, no_secret_key.fix);
}

export const no_secret_key = {
  what: "FANFOLD_SECRET_KEY is not set: secrets that are made for webhooks can be neither kept nor opened",
  fix: "make one (openssl rand -base64 32) and give the same to every server and worker",
};

interface ZoneTrouble {
  step: "reach" | "write";
  why: string;
  hint: string | null;
}

/** Bronze may be somebody else's, and only to be read; jobs write to the others. */
export function judgeZone(
  zone: string,
  { kind, place }: { kind: string; place: string },
  trouble: ZoneTrouble | null,
): CheckResult {
  const name = `zone ${zone}`;
  if (trouble === null) return ok(name, `${place} (${kind}) can be reached and written`);
  const fix = trouble.hint ?? `check FANFOLD_ZONE_${zone.toUpperCase()} and the credentials`;
  if (trouble.step === "reach") return fail(name, `${place} (${kind}) cannot be reached: ${trouble.why}`, fix);
  const text = `${place} (${kind}) can be reached but not written: ${trouble.why}`;
  return zone === "bronze"
    ? warn(name, text, "fine, if no files are put there through fanfold")
    : fail(name, text, fix);
}

/** Judges whether this machine sees the same files as the others that use the place. */
export function judgeProof({ place, seen_as, state, others, why }: PlaceProof, setting: string): CheckResult {
  const name = `files ${place}`;
  if (state === "same") return ok(name, `${seen_as} is what the others see`);
  if (state === "away")
    return warn(name, `${seen_as} cannot be compared: ${why}`, `check ${setting} and the credentials`);
  if (state !== "other" || others === null) return ok(name, `no worker has left its token in ${seen_as} yet`);
  const text = `${seen_as} is not what ${others.written_by} uses as ${others.seen_as}`;
  return fail(name, text, `mount or name the same place for all (${setting}), or: fanfold files prove --renew`);
}

/** The first files that jobs delivered: when these are gone, so are others. */
export function judgeDelivered(looked: number, problems: readonly string[]): CheckResult {
  const name = "deliveries";
  if (problems.length === 0)
    return ok(name, `the first ${count(looked)} recorded files are there and have their sizes`);
  const text = `${count(problems.length)} of the first ${count(looked)} recorded files are not as recorded: ${problems.slice(0, 3).join("; ")}`;
  return fail(name, text, "fanfold verify <job> tells which tasks make them again; fanfold reconcile finds all");
}

/** What would keep isolated handlers from their worker, were one started here as this user. */
export function judgeIsolation(
  choice: "auto" | "own" | "same",
  fence: { kind: "user" | "namespace" | "none"; why: string },
  words: string,
): CheckResult {
  const name = "isolation";
  const text = fence.why === "" ? words : `${words} (${fence.why})`;
  if (choice === "own" && fence.kind !== "user") {
    return fail(name, text, "start the worker as root, or choose another FANFOLD_ISOLATION_USER");
  }
  if (choice === "auto" && fence.kind === "none") {
    return warn(name, text, "fine, if you trust them; else docs/handlers.md says what they can reach");
  }
  return ok(name, text);
}

/** Judges where large results go, which every task may have. */
export function judgeStorage(
  { kind, place }: { kind: string; place: string },
  trouble: ZoneTrouble | null,
): CheckResult {
  if (trouble === null)
    return ok("storage", kind === "disk" ? `${place} is writable` : `${place} (${kind}) is writable`);
  const fix = trouble.hint ?? "check FANFOLD_STORAGE_DIR and the credentials";
  return fail("storage", `${place}: ${trouble.why}`, fix);
}
