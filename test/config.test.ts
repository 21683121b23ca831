// Configuration: one default each, flags before environment, and all that is wrong at once.
import { expect, test } from "vitest";
import { environmentForHandlers, loadConfig, package_version } from "../src/config.js";

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
    tenant: "default",
    log_level: "info",
    prepare: true,
    slots: 8,
    debug: false,
  });
  expect(() => Object.assign(config, { slots: 9 })).toThrow(TypeError);
  expect(package_version).toMatch(/^\d+\.\d+\.\d+/);
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
    ["FANFOLD_PREPARE", "on or off"],
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

test("the environment for handlers has no way into a database, whatever its name", () => {
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

test("the token for scrapes has some length, is never shown, and is hidden from handlers", () => {
  const token = "0123456789abcdef";
  expect(loadConfig({ FANFOLD_METRICS_TOKEN: token }).metrics_token).toBe(token);
  expect(loadConfig({ FANFOLD_METRICS_TOKEN: "" }).metrics_token).toBeUndefined();
  expect(() => loadConfig({ FANFOLD_METRICS_TOKEN: "hunter2" })).toThrow(/FANFOLD_METRICS_TOKEN.*16 to 200/s);
  expect(() => loadConfig({ FANFOLD_METRICS_TOKEN: "hunter2" })).not.toThrow(/hunter2/);
  expect(environmentForHandlers({ FANFOLD_METRICS_TOKEN: token })).toHaveProperty("FANFOLD_METRICS_TOKEN", "");
});
