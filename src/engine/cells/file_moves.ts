// The files of a tenant that moves: places that both cells use stay, of all others the files are copied, most of them before the tenant is closed.
import { Conflict } from "../../core/errors/errors.js";
import { zone_names } from "../../core/places/zones.js";
import type { BlobStore } from "../../storage/blob_store.js";
import { openLargeStore, type ServiceSettings } from "../../storage/open_blobs.js";
import { Zones } from "../../storage/zones.js";
import { type ProofParts, proveFiles, samePlaces, settingOf } from "../upkeep/file_proof.js";
import { filesOf, type PlaceOfFiles, placesOfTenant } from "../upkeep/leaving_tenant.js";
import type { Cell } from "./cells.js";

export interface FileMove {
  /** How many were not there yet. */
  copyFiles(tenant_id: string): Promise<number>;
  removeFiles(tenant_id: string): Promise<void>;
}

/** Throws Conflict where this process does not see what a cell's own servers see. */
export async function fileMove(from: Cell, to: Cell, services: ServiceSettings): Promise<FileMove> {
  const sides = [openFiles(from, services), openFiles(to, services)] as const;
  for (const [place, cell] of [from, to].entries()) {
    const { zones, shared_store } = sides[place]!;
    const proofs = await proveFiles({ db: cell.db, tenant: "default", zones, store: shared_store }, { leave: false });
    const wrong = proofs.filter(({ state }) => state === "other" || state === "away");
    if (wrong.length === 0) continue;
    throw new Conflict(`this machine does not see the files of cell ${cell.name}`, {
      problems: wrong.map(({ place: name, seen_as, others, why }) => ({
        path: `files.${name}`,
        problem: `${seen_as} is not what its servers use as ${others?.seen_as ?? "that"}${why === null ? "" : `: ${why}`}`,
        fix: `write here what they have as ${settingOf(name)}`,
      })),
    });
  }
  await assertTwoPlaces(from, sides);
  const apart = (tenant_id: string) => {
    const [here, there] = sides.map((side) => placesWithParts(side, tenant_id)) as [PlaceOfFiles[], PlaceOfFiles[]];
    return here
      .map((place, number) => ({ place, target: there[number] as PlaceOfFiles }))
      .filter(({ place, target }) => place.blobs.place !== target.blobs.place);
  };
  const copied_of = new Map<string, string>();
  return {
    async copyFiles(tenant_id) {
      let copied = 0;
      for (const { place, target } of apart(tenant_id)) {
        for await (const keys of filesOf(place)) {
          for (const key of keys) if (await isCopied(place.blobs, target.blobs, key, copied_of)) copied++;
        }
      }
      return copied;
    },
    async removeFiles(tenant_id) {
      for (const { place } of apart(tenant_id)) {
        for await (const keys of filesOf(place)) for (const key of keys) await place.blobs.remove(key);
      }
    },
  };
}

/** What is there may be of what the file was before: only what this run has copied, of this very state of the file, is not copied again. */
async function isCopied(from: BlobStore, to: BlobStore, key: string, copied_of: Map<string, string>): Promise<boolean> {
  const name = `${from.place}\0${key}`;
  const [here, there] = await Promise.all([from.stat(key), to.stat(key)]);
  if (here === null || (here.bytes === there?.bytes && here.etag === copied_of.get(name))) return false;
  const { stat, pieces, close } = await from.read(key);
  try {
    await to.write(key, pieces);
    copied_of.set(name, stat.etag);
  } finally {
    await close();
  }
  return true;
}

/** One place by two names: what is taken away in one would be gone in the other. */
async function assertTwoPlaces(from: Cell, sides: readonly [SeenFiles, SeenFiles]): Promise<void> {
  const partsOf = ({ zones, shared_store: store }: SeenFiles): ProofParts => {
    return { db: from.db, tenant: "default", zones, store };
  };
  const same = await samePlaces(partsOf(sides[0]), partsOf(sides[1]));
  if (same.length === 0) return;
  throw new Conflict("these are one place: write it with the same words in both cells", {
    problems: same.map(({ place, seen_as, other }) => ({
      path: `files.${place}`,
      problem: `${other} holds what cell ${from.name} left in ${seen_as}`,
      fix: `name one of the two for both (${settingOf(place)} of their servers, too)`,
    })),
  });
}

type SeenFiles = ReturnType<typeof openFiles>;

function openFiles({ files }: Cell, services: ServiceSettings) {
  const { storage, ...places } = files;
  // The places last: among the settings of this process are its own zones, which are no cell's.
  const zones = new Zones({ ...services, ...places });
  const shared_store = openLargeStore(
    storage,
    services,
    zone_names.map((zone) => zones.place(zone)),
  );
  return { zones, shared_store };
}

function placesWithParts(side: SeenFiles, tenant_id: string): PlaceOfFiles[] {
  const parts = zone_names.map((name) => ({ name, blobs: side.zones.parts(name, tenant_id), prefix: "" }));
  return [...placesOfTenant(side, tenant_id), ...parts];
}
