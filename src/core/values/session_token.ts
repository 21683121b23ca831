// What a browser is known by: ffs_<secret> in its cookie, and ffl_<secret> in a link that signs in once. 256 bits each, kept as a hash
// only. Pure.
import { createHash } from "node:crypto";

const token_shape = /^ffs_[A-Za-z0-9_-]{43}$/;
const code_shape = /^ffl_[A-Za-z0-9_-]{43}$/;

/** A token is 32 random bytes. */
export function sessionToken(random: Uint8Array): string {
  return `ffs_${Buffer.from(random).toString("base64url")}`;
}

/** A code is 32 random bytes. */
export function linkCode(random: Uint8Array): string {
  return `ffl_${Buffer.from(random).toString("base64url")}`;
}

export function isSessionToken(text: string): boolean {
  return token_shape.test(text);
}

export function isLinkCode(text: string): boolean {
  return code_shape.test(text);
}

/** As the database keeps it. */
export function tokenHash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
