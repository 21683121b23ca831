// The files of a tenant that moves: places that both cells use stay, of all others the files are copied, most of them before the tenant is closed.
import { Conflict } from "../../core/errors/errors.js";
import { zone_names } from "../../core/places/zones.js";
import type { BlobStore } from "../../storage/blob_store.js";
import { openLargeStore, type ServiceSettings } from "../../storage/open_blobs.js";
import { Zones } from "../../storage/zones.js";
import { proveFiles, settingOf } from "../upkeep/file_proof.js";
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
  const apart = (tenant_id: string) => {
    const [here, there] = sides.map((side) => placesWithParts(side, tenant_id)) as [PlaceOfFiles[], PlaceOfFiles[]];
    return here
      .map((place, number) => ({ place, target: there[number] as PlaceOfFiles }))
      .filter(({ place, target }) => place.blobs.place !== target.blobs.place);
  };
  return {
    async copyFiles(tenant_id) {
      let copied = 0;
      for (const { place, target } of apart(tenant_id)) {
        for await (const keys of filesOf(place)) {
          for (const key of keys) if (await isCopied(place.blobs, target.blobs, key)) copied++;
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

/** A file is never changed in place: one of the same size is there already. */
async function isCopied(from: BlobStore, to: BlobStore, key: string): Promise<boolean> {
  const [here, there] = await Promise.all([from.stat(key), to.stat(key)]);
  if (here === null || here.bytes === there?.bytes) return false;
  const { pieces, close } = await from.read(key);
  try {
    await to.write(key, pieces);
  } finally {
    await close();
  }
  return true;
}

function openFiles({ files }: Cell, services: ServiceSettings) {
  const { storage, ...places } = files;
  const zones = new Zones({ ...places, ...services });
  const shared_store = openLargeStore(
    storage,
    services,
    zone_names.map((zone) => zones.place(zone)),
  );
  return { zones, shared_store };
}

function placesWithParts(side: ReturnType<typeof openFiles>, tenant_id: string): PlaceOfFiles[] {
  const parts = zone_names.map((name) => ({ name, blobs: side.zones.parts(name, tenant_id), prefix: "" }));
  return [...placesOfTenant(side, tenant_id), ...parts];
}
