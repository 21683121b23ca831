// Configuration: one default each, flags before environment, and all that is wrong at once.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { environmentForHandlers, loadConfig, package_version, rasterFromEnvironment } from "../src/config.js";

const problemsOf = (env: Record<string, string>, flags = {}) => {
  try {
    loadConfig(env, flags);
    return [];
  } catch (error) {
    return (error as { problems: { path: string; problem: string; fix: string }[] }).problems;
  }
};

test("without any setting everything has its default, and nothing can be changed afterwards", () => {
  const config = loadConfig({ PATH: "/bin", FANFOLD_SLOTS: "" });
  expect(config).toEqual({
    database_url: undefined,
    data_dir: ".fanfold",
    database_dir: ".fanfold/database",
    storage_dir: ".fanfold/storage",
    zones: {
      bronze: ".fanfold/zones/bronze",
      silver: ".fanfold/zones/silver",
      gold: ".fanfold/zones/gold",
      s3: {},
      azure: { credentials: expect.any(Function) },
    },
    leftovers_after_h: 24,
    uploads: { max_bytes: 20 * 1024 ** 3, tenant_bytes: 200 * 1024 ** 3 },
    cors_origins: [],
    tenant: "default",
    log_level: "info",
    prepare: "auto",
    listen_url: undefined,
    slots: 8,
    wait_for_database_s: 60,
    isolation_user: "auto",
    host: "127.0.0.1",
    port: 8080,
    port_is_chosen: false,
    debug: false,
    trust_proxy: 0,
    signed_for_h: 12,
    jwt: null,
    secrets_dir: undefined,
    secret_keys: [],
    catalog: "auto",
    outbound: {},
    raster: { engine: "auto", source_cache_mb: 10_240, source_max_mb: 16_384, catalog: "auto", path: "/bin", env: {} },
  });
  expect(() => Object.assign(config, { slots: 9 })).toThrow(TypeError);
  expect(package_version).toMatch(/^\d+\.\d+\.\d+/);
});

test("zones are folders, buckets or containers, each with its own settings", () => {
  const env = {
    FANFOLD_ZONE_BRONZE: "s3://landing/in/{tenant}",
    FANFOLD_ZONE_SILVER: "az://acmegeo/silver",
    FANFOLD_ZONE_GOLD: "file:///data/gold",
    FANFOLD_S3_ENDPOINT: "http://127.0.0.1:9000/",
    FANFOLD_AZURE_ENDPOINT: "http://127.0.0.1:10000/devstoreaccount1",
    AZURE_STORAGE_KEY: "a2V5",
  };
  const { zones } = loadConfig(env);
  expect(zones).toMatchObject({
    bronze: "s3://landing/in/{tenant}",
    s3: { endpoint: "http://127.0.0.1:9000", region: "us-east-1" },
    azure: { endpoint: "http://127.0.0.1:10000/devstoreaccount1" },
  });
  expect(zones.azure.credentials()).toMatchObject({ account_key: "a2V5" });
  // Whoever prints the configuration prints no key.
  expect(JSON.stringify(loadConfig(env))).not.toContain("a2V5");
  const wrong = {
    FANFOLD_ZONE_BRONZE: "s3://key:geheim@bucket/x",
    FANFOLD_ZONE_SILVER: "gs://bucket",
    FANFOLD_ZONE_GOLD: "az://x/y",
    FANFOLD_S3_ENDPOINT: "minio:9000",
    FANFOLD_LEFTOVERS_AFTER_H: "0",
    FANFOLD_CORS_ORIGINS: "https://maps.example.com/x",
  };
  expect(
    problemsOf(wrong)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(Object.keys(wrong).sort());
  expect(JSON.stringify(problemsOf(wrong))).not.toContain("geheim");
});

test("the processes of isolated handlers get no credential of a zone", () => {
  const secrets = {
    AWS_SECRET_ACCESS_KEY: "s",
    AWS_ACCESS_KEY_ID: "i",
    AZURE_STORAGE_KEY: "k",
    AWS_REGION: "eu-central-1",
  };
  const remote = { ...secrets, FANFOLD_ZONE_SILVER: "s3://b/x", FANFOLD_ZONE_GOLD: "az://acmegeo/gold" };
  expect(environmentForHandlers(remote)).toMatchObject({
    AWS_SECRET_ACCESS_KEY: "",
    AWS_ACCESS_KEY_ID: "",
    AZURE_STORAGE_KEY: "",
    AWS_REGION: "eu-central-1",
  });
});

test("settings come from the environment, and flags win over them", () => {
  const env = {
    DATABASE_URL: "postgres://user:p%40ss@one,two:5433/maps?sslmode=require",
    FANFOLD_DATA_DIR: "/var/data",
    FANFOLD_TENANT: "acme",
    FANFOLD_LOG_LEVEL: "DEBUG",
    FANFOLD_PREPARE: "off",
    FANFOLD_SLOTS: " 32 ",
  };
  expect(loadConfig(env)).toMatchObject({
    database_url: env.DATABASE_URL,
    storage_dir: "/var/data/storage",
    tenant: "acme",
    log_level: "debug",
    prepare: false,
    slots: 32,
  });
  const flags = { tenant: "other", slots: 1, data_dir: "here", database_url: undefined };
  expect(loadConfig(env, flags)).toMatchObject({
    tenant: "other",
    slots: 1,
    data_dir: "here",
    database_url: env.DATABASE_URL,
  });
  expect(loadConfig({ FANFOLD_STORAGE_DIR: "/files" })).toMatchObject({ storage_dir: "/files", data_dir: ".fanfold" });
});

test("the server's host and port can be set, and a port that somebody named is known as such", () => {
  expect(loadConfig({ FANFOLD_HOST: "0.0.0.0", FANFOLD_PORT: "80" })).toMatchObject({
    host: "0.0.0.0",
    port: 80,
    port_is_chosen: true,
  });
  expect(loadConfig({}, { port: 0 })).toMatchObject({ port: 0, port_is_chosen: true });
  expect(problemsOf({ FANFOLD_HOST: "a b", FANFOLD_PORT: "70000" }).map(({ path }) => path)).toEqual([
    "FANFOLD_HOST",
    "FANFOLD_PORT",
  ]);
});

test("a database in memory keeps its files in the usual folder", () => {
  expect(loadConfig({ FANFOLD_DATA_DIR: "memory://" })).toMatchObject({
    database_dir: "memory://",
    storage_dir: ".fanfold/storage",
  });
});

test("all problems are reported together, with what to write instead", () => {
  const problems = problemsOf(
    {
      DATABASE_URL: "mysql://root:hush@db",
      FANFOLD_SLOT: "8",
      FANFOLD_LOG_LEVEL: "wran",
      FANFOLD_PREPARE: "maybe",
      FANFOLD_SLOTS: "0",
    },
    { tenant: "Not A Tenant" },
  );
  expect(problems.map(({ path, fix }) => [path, fix])).toEqual([
    ["FANFOLD_SLOT", 'Did you mean "FANFOLD_SLOTS"?'],
    ["DATABASE_URL", "postgres://user:password@host:5432/database"],
    ["FANFOLD_TENANT", expect.stringContaining("lower-case")],
    ["FANFOLD_LOG_LEVEL", 'Did you mean "warn"?'],
    ["FANFOLD_PREPARE", "auto, on or off"],
    ["FANFOLD_SLOTS", expect.stringContaining("8")],
  ]);
  expect(JSON.stringify(problems)).not.toContain("hush");
});

test.each(["postgres://", "postgresql:///maps?host=/tmp", "postgres://u@[::1]:5432/x"])("%s is an address", (url) => {
  expect(loadConfig({ DATABASE_URL: url }).database_url).toBe(url);
});

test.each(["localhost", "http://db/x", "postgres://u:pa ss@h:port/x"])("%s is no address", (url) => {
  expect(problemsOf({ DATABASE_URL: url })).toEqual([expect.objectContaining({ path: "DATABASE_URL" })]);
});

test.each(["0", "-1", "1.5", "many", "1e9", "NaN"])("%s slots are refused", (text) => {
  expect(problemsOf({ FANFOLD_SLOTS: text })).toEqual([expect.objectContaining({ path: "FANFOLD_SLOTS" })]);
});

test("a worker's lease is set by the environment or a flag, from 5 seconds to an hour", () => {
  expect(loadConfig({}).lease_s).toBeUndefined();
  expect(loadConfig({ FANFOLD_LEASE_S: "5" }).lease_s).toBe(5);
  expect(loadConfig({ FANFOLD_LEASE_S: "5" }, { lease_s: 3600 }).lease_s).toBe(3600);
  for (const text of ["4", "3601", "7.5", "long"]) {
    expect(problemsOf({ FANFOLD_LEASE_S: text })).toEqual([expect.objectContaining({ path: "FANFOLD_LEASE_S" })]);
  }
});

test.each(["0", "-1", "1.5", "4GB"])("a worker's memory of %s is refused", (text) => {
  const refused = [expect.objectContaining({ path: "FANFOLD_WORKER_MEMORY_MB" })];
  expect(problemsOf({ FANFOLD_WORKER_MEMORY_MB: text })).toEqual(refused);
});

test("a worker's memory comes from the command line, or the environment, or is the worker's to find out", () => {
  const env = { FANFOLD_WORKER_MEMORY_MB: "4096" };
  expect(loadConfig(env, { worker_memory_mb: 512 }).worker_memory_mb).toBe(512);
  expect(loadConfig(env).worker_memory_mb).toBe(4096);
  expect(loadConfig({}).worker_memory_mb).toBeUndefined();
});

test("whose isolated handlers are is one of three words", () => {
  expect(loadConfig({ FANFOLD_ISOLATION_USER: "own" }).isolation_user).toBe("own");
  const [problem] = problemsOf({ FANFOLD_ISOLATION_USER: "root" });
  expect(problem).toMatchObject({ path: "FANFOLD_ISOLATION_USER" });
});

test("the environment for handlers has no way into a database or a zone, whatever its name", () => {
  const secrets = {
    DATABASE_URL: "x",
    FANFOLD_DATABASE_URL: "x",
    PGPASSWORD: "x",
    POSTGRES_PASSWORD: "x",
    CATALOG: "postgresql://u:p@host/db",
    PYTHON_CATALOG: "PostgreSQL+asyncpg://u:p@host/db",
    JAVA_CATALOG: " jdbc:postgresql://host/db?user=u&password=p",
    RAILS_CATALOG: "postgis://u:p@host/db",
    FANFOLD_FAULTS: "after-claim:kill9",
    AWS_ACCESS_KEY_ID: "x",
    AWS_SECRET_ACCESS_KEY: "x",
    AWS_PROFILE: "x",
    AZURE_STORAGE_CONNECTION_STRING: "x",
    AZURE_CLIENT_SECRET: "x",
    FANFOLD_SECRET_KEY: "x",
    FANFOLD_SECRETS_DIR: "x",
    FANFOLD_SECRET_ODD: "x",
  };
  const kept = { PATH: "/bin", FANFOLD_TENANT: "maps", AWS_REGION: "eu-central-1" };
  const emptied = Object.fromEntries(Object.keys(secrets).map((name) => [name, ""]));
  expect(environmentForHandlers({ ...secrets, ...kept })).toEqual({ ...emptied, ...kept });
});

test("the environment for handlers leaves no room for a file of variables to name the database", () => {
  expect(environmentForHandlers({})).toEqual({ DATABASE_URL: "" });
});

test("what the tests and the docs are told is known to the program they start", () => {
  expect(problemsOf({ FANFOLD_TEST_SOAK_MINUTES: "5", FANFOLD_WRITE_DOCS: "1" })).toEqual([]);
});

const jwt = {
  FANFOLD_JWT_ISSUER: "https://id.example.org/",
  FANFOLD_JWT_AUDIENCE: "fanfold, maps",
  FANFOLD_JWT_JWKS_URL: "https://id.example.org/jwks.json",
};

test("tokens are taken when issuer, audience and keys are given", () => {
  expect(loadConfig(jwt).jwt).toEqual({
    issuer: "https://id.example.org/",
    audience: ["fanfold", "maps"],
    algorithms: ["RS256", "ES256", "EdDSA"],
    jwks_url: "https://id.example.org/jwks.json",
    jwks_file: null,
    tenant_claim: "tenant",
    scope_claim: "scope",
    scope_prefix: "fanfold:",
  });
  expect(loadConfig({ ...jwt, FANFOLD_JWT_JWKS_URL: "http://127.0.0.1:8080/jwks" }).jwt?.jwks_url).toContain(
    "127.0.0.1",
  );
});

test("half of what tokens need, a weak algorithm and keys without TLS are all told at once", () => {
  const found = problemsOf({
    FANFOLD_JWT_ALGORITHMS: "RS256,HS256",
    FANFOLD_JWT_JWKS_URL: "http://id.example.org/jwks.json",
    FANFOLD_JWT_JWKS_FILE: "/etc/jwks.json",
  });
  expect(found.map(({ path }) => path).sort()).toEqual([
    "FANFOLD_JWT_ALGORITHMS",
    "FANFOLD_JWT_AUDIENCE",
    "FANFOLD_JWT_ISSUER",
    "FANFOLD_JWT_JWKS_URL",
    "FANFOLD_JWT_JWKS_URL",
  ]);
  expect(problemsOf({ ...jwt, FANFOLD_JWT_ALGORITHMS: "none" })).toHaveLength(1);
  expect(problemsOf({ FANFOLD_JWT_TENANT_CLAIM: "org" }).map(({ path }) => path)).toContain("FANFOLD_JWT_ISSUER");
});

test("secrets of tenants may be given, keys must be keys, and what is opened for outgoing calls must be addresses", () => {
  const key = Buffer.alloc(32, 7).toString("base64");
  const env = {
    FANFOLD_SECRET_ACME__STRIPE_KEY: "sk",
    FANFOLD_SECRETS_DIR: "/run/secrets",
    FANFOLD_SECRET_KEY: `${key}, ${key}`,
    FANFOLD_OUTBOUND_ALLOW_HTTP: "on",
    FANFOLD_OUTBOUND_ALLOW_PRIVATE: "10.0.0.0/8, 127.0.0.1:8080",
    FANFOLD_OUTBOUND_PORTS: "443,8443",
    FANFOLD_OUTBOUND_ALLOW_HOSTS: "*.example.com",
  };
  const config = loadConfig(env);
  expect(config).toMatchObject({
    secrets_dir: "/run/secrets",
    outbound: {
      allow_http: true,
      allow_private: ["10.0.0.0/8", "127.0.0.1:8080"],
      ports: [443, 8443],
      allow_hosts: ["*.example.com"],
    },
  });
  expect(config.secret_keys.map(({ length }) => length)).toEqual([32, 32]);
  const wrong = problemsOf({
    FANFOLD_SECRET_KEY: "hush",
    FANFOLD_OUTBOUND_ALLOW_PRIVATE: "localhost",
    FANFOLD_OUTBOUND_PORTS: "https",
    FANFOLD_SECRETS: "typo",
  });
  expect(wrong.map(({ path }) => path).sort()).toEqual([
    "FANFOLD_OUTBOUND_ALLOW_PRIVATE",
    "FANFOLD_OUTBOUND_PORTS",
    "FANFOLD_SECRETS",
    "FANFOLD_SECRET_KEY",
  ]);
  expect(JSON.stringify(wrong)).not.toContain("hush");
});

test("the token for scrapes has some length, is never shown, and is hidden from handlers", () => {
  const token = "0123456789abcdef";
  expect(loadConfig({ FANFOLD_METRICS_TOKEN: token }).metrics_token).toBe(token);
  expect(loadConfig({ FANFOLD_METRICS_TOKEN: "" }).metrics_token).toBeUndefined();
  expect(() => loadConfig({ FANFOLD_METRICS_TOKEN: "hunter2" })).toThrow(/FANFOLD_METRICS_TOKEN.*16 to 200/s);
  expect(() => loadConfig({ FANFOLD_METRICS_TOKEN: "hunter2" })).not.toThrow(/hunter2/);
  expect(environmentForHandlers({ FANFOLD_METRICS_TOKEN: token })).toHaveProperty("FANFOLD_METRICS_TOKEN", "");
});

test("where alerts go is hidden from handlers: the address is often the secret", () => {
  const env = { FANFOLD_ON_ALERT: "https://hooks.example.com/T0/B0/hush" };
  expect(environmentForHandlers(env)).toHaveProperty("FANFOLD_ON_ALERT", "");
});

test("proxies that are trusted are a number or networks, and nobody unless somebody says so", () => {
  expect(loadConfig({}).trust_proxy).toBe(0);
  expect(loadConfig({ FANFOLD_TRUST_PROXY: "2" }).trust_proxy).toBe(2);
  expect(loadConfig({ FANFOLD_TRUST_PROXY: "10.0.0.0/8, fd00::/8,192.0.2.1" }).trust_proxy).toEqual([
    "10.0.0.0/8",
    "fd00::/8",
    "192.0.2.1",
  ]);
  for (const wrong of ["true", "-1", "11", "10.0.0.0/33", "proxy.example.org", "10.0.0.0/8,", "10.0.0.0/8/8"])
    expect(() => loadConfig({ FANFOLD_TRUST_PROXY: wrong })).toThrow(/FANFOLD_TRUST_PROXY.*number of proxies/s);
});

test("the raster engine, its place and what is kept of sources can be set", () => {
  const env = {
    FANFOLD_RASTER_ENGINE: "WASM",
    FANFOLD_SOURCE_CACHE_MB: "0",
    FANFOLD_SOURCE_MAX_MB: "2048",
    FANFOLD_CATALOG: "stac",
    PATH: "/opt/gdal/bin",
    PROJ_DATA: "/opt/proj",
  };
  const wanted = {
    engine: "wasm",
    source_cache_mb: 0,
    source_max_mb: 2048,
    catalog: "stac",
    path: "/opt/gdal/bin",
    env: { PROJ_DATA: "/opt/proj" },
  };
  expect(loadConfig(env).raster).toEqual(wanted);
  expect(rasterFromEnvironment(env)).toEqual(wanted);
  expect(loadConfig({}).raster.path).toContain("/usr/bin");
  const wrong = problemsOf({
    FANFOLD_RASTER_ENGINE: "gdl",
    FANFOLD_SOURCE_CACHE_MB: "1 GB",
    FANFOLD_SOURCE_MAX_MB: "0",
  });
  expect(wrong.map(({ path }) => path).sort()).toEqual([
    "FANFOLD_RASTER_ENGINE",
    "FANFOLD_SOURCE_CACHE_MB",
    "FANFOLD_SOURCE_MAX_MB",
  ]);
  expect(wrong[0]!.fix).toContain("gdal");
});

test("certificates to trust are read from a file, which must hold some", () => {
  const file = fileURLToPath(new URL("../package.json", import.meta.url));
  expect(problemsOf({ FANFOLD_OUTBOUND_CA_FILE: file })).toMatchObject([
    { path: "FANFOLD_OUTBOUND_CA_FILE", problem: expect.stringContaining("holds no certificate") },
  ]);
  expect(problemsOf({ FANFOLD_OUTBOUND_CA_FILE: `${file}.pem` })[0]!.problem).toContain("cannot be read (ENOENT)");
  expect(loadConfig({}).outbound).toEqual({});
});

test("where the service is seen from outside is an address without more than a path, and kept without its last slash", () => {
  expect(loadConfig({ FANFOLD_PUBLIC_URL: "https://example.org/fanfold/" }).public_url).toBe(
    "https://example.org/fanfold",
  );
  for (const wrong of [
    "example.org",
    "ftp://example.org",
    "https://a:b@example.org",
    "https://example.org/?x=1",
    "https://example.org/#a",
  ])
    expect(() => loadConfig({ FANFOLD_PUBLIC_URL: wrong })).toThrow(/FANFOLD_PUBLIC_URL/);
});
