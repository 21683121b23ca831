// The zones of this deployment: for each zone and tenant the store of that tenant's files, opened when first asked for. Nothing here
// knows a credential: the vendors' libraries find those themselves.
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { BadRequest } from "../core/errors/errors.js";
import type { Problem } from "../core/errors/problems.js";
import { formatPlace, parseZonePlace, placeOfParts, placeOfTenant, type ZonePlace } from "../core/places/zone_place.js";
import { type ZoneName, type ZoneRef, zone_names } from "../core/places/zones.js";
import type { BlobStore } from "./blob_store.js";
import { openBlobs, type ServiceSettings } from "./open_blobs.js";

export interface ZoneSettings extends Readonly<Record<ZoneName, string>>, ServiceSettings {}

/** Each a folder of its own in `dir`. */
export function zonesBelow(dir: string): Record<ZoneName, string> {
  return Object.fromEntries(zone_names.map((zone) => [zone, join(dir, zone)])) as Record<ZoneName, string>;
}

export class Zones {
  readonly #places: Readonly<Record<ZoneName, ZonePlace>>;
  readonly #settings: ZoneSettings;
  readonly #open = new LRUCache<string, BlobStore, { zone: ZoneName; tenant_id: string; parts?: true }>({
    max: 3_000,
    memoMethod: (_name, _store, { context: { zone, tenant_id, parts } }) => {
      const place = placeOfTenant(this.#places[zone], tenant_id);
      return this.#opened(zone, parts ? placeOfParts(place) : place);
    },
  });

  /** Throws BadRequest with everything that is wrong. */
  constructor(settings: ZoneSettings) {
    this.#settings = settings;
    const problems: Problem[] = [];
    const places = zone_names.map((zone) => {
      const parsed = parseZonePlace(settings[zone]);
      if ("place" in parsed) return [zone, parsed.place] as const;
      problems.push({ path: zone, ...parsed });
      return null;
    });
    const found = places.filter((one) => one !== null);
    problems.push(...nested(found));
    if (problems.length > 0) throw new BadRequest("the zones have problems", { problems });
    this.#places = Object.fromEntries(found) as Record<ZoneName, ZonePlace>;
  }

  place(zone: ZoneName): ZonePlace {
    return this.#places[zone];
  }

  isRemote(zone: ZoneName): boolean {
    return this.#places[zone].kind !== "disk";
  }

  /** The files of one tenant in the zone; keys are below it. */
  store(zone: ZoneName, tenant_id: string): BlobStore {
    return this.#open.memo(`${zone}/${tenant_id}`, { context: { zone, tenant_id } });
  }

  /** Beside the tenant's files, where no key of theirs can name it: the parts of uploads that are under way. */
  parts(zone: ZoneName, tenant_id: string): BlobStore {
    return this.#open.memo(`${zone}/${tenant_id}/parts`, { context: { zone, tenant_id, parts: true } });
  }

  /** The reverse of ZoneAsset.href: which object of the tenant's it names; null for anything else. */
  refOf(href: string, tenant_id: string): ZoneRef | null {
    for (const zone of zone_names) {
      const base = this.store(zone, tenant_id).href("");
      if (!href.startsWith(base) || href.length === base.length) continue;
      try {
        return { zone, key: href.slice(base.length).split("/").map(decodeURIComponent).join("/") };
      } catch {
        return null;
      }
    }
    return null;
  }

  #opened(zone: ZoneName, place: ZonePlace): BlobStore {
    return openBlobs(place, this.#settings, `fanfold://${zone}/`);
  }
}

/** One zone inside another would show its files, and sweep them. */
function nested(places: readonly (readonly [ZoneName, ZonePlace])[]): Problem[] {
  const texts = places.map(([zone, place]) => ({ zone, text: `${formatPlace(place).replace(/\/+$/, "")}/` }));
  return texts.flatMap((one) =>
    texts
      .filter((other) => other.zone !== one.zone && other.text.startsWith(one.text))
      .filter((other) => other.text !== one.text || other.zone > one.zone)
      .map((other) => ({
        path: other.zone,
        problem: other.text === one.text ? `is the same place as ${one.zone}` : `lies inside ${one.zone}`,
        fix: "give each zone a place of its own",
      })),
  );
}
