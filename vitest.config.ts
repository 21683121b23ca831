import { defineConfig } from "vitest/config";
import { holds_behind_pooler } from "./test/behind_pooler.js";
import { CountReporter } from "./test/count_reporter.js";
import { LongestFirst } from "./test/longest_first.js";

/** `--mode pg18`: on the npm package's Postgres 18. `--mode soak`: the long races, which the usual run leaves out.
 * `--mode screenshots`: pictures of the dashboard. `--mode pooler`: through PgBouncer. `--mode embedded`: the half of the tests on
 * both kinds of database that the usual run leaves out. */
const included: Record<string, string> = {
  soak: "test/**/*.soak.ts",
  screenshots: "test/dashboard/*.shots.ts",
  pooler: "test/{engine,worker,server,faults}/**/*.test.ts",
  embedded: "test/{engine,catalog}/*.test.ts",
};

export default defineConfig(({ mode }) => {
  const soak = mode === "soak";
  if (mode === "pg18") process.env.FANFOLD_TEST_PG = "npm";
  if (mode === "pooler") process.env.FANFOLD_TEST_POOLER = "1";
  if (mode === "embedded") process.env.FANFOLD_TEST_EMBEDDED = "1";
  return {
    test: {
      include: [included[mode] ?? "test/**/*.test.ts"],
      exclude: ["node_modules/**", ...(mode === "embedded" ? ["test/engine/embedded_conformance.test.ts"] : [])],
      testNamePattern: { pooler: holds_behind_pooler, embedded: /\(embedded\) |stac on the embedded database/ }[mode],
      env: {
        // What fails for good does so within a second; tests of patience say their own.
        FANFOLD_RETRY: "attempts=3,base_s=0.1",
        // How often each fault is repeated in a row.
        ...(soak ? { FANFOLD_TEST_SOAK: process.env.FANFOLD_TEST_SOAK || "20" } : {}),
      },
      globalSetup: ["test/global_setup.ts"],
      setupFiles: ["test/file_setup.ts"],
      pool: "forks",
      // A few processes run all files: starting one for each file, and loading the project in it, takes longer than most files do. Three
      // keep two processors busy, because some tests wait for a lease or a time-out.
      maxWorkers: soak ? 2 : 3,
      sequence: { sequencer: LongestFirst },
      isolate: soak || mode === "screenshots",
      testTimeout: soak ? 1_800_000 : 60_000,
      // Pictures are taken of a world that is filled first, on whatever machine there is.
      hookTimeout: mode === "screenshots" ? 900_000 : 120_000,
      // A busy machine is no failure.
      expect: { poll: { timeout: 30_000, interval: 50 } },
      teardownTimeout: 20_000,
      passWithNoTests: soak,
      reporters: ["default", new CountReporter()],
    },
  };
});
