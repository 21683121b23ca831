// Opens a place of files, whatever it is: a folder, a bucket or a container. And the place of large results, which may be any of them.
import { resolve } from "node:path";
import { BadRequest } from "../core/errors/errors.js";
import type { Store } from "../core/places/store.js";
import { formatPlace, parseZonePlace, type ZonePlace } from "../core/places/zone_place.js";
import { type AzureSettings, openAzureBlobs } from "./azure_blobs.js";
import { openBlobFolder } from "./blob_folder.js";
import type { BlobStore } from "./blob_store.js";
import { withDeadlines } from "./deadlines.js";
import { openDiskBlobs } from "./disk_blobs.js";
import { openFolderStore } from "./folder_store.js";
import { openS3Blobs, type S3Settings } from "./s3_blobs.js";

export interface ServiceSettings {
  readonly s3?: S3Settings | undefined;
  readonly azure?: AzureSettings | undefined;
}

/** `href_base`: what stands before a key in a catalogue, where the place itself is of this machine. */
export function openBlobs(place: ZonePlace, settings: ServiceSettings, href_base?: string): BlobStore {
  if (place.kind === "disk") return openDiskBlobs(place.dir, href_base === undefined ? {} : { href_base });
  if (place.kind === "s3") return withDeadlines(openS3Blobs(place, settings.s3));
  return withDeadlines(openAzureBlobs(place, settings.azure));
}

/** Where spilled results and what handlers put into ctx.storage lie, of all tenants. Throws BadRequest. */
export function openLargeStore(text: string, settings: ServiceSettings, zones: readonly ZonePlace[]): Store {
  const parsed = parseZonePlace(text);
  const refused = (problem: string, fix: string) =>
    new BadRequest("the place of large results has a problem", {
      problems: [{ path: "FANFOLD_STORAGE_DIR", problem, fix }],
    });
  if ("problem" in parsed) throw refused(parsed.problem, parsed.fix);
  const { place } = parsed;
  const shown = formatPlace(place);
  if (shown.includes("{tenant}")) {
    throw refused("has {tenant} in it", "leave it out: each tenant's files lie below a prefix of their own there");
  }
  const zone = zones.find((one) => lies(shown, formatPlace(one)));
  if (zone !== undefined) throw refused(`lies inside the zone ${formatPlace(zone)}`, "give it a place of its own");
  return place.kind === "disk" ? openFolderStore(place.dir) : openBlobFolder(openBlobs(place, settings));
}

/** A zone's files would be listed among the results, and the results among a zone's. */
function lies(inner: string, outer: string): boolean {
  const whole = (text: string) => `${(text.includes("://") ? text : resolve(text)).replace(/\/+$/, "")}/`;
  return whole(inner).startsWith(whole(outer));
}

/** The files behind a store, for those who list and look; null where only its own ways lead to them. */
export function blobsOf({ blobs }: Store): BlobStore | null {
  return (blobs as BlobStore | undefined) ?? null;
}
