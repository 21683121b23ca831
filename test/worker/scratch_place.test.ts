// The default place of scratch directories: temporary files are everybody's, scratch is not.
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownScratch } from "../../src/worker/run/scratch.js";

let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "fanfold-place-"));
});
afterEach(() => rm(temporary, { recursive: true }));

test("each user has a place of their own that nobody else may look into", async () => {
  const dir = ownScratch(temporary);
  expect(dir).toBe(join(temporary, `fanfold-scratch-${process.getuid?.()}`));
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
  expect(ownScratch(temporary)).toBe(dir);
});

test("a place that another user has made is refused, with what to do", () => {
  const another = 54_321;
  expect(() => ownScratch(temporary, another)).toThrow(
    /^scratch: .*fanfold-scratch-54321 belongs to another user \(uid \d+\); remove it, or start with another TMPDIR$/,
  );
});
