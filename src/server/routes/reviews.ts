// What a reviewer looks at: SQL tells what a request makes and what stood before it, the catalogue how many items there are of each.
import type { Catalog } from "../../catalog/catalog.js";
import { type ReviewSide, reviews_api } from "../../core/api/platform/reviews.js";
import type { Engine } from "../../engine/engine.js";
import { routes } from "../http/route.js";

/** More are told as "at least". */
const MOST_ITEMS = 1_000;

type Counted = Pick<ReviewSide, "items" | "items_at_least">;

export const reviewsRoutes = () =>
  routes(reviews_api, {
    async review({ engine, service, params }) {
      const told = await engine.call(reviews_api.review, params);
      const catalog = await service.catalogs.of(engine);
      const counted = async (side: ReviewSide): Promise<ReviewSide> => ({
        ...side,
        ...(await itemsOf(engine, catalog, side.job_ids)),
      });
      return {
        ...told,
        now: await counted(told.now),
        before: told.before === null ? null : await counted(told.before),
      };
    },
  });

/** What these jobs have in the catalogue. */
async function itemsOf({ db }: Engine, catalog: Catalog | null, job_ids: readonly string[]): Promise<Counted> {
  if (catalog === null) return { items: null, items_at_least: false };
  let [items, items_at_least] = [0, false];
  for (const job_id of job_ids) {
    const filter = { op: "=", args: [{ property: "fanfold:job_id" }, job_id] };
    const page = await catalog.search(db, { filter, limit: MOST_ITEMS });
    items += page.items.length;
    items_at_least ||= page.next !== null && page.next !== undefined;
  }
  return { items, items_at_least };
}
