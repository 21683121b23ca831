// The order of test files: those that take longest come first, so that the processes that run them end together. What is not listed
// comes in the runner's own order; a list that has grown old costs a few seconds and nothing else.
import { BaseSequencer, type TestSpecification } from "vitest/node";

const longest = [
  "test/worker/isolation_faults.test.ts",
  "test/engine/repair_races.test.ts",
  "test/cli/embedded.test.ts",
  "test/cli/demo.test.ts",
  "test/worker/isolation.test.ts",
  "test/faults/",
  "test/jobs/raster_collection.test.ts",
  "test/dashboard/",
  "test/server/stac/",
  "test/server/uploads.test.ts",
  "test/server/conformance.test.ts",
  "test/catalog/",
  "test/remote/",
  "test/python/",
  "test/engine/embedded",
  "test/jobs/",
  "test/worker/",
  "test/handlers/raster/",
  "test/cli/",
];

function place({ moduleId }: TestSpecification): number {
  const at = longest.findIndex((start) => moduleId.includes(`/${start}`));
  return at === -1 ? longest.length : at;
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.sort((a, b) => place(a) - place(b));
  }
}
