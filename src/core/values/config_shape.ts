// What can be configured, and what the command line may set of it. Read by src/config.ts. Pure.
import type { Retry } from "../declare/retry.js";
import type { OutboundPolicy } from "../places/outbound.js";
import type { ZoneName } from "../places/zones.js";
import type { CatalogSetting, RasterEngineChoice } from "../task/raster_settings.js";
import type { TrustedProxies } from "./setting_values.js";
import type { VaultConfig } from "./vault_setting.js";

export const log_levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof log_levels)[number];

export interface Config {
  /** A Postgres server; without it the embedded database in `data_dir`. */
  readonly database_url: string | undefined;
  readonly data_dir: string;
  /** Where in `data_dir` the embedded database is. */
  readonly database_dir: string;
  readonly storage_dir: string;
  /** Where the zones are, and how to reach what is not on disk. */
  readonly zones: ZonesConfig;
  /** Files that attempts left behind are removed when they are so old. */
  readonly leftovers_after_h: number;
  /** What clients may bring over HTTP: bytes of one file, and of all that a tenant has brought. */
  readonly uploads: { readonly max_bytes: number; readonly tenant_bytes: number };
  /** Web pages of these origins may read files under /assets; "*": of any. */
  readonly cors_origins: readonly string[];
  readonly tenant: string;
  readonly log_level: LogLevel;
  /** Whether statements are prepared; "auto": unless a connection pooler stands before the server. */
  readonly prepare: boolean | "auto";
  /** Where NOTIFY arrives, when DATABASE_URL leads through a pooler in transaction mode. */
  readonly listen_url: string | undefined;
  readonly slots: number;
  /** For how long a worker that is not heard of keeps its tasks; the worker's own default where it is not said. */
  readonly lease_s: number | undefined;
  /** How long `up` and `serve` wait for a database that is away when they start. */
  readonly wait_for_database_s: number;
  /** What a worker's isolated tasks may declare together; by itself a worker takes its measure from the machine. */
  readonly worker_memory_mb: number | undefined;
  readonly isolation_user: "auto" | "own" | "same";
  /** How failed tasks are tried again where neither submit nor stage nor handler says so; else by what failed. */
  readonly retry: Retry | undefined;
  /** Where alerts are sent to, beside the log. */
  readonly on_alert: string | undefined;
  /** Where the HTTP server listens. */
  readonly host: string;
  readonly port: number;
  /** Somebody named the port: it is that one or none. */
  readonly port_is_chosen: boolean;
  readonly debug: boolean;
  /** A caller who has it may read /metrics; without it that takes an operator's key. */
  readonly metrics_token: string | undefined;
  /** Proxies before the HTTP server whose X-Forwarded-For is believed: how many, or their networks; 0: none. */
  readonly trust_proxy: TrustedProxies;
  /** Where callers reach the HTTP server, for links in its answers; without it, as each call came. */
  readonly public_url: string | undefined;
  /** What the command line calls a service with. */
  readonly api_key: string | undefined;
  /** How long the signed addresses of files are good that the catalogue serves. */
  readonly signed_for_h: number;
  /** The tenant whose layers are read without a key. */
  readonly open_layers: string | undefined;
  /** Tokens of an OpenID provider as credentials beside API keys; null: keys only. */
  readonly jwt: JwtSettings | null;
  /** <dir>/<tenant>/<name> holds a secret. */
  readonly secrets_dir: string | undefined;
  readonly vault: VaultConfig | undefined;
  /** The first seals what the service keeps for tenants, any opens. */
  readonly secret_keys: readonly Uint8Array[];
  /** Which catalogue: pgSTAC where it is installed, else the built-in one; or one of them, or none. */
  readonly catalog: CatalogSetting;
  /** What handlers may call besides the public internet over TLS. */
  readonly outbound: Readonly<Partial<OutboundPolicy>>;
  readonly raster: RasterConfig;
}

export interface RasterConfig {
  /** Which GDAL: the system's, the WASM build, or the first of the two that is there. */
  readonly engine: RasterEngineChoice;
  /** What may be kept of sources on this machine; 0: nothing. */
  readonly source_cache_mb: number;
  /** Larger sources are refused. */
  readonly source_max_mb: number;
  /** Which catalogue items go into. */
  readonly catalog: CatalogSetting;
  /** Where GDAL's programs and data are, from this process's own PATH and GDAL's own variables. */
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ZonesConfig extends Readonly<Record<ZoneName, string>> {
  readonly s3: { readonly endpoint?: string; readonly region?: string; readonly path_style?: boolean };
  readonly azure: { readonly endpoint?: string; readonly credentials: () => AzureCredentials };
}

export interface AzureCredentials {
  connection_string?: string | undefined;
  account_key?: string | undefined;
  sas_token?: string | undefined;
}

export interface JwtSettings {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  /** Where the provider's keys are: one of the two. */
  readonly jwks_url: string | null;
  readonly jwks_file: string | null;
  readonly tenant_claim: string;
  readonly scope_claim: string;
  /** What stands before our scopes, so that another service's "read" is not ours. */
  readonly scope_prefix: string;
}

/** What the command line may set; undefined leaves it to the environment. */
export interface ConfigFlags {
  database_url?: string | undefined;
  data_dir?: string | undefined;
  storage_dir?: string | undefined;
  tenant?: string | undefined;
  slots?: number | undefined;
  lease_s?: number | undefined;
  wait_for_database_s?: number | undefined;
  worker_memory_mb?: number | undefined;
  host?: string | undefined;
  port?: number | undefined;
}
