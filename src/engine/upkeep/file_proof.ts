// Whether this process sees the same files as the others. The first one leaves a token in each place of files and tells the database; all who
// come later must find it there. One that does not would read nothing that others wrote, and write where nobody looks.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { Conflict, isFanfoldError } from "../../core/errors/errors.js";
import { type Store, tenantPrefix } from "../../core/places/store.js";
import { type ZoneName, zone_names } from "../../core/places/zones.js";
import type { BlobStore } from "../../storage/blob_store.js";
import { blobsOf } from "../../storage/open_blobs.js";
import type { Zones } from "../../storage/zones.js";
import type { Queryable } from "../database/database.js";
import { asked } from "../verbs/reply.js";

export interface ProofParts {
  db: Queryable;
  tenant: string;
  zones: Zones;
  /** The store of all tenants. */
  store: Store;
}

export interface PlaceProof {
  place: "storage" | ZoneName;
  /** As this process is told of it. */
  seen_as: string;
  /** first: nobody had left a token; away: the place does not answer, or takes nothing, and nothing is known; other: a different place. */
  state: "same" | "first" | "renewed" | "other" | "away";
  /** The one that left the token, and when; null where nobody has. */
  others: { seen_as: string; written_by: string; written_at: string } | null;
  why: string | null;
}

interface Token {
  token: string;
  seen_as: string;
  written_by: string;
  written_at: string;
}

interface Place {
  place: PlaceProof["place"];
  blobs: BlobStore;
  keyOf(token: string): string;
}

/** Where the files lie that hold a token. */
export const proof_prefix = "same-files/";
const PATIENCE_MS = 15_000;

/**
 * `leave`: a place without a token gets one; else this only looks. `renew`: a place that is not the one that it was is from now on the one
 * that counts.
 */
export async function proveFiles(parts: ProofParts, { leave = true, renew = false } = {}): Promise<PlaceProof[]> {
  const { db, tenant } = parts;
  const tokens = await asked<Record<string, Token>>(db.sql`select app.file_tokens(${tenant}::text) as reply`);
  return Promise.all(
    placesOf(parts).map(async (place) => {
      const left = tokens[place.place] ?? null;
      const others = left && { seen_as: left.seen_as, written_by: left.written_by, written_at: left.written_at };
      const proof = { place: place.place, seen_as: place.blobs.place, others };
      try {
        const found = await inTime(lookFor(parts, place, left, { leave, renew }), place.blobs.place);
        return { ...proof, ...found };
      } catch (error) {
        return { ...proof, state: "away" as const, why: reasonOf(error) };
      }
    }),
  );
}

/** Places with different words in which the same token lies. The tokens are those of the database of `one`. */
export async function samePlaces(
  one: ProofParts,
  other: ProofParts,
): Promise<{ place: PlaceProof["place"]; seen_as: string; other: string }[]> {
  const tokens = await asked<Record<string, Token>>(one.db.sql`select app.file_tokens(${one.tenant}::text) as reply`);
  const others = placesOf(other);
  const same = await Promise.all(
    placesOf(one).map(async ({ place, blobs, keyOf }) => {
      const left = tokens[place];
      const there = others.find((found) => found.place === place)?.blobs;
      if (left === undefined || there === undefined || there.place === blobs.place) return [];
      const found = await inTime(there.stat(keyOf(left.token)), there.place);
      return found === null ? [] : [{ place, seen_as: blobs.place, other: there.place }];
    }),
  );
  return same.flat();
}

/** Throws Conflict with every place that is another one. */
export async function assertSameFiles(parts: ProofParts): Promise<PlaceProof[]> {
  const proofs = await proveFiles(parts);
  const problems = proofs.flatMap(({ place, seen_as, others, state }) => {
    if (state !== "other" || others === null) return [];
    const { written_by, written_at } = others;
    const problem = `${seen_as} is not the place that others use as ${others.seen_as}: what ${written_by} left there at ${written_at} is missing`;
    const fix = `mount or name the same place for all (${settingOf(place)}); if the files have moved for all, run: fanfold files prove --renew`;
    return [{ path: place, problem, fix }];
  });
  if (problems.length > 0) throw new Conflict("this process sees other files than the others", { problems });
  return proofs;
}

export function settingOf(place: PlaceProof["place"]): string {
  return place === "storage" ? "FANFOLD_STORAGE_DIR" : `FANFOLD_ZONE_${place.toUpperCase()}`;
}

function placesOf({ tenant, zones, store }: ProofParts): Place[] {
  const results = blobsOf(store);
  const large: Place[] =
    results === null
      ? []
      : [{ place: "storage", blobs: results, keyOf: (token) => `${tenantPrefix(tenant)}${proof_prefix}${token}` }];
  // Beside the tenant's files: no key of a task can name it, and nobody lists it.
  const own = zone_names.map((zone) => ({
    place: zone,
    blobs: zones.parts(zone, tenant),
    keyOf: (token: string) => `${proof_prefix}${token}`,
  }));
  return [...large, ...own];
}

async function lookFor(
  { db, tenant }: ProofParts,
  { place, blobs, keyOf }: Place,
  left: Token | null,
  { leave, renew }: { leave: boolean; renew: boolean },
): Promise<Pick<PlaceProof, "state" | "why">> {
  if (left !== null && (await blobs.stat(keyOf(left.token))) !== null) return { state: "same", why: null };
  if (left !== null && !renew) return { state: "other", why: "the token of the others is not there" };
  if (!leave) return { state: "first", why: null };
  const token = randomUUID();
  const words = `Processes that find this file use the same place as ${hostname()}. Leave it here.\n`;
  await blobs.write(keyOf(token), pieces(words), { media_type: "text/plain" });
  const request = JSON.stringify({
    tenant,
    place,
    token,
    seen_as: blobs.place,
    written_by: `${hostname()} (process ${process.pid})`,
    instead_of: left?.token ?? null,
  });
  const holds = await asked<string>(db.sql`select app.leave_file_token(${request}::text::json) as reply`);
  if (holds === token) return { state: left === null ? "first" : "renewed", why: null };
  // Another process came first: its token is the one to be found.
  await blobs.remove(keyOf(token));
  const found = await blobs.stat(keyOf(holds));
  return found === null
    ? { state: "other", why: "the token of the others is not there" }
    : { state: "same", why: null };
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

async function inTime<T>(work: Promise<T>, place: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${place} has not answered for ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(error: unknown): string {
  const cause = isFanfoldError(error) ? (error.cause ?? error) : error;
  return cause instanceof Error ? (cause.message.split("\n")[0] ?? cause.message) : String(cause);
}
