import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { compareBytes, leafHash, merkleRoot } from "../../src/handlers/files/merkle.js";

const sha256 = (...parts: (Buffer | string)[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The recursive definition of RFC 6962 2.1: split at the largest power of two below n. */
function byTheBook(hashes: Buffer[]): Buffer {
  if (hashes.length === 0) return sha256("");
  if (hashes.length === 1) return hashes[0] as Buffer;
  let half = 1;
  while (half * 2 < hashes.length) half *= 2;
  return sha256(Buffer.from([1]), byTheBook(hashes.slice(0, half)), byTheBook(hashes.slice(half)));
}

describe("the Merkle rule", () => {
  test("gives the tree of RFC 6962 for every number of leaves up to 130", () => {
    const hashes = Array.from({ length: 130 }, (_, i) => sha256(String(i)));
    for (let n = 0; n <= hashes.length; n += 1) {
      expect(merkleRoot(hashes.slice(0, n)), `${n} leaves`).toBe(byTheBook(hashes.slice(0, n)).toString("hex"));
    }
  });

  test("hashes path and content under a mark of their own", () => {
    const content = sha256("content");
    const expected = sha256(Buffer.from([0]), "a/ü.txt", Buffer.from([0]), content);
    expect(leafHash("a/ü.txt", content.toString("hex"))).toEqual(expected);
    expect(leafHash("a/ü.txt", content.toString("hex"))).not.toEqual(leafHash("a/u.txt", content.toString("hex")));
  });

  test("refuses what is not a digest", () => {
    expect(() => leafHash("a", "zz")).toThrow("not a sha256");
  });

  test("orders by bytes, not by UTF-16 units", () => {
    const names = ["b", "\u{1f600}", "\uffee", "a/z", "a", "a b", "A"];
    expect([...names].sort(compareBytes)).toEqual(["A", "a", "a b", "a/z", "b", "\uffee", "\u{1f600}"]);
  });
});
