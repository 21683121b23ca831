// API keys as text: ff_<env>_<id>_<secret>. The secret leaves the holder of the key only as its hash. Pure.
import { createHash, timingSafeEqual } from "node:crypto";

const shape = /^ff_([a-z0-9]{1,16})_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;

export interface KeyParts {
  env: string;
  key_id: string;
  secret: string;
}

export function keyText({ env, key_id, secret }: KeyParts): string {
  return `ff_${env}_${key_id}_${secret}`;
}

/** null for anything that is no key of ours. */
export function readKey(text: string): KeyParts | null {
  const [, env, key_id, secret] = shape.exec(text) ?? [];
  return env === undefined || key_id === undefined || secret === undefined ? null : { env, key_id, secret };
}

/** Random bytes of at least 40: eight for the id, the rest for the secret. */
export function makeKey(env: string, random: Uint8Array): KeyParts {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  const id_bytes = createHash("sha256").update(random.subarray(0, 8)).digest();
  const key_id = Array.from(id_bytes.subarray(0, 12), (byte) => letters[byte % letters.length]).join("");
  return { env, key_id, secret: Buffer.from(random.subarray(8, 40)).toString("base64url") };
}

export function secretHash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function isSecretOf(secret: string, hash: string): boolean {
  const [given, stored] = [Buffer.from(secretHash(secret), "hex"), Buffer.from(hash, "hex")];
  return given.length === stored.length && timingSafeEqual(given, stored);
}
