// Deterministic identities: the same tenant, type, parameters and run give the same id everywhere. SQL builds the same
// text. Pure.
import { createHash } from "node:crypto";

export function sha256Hex(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The identity of what was asked for, whichever run. `canonical_parameters` is what canonicalJson returned. */
export function contentHash(tenant: string, type: string, canonical_parameters: string): string {
  return sha256Hex(
    `{"parameters":${canonical_parameters},"tenant":${JSON.stringify(tenant)},"type":${JSON.stringify(type)}}`,
  );
}

export function jobId(tenant: string, type: string, canonical_parameters: string, run: number): string {
  if (!Number.isSafeInteger(run) || run < 1) throw new RangeError(`run must be a whole number from 1, not ${run}`);
  return sha256Hex(
    `{"parameters":${canonical_parameters},"run":${run},"tenant":${JSON.stringify(tenant)},"type":${JSON.stringify(type)}}`,
  );
}

/** A function is code: only its hash goes into the blueprint, so that a changed planner can be told from the old one. */
// biome-ignore lint/complexity/noBannedTypes: any function at all is hashed by its source
export function sourceHash(code: Function): string {
  return sha256Hex(Function.prototype.toString.call(code));
}
