// The part of a key that makes a file belong to one attempt of one task. It says which, and proves by a checksum over where it lies
// that we have made it: a copy that somebody put elsewhere, or a folder with a name like ours, is not taken for a leftover. Pure.
import { createHash } from "node:crypto";
import type { ZoneName } from "../core/places/zones.js";

export interface AttemptPlace {
  /** The database that knows the task: two that share a place must not take each other's files for leftovers. */
  deployment: string;
  tenant_id: string;
  zone: ZoneName;
  /** Everything of the key before the token, without the slash at its end. */
  prefix: string;
}

export interface Attempt {
  stage_id: number;
  ordinal: number;
  attempt: number;
}

/** `random`: 12 hexadecimal digits, the same for everything that one attempt writes. */
export function attemptToken(place: AttemptPlace, { stage_id, ordinal, attempt }: Attempt, random: string): string {
  const begin = `ff-${stage_id}-${ordinal}-${attempt}-${random}`;
  return `${begin}-${check(place, begin)}`;
}

const pattern = /^ff-(\d{1,18})-(\d{1,18})-(\d{1,6})-[0-9a-f]{12}-[0-9a-f]{12}$/;

export interface MakersOfFiles extends Omit<AttemptPlace, "prefix" | "deployment"> {
  /** This one, and those that the tenant lived in before. */
  deployments: readonly string[];
}

/** The attempt that wrote the object of this key; null when no attempt of ours did. */
export function attemptOf({ deployments, tenant_id, zone }: MakersOfFiles, key: string): Attempt | null {
  const parts = key.split("/");
  // prefix…/token/name
  const token = parts.at(-2);
  const found = token === undefined ? null : pattern.exec(token);
  if (token === undefined || found === null) return null;
  const prefix = parts.slice(0, -2).join("/");
  const begin = token.slice(0, token.lastIndexOf("-"));
  const made_by = (deployment: string) => token === `${begin}-${check({ deployment, tenant_id, zone, prefix }, begin)}`;
  if (!deployments.some(made_by)) return null;
  return { stage_id: Number(found[1]), ordinal: Number(found[2]), attempt: Number(found[3]) };
}

function check({ deployment, tenant_id, zone, prefix }: AttemptPlace, begin: string): string {
  return createHash("sha256")
    .update(["fanfold attempt", deployment, tenant_id, zone, prefix, begin].join("\n"))
    .digest("hex")
    .slice(0, 12);
}
