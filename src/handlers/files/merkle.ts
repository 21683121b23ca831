// The Merkle rule of file_digest. Pure: bytes in, hex out, so that anyone can check a manifest with thirty lines of code.
//
//   leaf = sha256(0x00 || path || 0x00 || sha256 of the content)     path in UTF-8, digest as 32 bytes
//   node = sha256(0x01 || left || right)                             an odd last node is promoted unchanged (RFC 6962)
//   empty tree = sha256("")
//
// Files are sorted by the bytes of their path and cut in hundreds; each hundred is a tree over the files that could be
// digested, and the root of the manifest is a tree over the roots of the hundreds that hold any. Every step depends on
// paths and contents only, never on which task finished first.
import { createHash } from "node:crypto";

const leaf_mark = Buffer.from([0x00]);
const node_mark = Buffer.from([0x01]);

export function leafHash(path: string, content_sha256: string): Buffer {
  const digest = Buffer.from(content_sha256, "hex");
  if (digest.length !== 32) throw new TypeError(`not a sha256 in hex: ${JSON.stringify(content_sha256)}`);
  // A path cannot hold NUL, so the second mark ends it without ambiguity.
  return createHash("sha256").update(leaf_mark).update(path, "utf8").update(leaf_mark).update(digest).digest();
}

export function merkleRoot(hashes: readonly Buffer[]): string {
  if (hashes.length === 0) return createHash("sha256").digest("hex");
  let level = [...hashes];
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Buffer;
      const right = level[i + 1];
      above.push(right ? createHash("sha256").update(node_mark).update(left).update(right).digest() : left);
    }
    level = above;
  }
  return (level[0] as Buffer).toString("hex");
}

/** Byte order of the UTF-8 text: the same in every language and on every file system. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, "utf8"), Buffer.from(b, "utf8"));
}
