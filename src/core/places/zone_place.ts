// Where a zone is, as an operator writes it: a folder, file:///data/bronze, s3://bucket/prefix or az://account/container/prefix, with
// {tenant} where the tenant's part goes if that is not at its end. Pure.
import { quoted } from "../errors/problems.js";
import { tenantPrefix } from "./store.js";

export type ZonePlace =
  | { kind: "disk"; dir: string }
  | { kind: "s3"; bucket: string; prefix: string }
  | { kind: "azure"; account: string; container: string; prefix: string };

export type ParsedPlace = { place: ZonePlace } | { problem: string; fix: string };

const fix = "a folder, file:///data/bronze, s3://bucket/prefix or az://account/container/prefix";

export function parseZonePlace(text: string): ParsedPlace {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  if (text === "" || /[\u0000-\u001f\u007f]/.test(text)) return { problem: "is empty or has control characters", fix };
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return { place: { kind: "disk", dir: text } };
  // Never shown whole: it may hold a password by mistake.
  if (/^[^/]*\/\/[^/]*@/.test(text)) {
    return { problem: "has a user or a password in it", fix: "credentials come from the vendor's usual environment" };
  }
  if (/[?#]/.test(text)) return { problem: "has a query or a fragment in it", fix };
  const rest = text.slice(scheme.length + 3);
  if (scheme === "file") return parseFile(rest);
  if (scheme === "s3") return parseS3(rest);
  if (scheme === "az") return parseAzure(rest);
  return { problem: `${quoted(`${scheme}://`)} is not a kind of place that is known`, fix };
}

function parseFile(rest: string): ParsedPlace {
  if (!rest.startsWith("/")) return { problem: "names a host: only file:///… is a folder here", fix };
  try {
    const dir = decodeURIComponent(rest);
    // file:///C:/data
    return { place: { kind: "disk", dir: /^\/[A-Za-z]:/.test(dir) ? dir.slice(1) : dir } };
  } catch {
    return { problem: "has a % that encodes nothing", fix };
  }
}

function parseS3(rest: string): ParsedPlace {
  const [bucket = "", ...parts] = rest.split("/");
  if (!/^[a-z0-9{][a-z0-9.{}_-]{1,80}$/i.test(bucket)) return { problem: `${quoted(bucket)} is not a bucket`, fix };
  return withPrefix(parts, (prefix) => ({ kind: "s3", bucket, prefix }));
}

function parseAzure(rest: string): ParsedPlace {
  const [account = "", container = "", ...parts] = rest.split("/");
  if (!/^[a-z0-9]{3,24}$/.test(account)) return { problem: `${quoted(account)} is not a storage account`, fix };
  if (!/^[a-z0-9{$][a-z0-9{}_-]{1,80}$/.test(container))
    return { problem: `${quoted(container)} is not a container`, fix };
  return withPrefix(parts, (prefix) => ({ kind: "azure", account, container, prefix }));
}

function withPrefix(parts: string[], make: (prefix: string) => ZonePlace): ParsedPlace {
  const kept = parts.filter((part) => part !== "");
  const wrong = kept.find((part) => part.startsWith(".") || part.includes("\\"));
  if (wrong !== undefined) return { problem: `${quoted(wrong)} cannot be part of a prefix`, fix };
  return { place: make(kept.map((part) => `${part}/`).join("")) };
}

/** The place of one tenant's files in the zone. */
export function placeOfTenant(place: ZonePlace, tenant_id: string): ZonePlace {
  const fill = (text: string) => text.replaceAll("{tenant}", tenant_id);
  const texts = Object.values(place) as string[];
  const own = texts.some((text) => text.includes("{tenant}")) ? "" : tenantPrefix(tenant_id);
  if (place.kind === "disk")
    return { kind: "disk", dir: own === "" ? fill(place.dir) : `${place.dir.replace(/\/+$/, "")}/${own}` };
  if (place.kind === "s3") return { kind: "s3", bucket: fill(place.bucket), prefix: fill(place.prefix) + own };
  return { ...place, container: fill(place.container), prefix: fill(place.prefix) + own };
}

/** Hidden in a place: a part of a key never begins with a dot. */
export function placeOfParts(place: ZonePlace): ZonePlace {
  if (place.kind === "disk") return { kind: "disk", dir: `${place.dir.replace(/\/+$/, "")}/.uploads` };
  return { ...place, prefix: `${place.prefix}.uploads/` };
}

export function formatPlace(place: ZonePlace): string {
  if (place.kind === "disk") return place.dir;
  const path =
    place.kind === "s3" ? `${place.bucket}/${place.prefix}` : `${place.account}/${place.container}/${place.prefix}`;
  return `${place.kind === "s3" ? "s3" : "az"}://${path.replace(/\/$/, "")}`;
}
