// Datasets and releases. Each is one SQL function; an unpublish also lists the items it would take.
import type { Catalog } from "../../catalog/catalog.js";
import { releases_api } from "../../core/api/platform/releases.js";
import type { Engine } from "../../engine/engine.js";
import { routes } from "../http/route.js";

const MOST_ITEMS = 10_000;

export const releasesRoutes = () =>
  routes(releases_api, {
    async unpublish({ engine, service, body: { actor: person, ...fields }, actor }) {
      const told = await engine.call(releases_api.unpublish, { ...fields, actor: actor(person) });
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
