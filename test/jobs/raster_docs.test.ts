// The tables of parameters in docs/raster.md are made from the jobs' own schemas: npm run docs.
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parameterRows } from "../../src/cli/terminal/parameter_table.js";
import type { Job } from "../../src/core/declare/declare.js";
import { processRaster } from "../../src/jobs/process_raster.js";
import { processRasterCollection } from "../../src/jobs/process_raster_collection.js";
import { processRasterLayers } from "../../src/jobs/process_raster_layers.js";
import { registerRasters } from "../../src/jobs/register_rasters.js";
import { stackBands } from "../../src/jobs/stack_bands.js";
import { unpublishRaster } from "../../src/jobs/unpublish_raster.js";

const doc = new URL("../../docs/raster.md", import.meta.url);
const jobs = [
  processRaster,
  processRasterCollection,
  processRasterLayers,
  stackBands,
  registerRasters,
  unpublishRaster,
] as Job[];

function table(job: Job): string {
  const code = (text: string) => (text === "" ? "" : `\`${text.replaceAll("|", "\\|")}\``);
  const rows = parameterRows(job.blueprint.parameters).map(
    ({ name, value, given, description }) =>
      `| \`${name}\` | ${value.replaceAll("|", "\\|")} | ${given === "required" ? "**required**" : code(given)} | ${description} |`,
  );
  return ["| parameter | value | default | means |", "|---|---|---|---|", ...rows].join("\n");
}

describe("docs/raster.md", () => {
  test.each(jobs.map((job) => [job.type, job] as const))(
    "has the parameters of %s as its schema has them",
    (type, job) => {
      const pattern = new RegExp(`(<!-- parameters of ${type} -->\n)[^]*?(<!-- end -->)`);
      const text = readFileSync(doc, "utf8");
      expect(text).toMatch(pattern);
      const written = text.replace(pattern, (_, begin: string, end: string) => `${begin}${table(job)}\n${end}`);
      if (process.env.FANFOLD_WRITE_DOCS === "1") writeFileSync(doc, written);
      else expect(text).toBe(written);
    },
  );

  test.each(jobs.map((job) => [job.type, job] as const))("explains every parameter of %s", (_, job) => {
    const silent = parameterRows(job.blueprint.parameters).filter(({ description }) => description.length < 10);
    expect(silent).toEqual([]);
    expect(job.problems).toEqual([]);
  });
});
