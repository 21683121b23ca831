// What a worker may be told, and what it refuses.
import { expect, test } from "vitest";
import { createRegistry } from "../../src/core/declare/registry.js";
import { type WorkerOptions, workerSettings } from "../../src/worker/options.js";

const registry = createRegistry({});
const refusal = (options: object): string => {
  try {
    workerSettings(options as WorkerOptions, registry);
    return "";
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return (error as Error).message;
  }
};

test("what is left out or undefined has its default", () => {
  expect(workerSettings({ slots: undefined, on_alert: undefined }, registry)).toMatchObject({ slots: 8, grace_s: 30 });
});

test("everything that may be told is taken", () => {
  const options: WorkerOptions = {
    slots: 1,
    poll_s: 0,
    grace_s: 2_147_483,
    scratch_dir: "/tmp/x",
    on_alert: () => {},
    isolation_node_args: ["--expose-gc"],
    isolation_env: { A: "1" },
    types: ["#plan"],
  };
  expect(workerSettings(options, registry)).toMatchObject(options);
});

test("all that is wrong is told at once", () => {
  const options = { slots: 0, poll_s: -1, types: ["tile"], slot: 3, isolation_env: { A: "hush", B: 2 } };
  expect(refusal(options)).toBe(
    'worker options: there is no option "slot" (Did you mean "slots"?); ' +
      "slots must be a whole number from 1 to 10000, not 0; poll_s must be seconds from 0 to 2147483, not -1; " +
      'isolation_env.B must be text, not 2; types: there is no handler "tile" in the registry',
  );
});

test.each([
  [{ grace_s: Number.POSITIVE_INFINITY }, "grace_s"],
  [{ grace_s: Number.NaN }, "grace_s"],
  [{ abort_grace_s: 2_147_484 }, "abort_grace_s"],
  [{ poll_s: "1" }, "poll_s"],
  [{ isolation_node_args: "--expose-gc" }, "isolation_node_args"],
  [{ isolation_node_args: [1] }, "isolation_node_args[0]"],
  [{ isolation_env: ["A=1"] }, "isolation_env"],
  [{ on_alert: "mail" }, "on_alert"],
  [{ scratch_dir: 7 }, "scratch_dir"],
  [{ types: "tile" }, "types"],
])("%j is refused", (options, name) => {
  expect(refusal(options)).toContain(`worker options: ${name} must be `);
});

test("what handlers may call is closed unless it is opened, and a misspelt opening is refused", () => {
  const { outbound } = workerSettings({ outbound: { allow_private: ["127.0.0.1:8080"] } }, registry);
  expect(outbound).toMatchObject({ allow_http: false, allow_private: ["127.0.0.1:8080"], ports: [80, 443] });
  expect(workerSettings({ outbound: undefined }, registry).outbound).toMatchObject({
    allow_http: false,
    allow_private: [],
  });
  const wrong = { allow_private: ["localhost"], ports: "443", max_redirects: -1, alow_http: true };
  const told = refusal({ outbound: wrong, secrets: "vault" });
  for (const part of ["secrets", "outbound.alow_http", "outbound.ports", "outbound.max_redirects"])
    expect(told).toContain(part);
  expect(refusal({ outbound: { allow_private: ["localhost"] } })).toContain("outbound.allow_private");
  expect(refusal({ outbound: { allow_http: "yes" } })).toContain("outbound.allow_http");
});

test("raster work takes the engine it is told, and keeps sources beside the scratch directories", () => {
  const engine = { engine: "wasm", catalog: "stac", path: "/bin", env: {} } as const;
  const raster = { ...engine, source_cache_mb: 1, source_max_mb: 2 };
  expect(workerSettings({ scratch_dir: "/tmp/x", raster }, registry).raster).toEqual({
    ...engine,
    source_max_bytes: 2 * 2 ** 20,
    source_cache: { dir: "/tmp/x/sources", bytes: 2 ** 20 },
  });
  expect(workerSettings({ raster: { source_cache_mb: 0 } }, registry).raster.source_cache).toBeNull();
  const told = refusal({ raster: { engine: "gdl", source_cache_mb: -1, catalog: "x", cache: 3 } });
  for (const part of ["raster.engine", "raster.source_cache_mb", "raster.catalog", "raster.cache"])
    expect(told).toContain(part);
});
