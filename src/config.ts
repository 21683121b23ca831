// The only reader of the environment. Everything that can be set is in one table with its one default; what is wrong is
// reported all at once. Flags of the command line win over the environment.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Retry } from "./core/declare/retry.js";
import { BadRequest } from "./core/errors/errors.js";
import { type Problem, quoted, suggestion } from "./core/errors/problems.js";
import type { OutboundPolicy } from "./core/places/outbound.js";
import type { ZoneName } from "./core/places/zones.js";
import {
  type CatalogSetting,
  catalog_settings,
  default_raster_settings,
  type RasterEngineChoice,
  raster_engines,
} from "./core/task/raster_settings.js";
import {
  type Config,
  type ConfigFlags,
  type JwtSettings,
  type LogLevel,
  log_levels,
  type RasterConfig,
} from "./core/values/config_shape.js";
import {
  type Answer,
  oneOf,
  readAlgorithms,
  readCallUrl,
  readEndpoint,
  readHost,
  readHours,
  readKeys,
  readKeysUrl,
  readLargest,
  readLease,
  readList,
  readMegabytes,
  readMemory,
  readNames,
  readOrigins,
  readPort,
  readPrepare,
  readProxies,
  readPublicUrl,
  readRetryText,
  readSlots,
  readSwitch,
  readTenant,
  readText,
  readToken,
  readUrl,
  readWait,
  readZone,
  type TrustedProxies,
  uploadLimits,
} from "./core/values/setting_values.js";
import { readVault, type VaultPlace, vaultConfig } from "./core/values/vault_setting.js";
import { azureCredentials, given, s3Settings } from "./core/values/zone_settings.js";

export type {
  Config,
  ConfigFlags,
  JwtSettings,
  LogLevel,
  RasterConfig,
  ZonesConfig,
} from "./core/values/config_shape.js";

interface Setting<T> {
  name: string;
  initial: T;
  read(text: string): Answer<T>;
}

const settings = {
  database_url: setting<string | undefined>("DATABASE_URL", undefined, readUrl),
  data_dir: setting("FANFOLD_DATA_DIR", ".fanfold", readText),
  storage_dir: setting<string | undefined>("FANFOLD_STORAGE_DIR", undefined, readZone),
  zone_bronze: setting<string | undefined>("FANFOLD_ZONE_BRONZE", undefined, readZone),
  zone_silver: setting<string | undefined>("FANFOLD_ZONE_SILVER", undefined, readZone),
  zone_gold: setting<string | undefined>("FANFOLD_ZONE_GOLD", undefined, readZone),
  s3_endpoint: setting<string | undefined>("FANFOLD_S3_ENDPOINT", undefined, readEndpoint),
  s3_path_style: setting<boolean | undefined>("FANFOLD_S3_PATH_STYLE", undefined, readSwitch),
  azure_endpoint: setting<string | undefined>("FANFOLD_AZURE_ENDPOINT", undefined, readEndpoint),
  leftovers_after_h: setting("FANFOLD_LEFTOVERS_AFTER_H", 24, readHours),
  upload_max_mb: setting("FANFOLD_UPLOAD_MAX_MB", 20_480, readLargest),
  upload_tenant_mb: setting("FANFOLD_UPLOAD_TENANT_MB", 204_800, readMegabytes),
  cors_origins: setting<string[]>("FANFOLD_CORS_ORIGINS", [], readOrigins),
  tenant: setting("FANFOLD_TENANT", "default", readTenant),
  log_level: setting<LogLevel>("FANFOLD_LOG_LEVEL", "info", oneOf(log_levels, "a level")),
  prepare: setting<boolean | "auto">("FANFOLD_PREPARE", "auto", readPrepare),
  listen_url: setting<string | undefined>("FANFOLD_LISTEN_URL", undefined, readUrl),
  slots: setting("FANFOLD_SLOTS", 8, readSlots),
  lease_s: setting<number | undefined>("FANFOLD_LEASE_S", undefined, readLease),
  wait_for_database_s: setting("FANFOLD_WAIT_FOR_DATABASE_S", 60, readWait),
  worker_memory_mb: setting<number | undefined>("FANFOLD_WORKER_MEMORY_MB", undefined, readMemory),
  isolation_user: setting<Config["isolation_user"]>(
    "FANFOLD_ISOLATION_USER",
    "auto",
    oneOf(["auto", "own", "same"], "a choice"),
  ),
  retry: setting<Retry | undefined>("FANFOLD_RETRY", undefined, readRetryText),
  on_alert: setting<string | undefined>("FANFOLD_ON_ALERT", undefined, readCallUrl),
  host: setting("FANFOLD_HOST", "127.0.0.1", readHost),
  port: setting("FANFOLD_PORT", 8080, readPort),
  debug: setting("FANFOLD_DEBUG", false, readSwitch),
  metrics_token: setting<string | undefined>("FANFOLD_METRICS_TOKEN", undefined, readToken),
  trust_proxy: setting<TrustedProxies>("FANFOLD_TRUST_PROXY", 0, readProxies),
  signed_for_h: setting("FANFOLD_SIGNED_FOR_H", 12, readHours),
  open_layers: setting<string | undefined>("FANFOLD_OPEN_LAYERS", undefined, readTenant),
  public_url: setting<string | undefined>("FANFOLD_PUBLIC_URL", undefined, readPublicUrl),
  api_key: setting<string | undefined>("FANFOLD_KEY", undefined, readText),
  jwt_issuer: setting<string | undefined>("FANFOLD_JWT_ISSUER", undefined, readText),
  jwt_audience: setting<string[] | undefined>("FANFOLD_JWT_AUDIENCE", undefined, readNames),
  jwt_algorithms: setting<string[]>("FANFOLD_JWT_ALGORITHMS", ["RS256", "ES256", "EdDSA"], readAlgorithms),
  jwt_jwks_url: setting<string | undefined>("FANFOLD_JWT_JWKS_URL", undefined, readKeysUrl),
  jwt_jwks_file: setting<string | undefined>("FANFOLD_JWT_JWKS_FILE", undefined, readText),
  jwt_tenant_claim: setting("FANFOLD_JWT_TENANT_CLAIM", "tenant", readText),
  jwt_scope_claim: setting("FANFOLD_JWT_SCOPE_CLAIM", "scope", readText),
  jwt_scope_prefix: setting("FANFOLD_JWT_SCOPE_PREFIX", "fanfold:", readText),
  secrets_dir: setting<string | undefined>("FANFOLD_SECRETS_DIR", undefined, readText),
  vault: setting<VaultPlace | undefined>("FANFOLD_VAULT", undefined, readVault),
  vault_token_file: setting<string | undefined>("FANFOLD_VAULT_TOKEN_FILE", undefined, readText),
  secret_keys: setting<readonly Uint8Array[]>("FANFOLD_SECRET_KEY", [], readKeys),
  catalog: setting<CatalogSetting>("FANFOLD_CATALOG", "auto", oneOf(catalog_settings, "a catalogue")),
  outbound_http: setting("FANFOLD_OUTBOUND_ALLOW_HTTP", false, readSwitch),
  outbound_private: setting(
    "FANFOLD_OUTBOUND_ALLOW_PRIVATE",
    [],
    readList((list) => ({ allow_private: list })),
  ),
  outbound_hosts: setting(
    "FANFOLD_OUTBOUND_ALLOW_HOSTS",
    [],
    readList((list) => ({ allow_hosts: list })),
  ),
  outbound_names: setting(
    "FANFOLD_OUTBOUND_ALLOW_NAMES",
    [],
    readList((list) => ({ allow_names: list })),
  ),
  outbound_ports: setting(
    "FANFOLD_OUTBOUND_PORTS",
    [],
    readList((list) => ({ ports: list.map(Number) })),
  ),
  outbound_resolver: setting<string | undefined>("FANFOLD_OUTBOUND_RESOLVER", undefined, readText),
  outbound_ca: setting<string | undefined>("FANFOLD_OUTBOUND_CA_FILE", undefined, readCertificates),
  raster_engine: setting<RasterEngineChoice>("FANFOLD_RASTER_ENGINE", "auto", oneOf(raster_engines, "a raster engine")),
  source_cache_mb: setting("FANFOLD_SOURCE_CACHE_MB", 10_240, readMegabytes),
  source_max_mb: setting("FANFOLD_SOURCE_MAX_MB", 16_384, readLargest),
};

/** FANFOLD_SECRET_<TENANT>__<NAME>: secrets of tenants, told to their tasks by name. */
const tenant_secret = /^FANFOLD_SECRET_[A-Z0-9_]+?__[A-Z0-9_]+$/;

const fault_name = "FANFOLD_FAULTS";
/** Read by tests and the benchmark, not by the program. */
const other_names = [
  fault_name,
  "FANFOLD_TEST_PG",
  "FANFOLD_TEST_POOLER",
  "FANFOLD_TEST_SEED",
  "FANFOLD_TEST_SOAK",
  "FANFOLD_TEST_SOAK_MINUTES",
  "FANFOLD_WRITE_DOCS",
  "FANFOLD_SHOTS",
];

const package_file = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
export const package_version: string = package_file.version;

/** What a worker looks for secrets in, unless it is told otherwise. */
export function secretsFromEnvironment(env: Environment = process.env) {
  return { dir: env[settings.secrets_dir.name]?.trim() || undefined, env: (name: string) => env[name] };
}

/** What a worker takes for raster work, unless it is told otherwise. */
export function rasterFromEnvironment(env: Environment = process.env): RasterConfig {
  const read = <T>(one: Setting<T>): T => orInitial(one, env);
  return {
    engine: read(settings.raster_engine),
    source_cache_mb: read(settings.source_cache_mb),
    source_max_mb: read(settings.source_max_mb),
    catalog: read(settings.catalog),
    ...gdalPlaces(env),
  };
}

/** How a worker has failed tasks tried again, unless it is told otherwise. */
export function retryFromEnvironment(env: Environment = process.env): Retry | undefined {
  return orInitial(settings.retry, env);
}

function orInitial<T>(one: Setting<T>, env: Environment): T {
  const text = env[one.name]?.trim() ?? "";
  const answer = text === "" ? null : one.read(text);
  return answer !== null && "value" in answer ? answer.value : one.initial;
}

/** GDAL gets an environment of its own; of this one it needs no more than where it was put. */
function gdalPlaces(env: Environment): Pick<RasterConfig, "path" | "env"> {
  const names = ["GDAL_DATA", "PROJ_DATA", "PROJ_LIB", "LD_LIBRARY_PATH"];
  const given = names.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  return { path: env.PATH || default_raster_settings.path, env: Object.fromEntries(given) };
}

/** For fault.ts, which must know before anything is configured. */
export const fault_setting = process.env[fault_name] ?? "";

export type Environment = Readonly<Record<string, string | undefined>>;

/** This process's environment, for the command line to hand on. */
export function environment(): Environment {
  return process.env;
}

/** Ways into zones, whether one uses them or not: isolated handlers reach zones through the worker. And every name of a secret. */
const cloud_name = /^(AWS_(?!REGION$|DEFAULT_REGION$)|AZURE_|IDENTITY_|VAULT_|FANFOLD_VAULT|FANFOLD_SECRET)/;
/** Addresses of databases under any name, and what libpq and the usual images read. */
const secret_name = /^(PG|POSTGRES)/;
const secret_value = /^\s*(jdbc:)?postg(res|is)[a-z0-9+.]*:\/\//i;

/**
 * For the processes of isolated handlers: everything but the way into a database, secrets, and the faults of tests. These are empty
 * rather than absent, because a file of variables that is loaded there fills in what is absent.
 */
export function environmentForHandlers(env: Environment = process.env): Environment {
  const own = [
    settings.api_key,
    settings.secrets_dir,
    settings.secret_keys,
    settings.metrics_token,
    settings.on_alert,
  ].map(({ name }) => name);
  const hidden: ReadonlySet<string> = new Set(["FANFOLD_DATABASE_URL", fault_name, ...own]);
  const isHidden = (name: string, value = "") =>
    hidden.has(name) ||
    cloud_name.test(name) ||
    secret_name.test(name) ||
    tenant_secret.test(name) ||
    secret_value.test(value);
  const handed = Object.entries(env).map(([name, value]) => [name, isHidden(name, value) ? "" : value]);
  return { ...Object.fromEntries(handed), [settings.database_url.name]: "" };
}

export function loadConfig(env: Environment = process.env, flags: ConfigFlags = {}): Config {
  const problems: Problem[] = unknownNames(env);
  const value = <T>(one: Setting<T>, flag?: NoInfer<T> | undefined): T => {
    const text = env[one.name]?.trim();
    if (flag !== undefined) return checked(one, String(flag), problems, flag);
    // An empty variable is how a shell or a compose file says "not set".
    return text === undefined || text === "" ? one.initial : checked(one, text, problems, one.initial);
  };
  /** Only what is set: what is not is the worker's to know. */
  const outbound = (): Partial<OutboundPolicy> => {
    const given = {
      allow_private: value(settings.outbound_private),
      allow_hosts: value(settings.outbound_hosts),
      allow_names: value(settings.outbound_names),
      ports: value(settings.outbound_ports).map(Number),
    };
    const resolver = value(settings.outbound_resolver);
    const allow_http = value(settings.outbound_http);
    const ca = value(settings.outbound_ca);
    return {
      ...Object.fromEntries(Object.entries(given).filter(([, list]) => list.length > 0)),
      ...(allow_http ? { allow_http } : {}),
      ...(resolver === undefined ? {} : { resolver }),
      ...(ca === undefined ? {} : { ca }),
    };
  };
  const data_dir = value(settings.data_dir, flags.data_dir);
  const files_dir = data_dir === memory_dir ? settings.data_dir.initial : data_dir;
  const zoneAt = (zone: ZoneName) => value(settings[`zone_${zone}`]) ?? join(files_dir, "zones", zone);
  const config: Config = {
    database_url: value(settings.database_url, flags.database_url),
    data_dir,
    database_dir: data_dir === memory_dir ? memory_dir : join(data_dir, "database"),
    storage_dir: value(settings.storage_dir, flags.storage_dir) ?? join(files_dir, "storage"),
    zones: {
      bronze: zoneAt("bronze"),
      silver: zoneAt("silver"),
      gold: zoneAt("gold"),
      s3: s3Settings(env, value(settings.s3_endpoint), value(settings.s3_path_style)),
      azure: {
        ...given("endpoint", value(settings.azure_endpoint)),
        credentials: () => azureCredentials(env),
      },
    },
    leftovers_after_h: value(settings.leftovers_after_h),
    uploads: uploadLimits(value(settings.upload_max_mb), value(settings.upload_tenant_mb)),
    cors_origins: value(settings.cors_origins),
    tenant: value(settings.tenant, flags.tenant),
    log_level: value(settings.log_level),
    prepare: value(settings.prepare),
    listen_url: value(settings.listen_url),
    slots: value(settings.slots, flags.slots),
    lease_s: value(settings.lease_s, flags.lease_s),
    wait_for_database_s: value(settings.wait_for_database_s, flags.wait_for_database_s),
    worker_memory_mb: value(settings.worker_memory_mb, flags.worker_memory_mb),
    isolation_user: value(settings.isolation_user),
    retry: value(settings.retry),
    on_alert: value(settings.on_alert),
    host: value(settings.host, flags.host),
    port: value(settings.port, flags.port),
    port_is_chosen: flags.port !== undefined || (env[settings.port.name]?.trim() ?? "") !== "",
    debug: value(settings.debug),
    metrics_token: value(settings.metrics_token),
    trust_proxy: value(settings.trust_proxy),
    public_url: value(settings.public_url),
    signed_for_h: value(settings.signed_for_h),
    open_layers: value(settings.open_layers),
    api_key: value(settings.api_key),
    jwt: jwtSettings(env, value, problems),
    secrets_dir: value(settings.secrets_dir),
    vault: vaultConfig(env, value(settings.vault), value(settings.vault_token_file)),
    secret_keys: value(settings.secret_keys),
    catalog: value(settings.catalog),
    outbound: outbound(),
    raster: {
      engine: value(settings.raster_engine),
      source_cache_mb: value(settings.source_cache_mb),
      source_max_mb: value(settings.source_max_mb),
      catalog: value(settings.catalog),
      ...gdalPlaces(env),
    },
  };
  if (problems.length > 0) throw new BadRequest("the configuration has problems", { problems });
  return Object.freeze(config);
}

/** Half of it set is a mistake: a service that was meant to take tokens must not start without. */
function jwtSettings(env: Environment, value: <T>(one: Setting<T>) => T, problems: Problem[]): JwtSettings | null {
  const is_set = (one: { name: string }) => (env[one.name]?.trim() ?? "") !== "";
  const any = Object.entries(settings).some(([name, one]) => name.startsWith("jwt_") && is_set(one));
  if (!any) return null;
  const url = is_set(settings.jwt_jwks_url);
  const file = is_set(settings.jwt_jwks_file);
  const missing = (name: string, fix: string) =>
    problems.push({ path: name, problem: "is needed to take tokens", fix });
  if (!is_set(settings.jwt_issuer)) missing(settings.jwt_issuer.name, "the `iss` of the provider's tokens");
  if (!is_set(settings.jwt_audience)) missing(settings.jwt_audience.name, "the `aud` of tokens meant for this service");
  if (!url && !file) missing(settings.jwt_jwks_url.name, "https://…/jwks.json, or FANFOLD_JWT_JWKS_FILE");
  if (url && file) {
    const problem = "is given together with FANFOLD_JWT_JWKS_FILE";
    problems.push({ path: settings.jwt_jwks_url.name, problem, fix: "give one of the two" });
  }
  return Object.freeze({
    issuer: value(settings.jwt_issuer) ?? "",
    audience: value(settings.jwt_audience) ?? [],
    algorithms: value(settings.jwt_algorithms),
    jwks_url: value(settings.jwt_jwks_url) ?? null,
    jwks_file: value(settings.jwt_jwks_file) ?? null,
    tenant_claim: value(settings.jwt_tenant_claim),
    scope_claim: value(settings.jwt_scope_claim),
    scope_prefix: value(settings.jwt_scope_prefix),
  });
}

const memory_dir = "memory://";

function setting<T>(name: string, initial: T, read: Setting<T>["read"]): Setting<T> {
  return { name, initial, read };
}

function checked<T>(one: Setting<T>, text: string, problems: Problem[], otherwise: T): T {
  const answer = one.read(text);
  if ("value" in answer) return answer.value;
  problems.push({ path: one.name, ...answer });
  return otherwise;
}

/** A misspelt name would otherwise be a setting that silently does nothing. */
function unknownNames(env: Environment): Problem[] {
  const known = [...Object.values(settings).map(({ name }) => name), ...other_names];
  return Object.keys(env)
    .filter((name) => name.startsWith("FANFOLD_") && !known.includes(name) && !tenant_secret.test(name))
    .sort()
    .map((name) => ({ path: name, problem: "there is no such setting", fix: suggestion(name, known) }));
}

/** The text of a file of certificates. */
function readCertificates(path: string): Answer<string> {
  const fix = "the path of a file with certificates in PEM: -----BEGIN CERTIFICATE-----";
  try {
    const text = readFileSync(path, "utf8");
    if (/-----BEGIN CERTIFICATE-----/.test(text)) return { value: text };
    return { problem: `${quoted(path)} holds no certificate`, fix };
  } catch (error) {
    return { problem: `${quoted(path)} cannot be read (${(error as NodeJS.ErrnoException).code})`, fix };
  }
}
