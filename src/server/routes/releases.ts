// Datasets and releases. Everything but the list of what an unpublish would take is one SQL function.
import type { Catalog } from "../../catalog/catalog.js";
import { type ReleaseRecord, releases_api } from "../../core/api/platform/releases.js";
import type { Engine } from "../../engine/engine.js";
import { asked } from "../../engine/verbs/reply.js";
import { routes } from "../http/route.js";

const MOST_ITEMS = 10_000;

interface Unpublished {
  release: ReleaseRecord;
  dry_run: boolean;
  changed: boolean;
  made_by: string[];
  file_count: number;
  bytes: number;
  files: { ref: string; bytes: number; media_type: string; adopted: boolean }[];
  tables: { kind: string; ref: string; bytes: number | null }[];
  jobs: string[];
}

export const releasesRoutes = () =>
  routes(releases_api, {
    async unpublish({ engine, service, body: { id, dry_run, reason = null, actor: person }, actor }) {
      const { db, tenant } = engine;
      const told = await asked<Unpublished>(db.sql`select platform.unpublish_release(
        ${id}::text, ${dry_run}::boolean, ${reason}::text, ${tenant}::text, ${actor(person)}::text) as reply`);
      const catalog = await service.catalogs.of(engine);
      return { ...told, items: catalog === null ? [] : await itemsOf(engine, catalog, told.made_by) };
    },
  });

/** What these jobs have put into the catalogue. */
async function itemsOf({ db }: Engine, catalog: Catalog, job_ids: readonly string[]) {
  const items: { collection: string; item_id: string }[] = [];
  for (const job_id of job_ids) {
    const filter = { op: "=", args: [{ property: "fanfold:job_id" }, job_id] };
    for (let token: string | undefined; items.length < MOST_ITEMS; ) {
      const page = await catalog.search(db, { filter, limit: 1000, ...(token === undefined ? {} : { token }) });
      items.push(...page.items.map(({ collection, id }) => ({ collection, item_id: id })));
      if (page.next === null || page.next === undefined) break;
      token = page.next;
    }
  }
  return items.slice(0, MOST_ITEMS);
}
