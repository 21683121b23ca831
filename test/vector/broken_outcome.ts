// What became of a broken input, and whether that may be.
import { expect } from "vitest";
import type { RasterWorld } from "../jobs/raster_world.js";
import type { BrokenInput } from "./broken_inputs.js";
import { featuresOf, layerOf } from "./layer_rows.js";

export interface Outcome {
  status: string;
  code: string | null;
  message: string | null;
  loaded: number | null;
  rejects: Record<string, number>;
  findings: string[];
}

export async function outcomeOf(world: RasterWorld, { file, make, parameters = {} }: BrokenInput): Promise<Outcome> {
  const layer = `broken_${file.toLowerCase().replace(/\W+/g, "_")}`;
  world.put(`bronze:broken/${file}`, await make());
  const given = { source: `bronze:broken/${file}`, layer, register: false, ...parameters };
  const job = await world.run("process_vector", given, { mode: "force" });
  const made = await layerOf(world.db, layer);
  const codes = await world.db.sql<{ code: string; count: number }>`
    select code, count(*)::int as count from geo.rejects where job_id = ${job.job_id} group by code order by code`;
  const rows = made === null ? null : (await featuresOf(world.db, made)).length;
  // What the catalogue says is what lies in the table.
  if (made !== null) expect(rows).toBe(made.feature_count);
  const [failed] = await world.db.sql<{ code: string | null }>`
    select r.error ->> 'code' as code from app.results r join app.stages s using (stage_id)
     where s.job_id = ${job.job_id} and r.status = 'failed' order by r.stage_id, r.ordinal limit 1`;
  const error = job.error as { message?: string } | null;
  const result = job.result as { findings?: { code: string }[] } | null;
  return {
    status: job.status,
    code: failed?.code ?? null,
    message: error?.message ?? null,
    loaded: rows,
    rejects: Object.fromEntries(codes.map(({ code, count }) => [code, count])),
    findings: (result?.findings ?? []).map(({ code }) => code),
  };
}

export function refuseUnlike(outcome: Outcome, { becomes }: BrokenInput): void {
  const told = JSON.stringify(outcome);
  expect(["completed", "failed"], told).toContain(outcome.status);
  if (outcome.status === "failed") {
    expect(outcome.loaded, told).toBeNull();
    expect(outcome.message, told).toMatch(/\w{3,}/);
    // A process that was killed or threw what nobody foresaw is a crash, however it is told.
    expect(outcome.message, told).not.toMatch(
      /\b(undefined|TypeError|RangeError|index out of bounds|unreachable|SIG[A-Z]{3,}|exit code|was killed)\b/,
    );
    expect(outcome.message, told).not.toMatch(/\/(tmp|home|root|var)\//);
  }
  if (becomes === "either") return;
  if ("error" in becomes) {
    expect(outcome, told).toMatchObject({ status: "failed" });
    expect(outcome.code, told).toMatch(becomes.error);
    return;
  }
  expect(outcome, told).toMatchObject({ status: "completed", loaded: becomes.loaded, rejects: becomes.rejects ?? {} });
  expect(outcome.findings, told).toEqual(expect.arrayContaining(becomes.findings ?? []));
}
