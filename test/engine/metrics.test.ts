// What is measured of a database, whichever kind it is.
import { expect, test } from "vitest";
import { readMetrics } from "../../src/engine/verbs/metrics.js";
import { bothDatabases } from "../postgres.js";

bothDatabases("measuring a database", (open) => {
  test("an empty one is measured, with its vitals", async () => {
    const db = await open();
    const measured = await readMetrics(db);
    expect(measured.queue).toEqual({ task_types: [], tenants: [] });
    expect(measured.jobs).toEqual({ queued: 0, processing: 0, paused: 0 });
    expect(measured.workers).toEqual({ live: 0, slots: 0, busy: 0, silent: 0 });
    expect(measured.database!.size_bytes).toBeGreaterThan(0);
    expect(measured.database!.tables.map(([table]) => table)).toContain("ready");
  });
});
