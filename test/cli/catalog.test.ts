import { expect, test } from "vitest";
import { usesCatalog } from "../../src/cli/commands/submit.js";
import { builtinRegistry } from "../../src/jobs/index.js";

test("the embedded database gets a catalogue for the jobs that write to it, and for no other", () => {
  const types = [...builtinRegistry().jobs.values()].filter(usesCatalog).map(({ type }) => type);
  expect(types.sort()).toEqual([
    "export_collection",
    "process_raster",
    "process_raster_collection",
    "process_raster_layers",
    "register_rasters",
    "stack_bands",
    "unpublish_export",
    "unpublish_raster",
  ]);
});
