// files.fold: the digests of one hundred files into one subtree of the Merkle tree (merkle.ts says how), their count and
// their size.
import { defineHandler } from "../../core/declare/declare.js";
import type { FileDigest } from "./digest.js";
import { compareBytes, leafHash, merkleRoot } from "./merkle.js";

export interface Fold {
  /** null when none of the files could be digested. */
  root: string | null;
  file_count: number;
  total_bytes: number;
  missing: { path: string; problem: string }[];
}

export const filesFold = defineHandler("files.fold", {}, async (_parameters, ctx): Promise<Fold> => {
  const digests: { path: string; sha256: string; size: number }[] = [];
  const missing: Fold["missing"] = [];
  for await (const { result } of ctx.previous) {
    const one = result as FileDigest;
    if ("missing" in one) missing.push({ path: one.path, problem: one.missing });
    else digests.push(one);
  }
  digests.sort((a, b) => compareBytes(a.path, b.path));
  return {
    root: digests.length === 0 ? null : merkleRoot(digests.map((one) => leafHash(one.path, one.sha256))),
    file_count: digests.length,
    total_bytes: digests.reduce((sum, one) => sum + one.size, 0),
    missing,
  };
});
