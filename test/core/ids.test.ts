// Ids are the same in every process, language and release; these literals must never change.
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/core/values/canonical.js";
import { contentHash, jobId, sha256Hex, sourceHash } from "../../src/core/values/ids.js";

describe("a job's id", () => {
  const parameters = canonicalJson({ source: "s3://bucket/a.tif", tile_px: 5120 });

  test("is the sha256 of canonical JSON of parameters, run, tenant and type", () => {
    const text =
      '{"parameters":{"source":"s3://bucket/a.tif","tile_px":5120},"run":1,"tenant":"default","type":"process_raster"}';
    expect(jobId("default", "process_raster", parameters, 1)).toBe(sha256Hex(text));
    expect(jobId("default", "process_raster", parameters, 1)).toBe(
      "39326d78a5904e3d314d615e238abf62fa53614c1fee5e092ef1aa6af11ae5a9",
    );
  });

  test("leaves the run out of the content hash", () => {
    const text =
      '{"parameters":{"source":"s3://bucket/a.tif","tile_px":5120},"tenant":"default","type":"process_raster"}';
    expect(contentHash("default", "process_raster", parameters)).toBe(sha256Hex(text));
    expect(contentHash("default", "process_raster", parameters)).toBe(
      "fc5cd70f50af7783cc1732cb0c19cf9e2c4a089064c63a8e37b13d5825299b33",
    );
  });

  test("hashes text that is itself canonical JSON", () => {
    const whole = { parameters: { ü: "😀" }, run: 3, tenant: 'a"b', type: "t" };
    expect(jobId('a"b', "t", canonicalJson(whole.parameters), 3)).toBe(sha256Hex(canonicalJson(whole)));
  });

  test("differs by tenant, type, parameters and run", () => {
    const ids = [
      jobId("a", "t", "{}", 1),
      jobId("b", "t", "{}", 1),
      jobId("a", "u", "{}", 1),
      jobId("a", "t", '{"x":1}', 1),
      jobId("a", "t", "{}", 2),
      contentHash("a", "t", "{}"),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 53])("is not made for run %d", (run) => {
    expect(() => jobId("a", "t", "{}", run)).toThrow(RangeError);
  });
});

test("the source hash of a function changes with its code", () => {
  const one = sourceHash(() => [1]);
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(sourceHash(() => [2])).not.toBe(one);
});
