// Where zones are: how an operator writes it, where a tenant's files lie, and what is refused.
import { describe, expect, test } from "vitest";
import { formatPlace, parseZonePlace, placeOfTenant, type ZonePlace } from "../../src/core/places/zone_place.js";
import { attemptOf, attemptToken } from "../../src/storage/attempt_token.js";
import { partSize } from "../../src/storage/blob_store.js";
import { loadedOnce } from "../../src/storage/vendor_sdk.js";
import { Zones, zonesBelow } from "../../src/storage/zones.js";

const place = (text: string): ZonePlace => {
  const parsed = parseZonePlace(text);
  if (!("place" in parsed)) throw new Error(parsed.problem);
  return parsed.place;
};

describe("a place", () => {
  test.each([
    ["/data/bronze", { kind: "disk", dir: "/data/bronze" }],
    ["data/bronze", { kind: "disk", dir: "data/bronze" }],
    ["C:\\data", { kind: "disk", dir: "C:\\data" }],
    ["file:///data/my%20bronze", { kind: "disk", dir: "/data/my bronze" }],
    ["s3://bucket", { kind: "s3", bucket: "bucket", prefix: "" }],
    ["s3://bucket/a/b/", { kind: "s3", bucket: "bucket", prefix: "a/b/" }],
    ["az://acmegeo/silver/x", { kind: "azure", account: "acmegeo", container: "silver", prefix: "x/" }],
  ])("%s is read", (text, expected) => {
    expect(place(text)).toEqual(expected);
  });

  test.each([
    "", "gs://bucket/x", "s3://", "s3:///x", "s3://b/../x", "s3://key:secret@bucket/x", "s3://bucket/x?versionId=1", "az://x/y",
    "az://acmegeo", "file://host/x", "file:///%zz", "a\0b", "https://acme.blob.core.windows.net/silver",
  ])("%j is refused, and no secret in it is repeated", (text) => {
    const parsed = parseZonePlace(text);
    expect(parsed).toMatchObject({ problem: expect.any(String), fix: expect.any(String) });
    expect(JSON.stringify(parsed)).not.toContain("secret@");
  }); // biome-ignore format: a list of places

  test("a tenant's files lie below its own part, or where {tenant} says", () => {
    const of = (text: string) => formatPlace(placeOfTenant(place(text), "acme"));
    expect(of("/data/bronze")).toBe("/data/bronze/tenant-acme/");
    expect(of("s3://bkt/in")).toBe("s3://bkt/in/tenant-acme");
    expect(of("s3://bkt-{tenant}/in")).toBe("s3://bkt-acme/in");
    expect(of("az://acmegeo/tiles/{tenant}/x")).toBe("az://acmegeo/tiles/acme/x");
    expect(of("file:///data/{tenant}/bronze")).toBe("/data/acme/bronze");
  });
});

test("zones that are one place, or lie inside each other, are refused together with all else that is wrong", () => {
  const problems = (given: object) => {
    try {
      new Zones({ ...zonesBelow("/data"), ...given });
      return [];
    } catch (error) {
      return (error as { problems: { path: string }[] }).problems.map(({ path }) => path);
    }
  };
  expect(problems({})).toEqual([]);
  expect(problems({ silver: "/data/bronze" })).toEqual(["silver"]);
  expect(problems({ silver: "/data/bronze/silver/" })).toEqual(["silver"]);
  expect(problems({ silver: "/data/bronze-2" })).toEqual([]);
  expect(problems({ silver: "gs://x", gold: "s3://" })).toEqual(["silver", "gold"]);
});

test("what a catalogue says of a file leads back to it, for its own tenant only", () => {
  const zones = new Zones({ ...zonesBelow("/data"), gold: "s3://bkt/gold", silver: "az://acmegeo/silver/x" });
  for (const zone of ["bronze", "silver", "gold"] as const) {
    const key = "a b/ü#?%.tif";
    const href = zones.store(zone, "acme").href(key);
    expect(zones.refOf(href, "acme")).toEqual({ zone, key });
    if (zone !== "bronze") expect(zones.refOf(href, "globex")).toBeNull();
  }
  expect(zones.store("silver", "acme").href("a.tif")).toBe(
    "https://acmegeo.blob.core.windows.net/silver/x/tenant-acme/a.tif",
  );
});

test("an attempt's part of a key proves where it was made", () => {
  const at = { deployment: "d", tenant_id: "acme", zone: "silver" as const };
  const token = attemptToken({ ...at, prefix: "dem/tile-1" }, { stage_id: 12, ordinal: 3, attempt: 2 }, "0123456789ab");
  const key = `dem/tile-1/${token}/cog.tif`;
  const makers = { ...at, deployments: ["c", "d"] };
  expect(attemptOf(makers, key)).toEqual({ stage_id: 12, ordinal: 3, attempt: 2 });
  for (const other of [
    { deployments: ["c", "e"] },
    { deployments: [] },
    { tenant_id: "globex" },
    { zone: "gold" as const },
  ]) {
    expect(attemptOf({ ...makers, ...other }, key)).toBeNull();
  }
  for (const wrong of [
    `dem/${token}/cog.tif`,
    `x/${key}`,
    `dem/tile-1/${token}/sub/cog.tif`,
    key.replace("-3-", "-4-"),
  ]) {
    expect([wrong, attemptOf(makers, wrong)]).toEqual([wrong, null]);
  }
});

test("parts are as large as an object of that size needs", () => {
  expect(partSize(undefined, 8, 10)).toBe(8);
  expect(partSize(9_000, 8, 10)).toBe(1_000);
  const [terabyte, mega] = [1024 ** 4, 1024 ** 2];
  expect(Math.ceil(terabyte / partSize(terabyte, 8 * mega, 10_000))).toBeLessThanOrEqual(10_000);
});

test("a library that is not installed is named with the command that installs it; other failures are what they are", async () => {
  const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
  const load = loadedOnce(["@aws-sdk/client-s3", "@aws-sdk/lib-storage"], () => Promise.reject(missing));
  const told = "npm install @aws-sdk/client-s3 @aws-sdk/lib-storage";
  await expect(load()).rejects.toMatchObject({
    reason: "unavailable",
    hint: told,
    message: expect.stringContaining(told),
  });
  const broken = loadedOnce(["x"], () => Promise.reject(new TypeError("broken")));
  await expect(broken()).rejects.toThrow(TypeError);
  let calls = 0;
  const good = loadedOnce(["x"], async () => ++calls);
  expect([await good(), await good()]).toEqual([1, 1]);
});
