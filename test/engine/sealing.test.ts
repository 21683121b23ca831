// Sealed secrets: only who has the key, and says what it is for, reads them.
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { keyOfFolder } from "../../src/engine/seal_key_file.js";
import { Sealer } from "../../src/engine/sealing.js";

const [old_key, new_key] = [randomBytes(32), randomBytes(32)];

test("what is sealed opens with its key and its purpose, and not otherwise", () => {
  const sealer = new Sealer([old_key]);
  const sealed = sealer.seal("whsec_ü", "acme/endpoint");
  expect(sealed).not.toContain("whsec");
  expect(sealer.seal("whsec_ü", "acme/endpoint")).not.toBe(sealed);
  expect(sealer.open(sealed, "acme/endpoint")).toBe("whsec_ü");
  expect(() => sealer.open(sealed, "other/endpoint")).toThrow("sealed for something else");
  const flipped = `${sealed.slice(0, -6)}${sealed.at(-6) === "A" ? "B" : "A"}${sealed.slice(-5)}`;
  expect(() => sealer.open(flipped, "acme/endpoint")).toThrow("altered");
  for (const wrong of ["", "v1.00000000.", "v2.x.y", `${sealed}.`, "v1.00000000.AA"]) {
    expect(() => sealer.open(wrong, "acme/endpoint")).toThrow();
  }
});

test("a key is rotated: the first seals, any opens, and a missing one is named", () => {
  const sealed = new Sealer([old_key]).seal("x", "a");
  const both = new Sealer([new_key, old_key]);
  expect(both.open(sealed, "a")).toBe("x");
  const resealed = both.seal("x", "a");
  expect(new Sealer([new_key]).open(resealed, "a")).toBe("x");
  expect(() => new Sealer([new_key]).open(sealed, "a")).toThrow("FANFOLD_SECRET_KEY must still hold that key");
  expect(() => new Sealer([]).seal("x", "a")).toThrow("set FANFOLD_SECRET_KEY");
  expect(() => new Sealer([]).open(sealed, "a")).toThrow("set FANFOLD_SECRET_KEY");
  expect(() => new Sealer([randomBytes(16)])).toThrow("32 bytes");
});

test("the embedded database keeps a key of its own, which only its owner may read", async () => {
  const dir = await mkdtemp(join(tmpdir(), "fanfold-key-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const key = keyOfFolder(dir);
  expect(Buffer.from(keyOfFolder(dir))).toEqual(Buffer.from(key));
  const file = join(dir, "secret.key");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(Buffer.from((await readFile(file, "utf8")).trim(), "base64")).toEqual(Buffer.from(key));
  await writeFile(file, "short");
  expect(() => keyOfFolder(dir)).toThrow("does not hold a key");
});
