// A tenant that leaves: everything of it is written out first, as lines that anybody can read, and then taken away, piece by piece.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { tenantPrefix } from "../../core/places/store.js";
import { type ZoneName, zone_names } from "../../core/places/zones.js";
import type { BlobStore } from "../../storage/blob_store.js";
import { openDiskBlobs } from "../../storage/disk_blobs.js";
import { blobsOf } from "../../storage/open_blobs.js";
import type { Engine } from "../engine.js";
import { asked } from "../verbs/reply.js";

interface Page {
  table: string;
  rows: Record<string, unknown>[];
  next: { table: string } | null;
}

export interface ExportLine {
  table: string;
  row: Record<string, unknown>;
}

/** Line by line, what a table's row refers to after it. Keys, sessions and what only runs are left out. */
export async function* exportTenant({ db }: Engine, tenant: string): AsyncGenerator<ExportLine> {
  for (let after: string | null = null; ; ) {
    const page: Page = await asked<Page>(
      db.sql`select app.export_tenant(${tenant}::text, ${after}::text::json) as reply`,
    );
    for (const row of page.rows) yield { table: page.table, row };
    if (page.next === null) return;
    after = JSON.stringify(page.next);
  }
}

export interface PlaceOfFiles {
  name: ZoneName | "storage";
  blobs: BlobStore;
  prefix: string;
}

/** Where files of the tenant lie. The parts of uploads are never copied. */
export function placesOfTenant(
  { zones, shared_store }: Pick<Engine, "zones" | "shared_store">,
  tenant: string,
): PlaceOfFiles[] {
  const results = blobsOf(shared_store);
  return [
    ...zone_names.map((name) => ({ name, blobs: zones.store(name, tenant), prefix: "" })),
    ...(results === null ? [] : [{ name: "storage" as const, blobs: results, prefix: tenantPrefix(tenant) }]),
  ];
}

export async function* filesOf({ blobs, prefix }: PlaceOfFiles): AsyncGenerator<string[]> {
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<BlobStore["list"]>> = await blobs.list(prefix, after === null ? {} : { after });
    if (page.entries.length > 0) yield page.entries.map(({ key }) => key);
    if (page.next === null) return;
    after = page.next;
  }
}

/** Below `<dir>/<zone>/`; gives how many, and their bytes. */
export async function copyFiles(
  engine: Engine,
  tenant: string,
  dir: string,
): Promise<{ files: number; bytes: number }> {
  const done = { files: 0, bytes: 0 };
  for (const place of placesOfTenant(engine, tenant)) {
    const target = openDiskBlobs(join(dir, place.name));
    for await (const keys of filesOf(place)) {
      for (const key of keys) {
        const { pieces, close } = await place.blobs.read(key);
        try {
          const { bytes } = await target.write(key.slice(place.prefix.length), pieces);
          done.files++;
          done.bytes += bytes;
        } finally {
          await close();
        }
      }
    }
    await rm(join(dir, place.name, ".partial"), { recursive: true, force: true });
  }
  return done;
}

export interface Removal {
  tenant_id: string;
  confirm: string;
  actor?: string | null;
  reason?: string | null;
  keep_files?: boolean;
  on_step?: (removed: number) => void;
  /** Asked between two steps: true leaves the rest to another call. */
  until?: () => boolean;
}

/** May be broken off and begun again: it goes on with what is left, until `more` is false. */
export async function removeTenant(
  engine: Engine,
  { keep_files = false, on_step, until = () => false, ...request }: Removal,
) {
  const places = placesOfTenant(engine, request.tenant_id);
  const uploads = zone_names.map((zone) => engine.zones.parts(zone, request.tenant_id));
  const done = { tenant_id: request.tenant_id, removed: 0, files: 0, more: true };
  const step = async (files_gone: boolean) => {
    const text = JSON.stringify({ ...request, files_gone });
    const { removed, more } = await asked<{ removed: number; more: boolean }>(
      engine.db.sql`select app.remove_tenant(${text}::text::json) as reply`,
    );
    done.removed += removed;
    on_step?.(done.removed);
    return more;
  };
  while (await step(false)) if (until()) return done;
  // Rows first: a file without a row is a leftover, a row without its file would be a lie.
  const all = [...places, ...uploads.map((blobs) => ({ name: "storage" as const, blobs, prefix: "" }))];
  for (const place of keep_files ? [] : all) {
    for await (const keys of filesOf(place)) {
      for (const key of keys) await place.blobs.remove(key);
      done.files += keys.length;
      if (until()) return done;
    }
  }
  done.more = await step(true);
  return done;
}

/** What would go; throws where the tenant may not be removed now. */
export function tenantToRemove({ db }: Engine, tenant_id: string): Promise<{ jobs: number; files: number }> {
  const text = JSON.stringify({ tenant_id, dry_run: true });
  return asked(db.sql`select app.remove_tenant(${text}::text::json) as reply`);
}
