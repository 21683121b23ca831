// The collection of a job, made when it is not there. One that is there stays as it is, whoever made it.
import type { TaskContext } from "../../core/task/context.js";
import { buildCollection } from "../../geo/stac_collection.js";
import { catalogOf } from "./catalog_of.js";

export interface CollectionSettings {
  collection: string;
  title?: string | undefined;
  description?: string | undefined;
  license: string;
  keywords?: string[] | undefined;
}

/** Whether it was made now. */
export async function makeCollection(ctx: TaskContext, given: CollectionSettings): Promise<boolean> {
  const catalog = await catalogOf(ctx);
  const made = buildCollection({ ...given, id: given.collection });
  return ctx.db((session) => catalog.putCollection(session, made));
}
