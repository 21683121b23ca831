// The crowd of the issue in full: twenty wide jobs and a small one, of one tenant, on eight slots.
import { expect, test } from "vitest";
import { smallBesideWide } from "./turns.js";

test("40 tasks of 50 ms beside twenty jobs of 3,000 tasks of 150 ms start within 2 s and end within 5 s", async () => {
  const seen = await smallBesideWide({ wide_jobs: 20, wide: { n: 3000, ms: 150 }, small: { n: 40, ms: 50 } });
  process.stdout.write(`started after ${seen.started_s.toFixed(2)} s, ended after ${seen.ended_s.toFixed(2)} s\n`);
  expect(seen.started_s).toBeLessThan(2);
  expect(seen.ended_s).toBeLessThan(5);
});
