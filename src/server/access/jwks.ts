// The provider's keys: from an address, remembered and asked for again when a token names a key that is not among them, but
// never more often than every half minute; or from a file, read again on the same terms.
import { readFile } from "node:fs/promises";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from "jose";
import type { JwtSettings } from "../../config.js";

const AGAIN_AFTER_MS = 30_000;
/** After a failure: the provider is spared, and a caller who calls meanwhile is told at once. */
const AFTER_FAILURE_MS = 5_000;
const LARGEST_BYTES = 256 * 1024;

export function openJwks({ jwks_url, jwks_file }: JwtSettings, now: () => number): JWTVerifyGetKey {
  if (jwks_file !== null) return fromFile(jwks_file, now);
  return createRemoteJWKSet(new URL(jwks_url as string), {
    timeoutDuration: 5_000,
    cooldownDuration: AGAIN_AFTER_MS,
    cacheMaxAge: 600_000,
    [customFetch]: sparing(now),
  });
}

type Fetch = (url: string, options: RequestInit) => Promise<Response>;

function sparing(now: () => number): Fetch {
  let failed_at = Number.NEGATIVE_INFINITY;
  return async (url, options) => {
    if (now() - failed_at < AFTER_FAILURE_MS) throw new Error("the provider's keys could not be fetched a moment ago");
    try {
      const response = await fetch(url, options);
      if (response.status !== 200) throw new Error(`the provider's keys were answered with status ${response.status}`);
      const text = await boundedText(response);
      // Looked at here, so that nonsense counts as a failure as well.
      createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
      return new Response(text, { status: 200 });
    } catch (error) {
      failed_at = now();
      throw error;
    }
  };
}

async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > LARGEST_BYTES) throw new Error(`the provider's keys have more than ${LARGEST_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function fromFile(path: string, now: () => number): JWTVerifyGetKey {
  let keys: Promise<JWTVerifyGetKey> | null = null;
  let read_at = Number.NEGATIVE_INFINITY;
  const read = async (): Promise<JWTVerifyGetKey> =>
    createLocalJWKSet(JSON.parse(await readFile(path, "utf8")) as JSONWebKeySet);
  const load = () => {
    read_at = now();
    keys = read();
    // A file that is not there or not right is looked at again by the next call.
    keys.catch(() => {
      keys = null;
    });
    return keys;
  };
  return async (header, token) => {
    try {
      return await (await (keys ?? load()))(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || now() - read_at < AGAIN_AFTER_MS) throw error;
      return (await load())(header, token);
    }
  };
}
