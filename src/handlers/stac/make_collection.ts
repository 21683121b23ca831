// The collection of a job, made when it is not there. One that is there stays as it is, whoever made it.
import type { TaskContext } from "../../core/context.js";
import { stac_version } from "../../geo/stac.js";
import { catalogOf } from "./catalog_of.js";

export interface CollectionSettings {
  collection: string;
  title?: string;
  description?: string;
  license: string;
  keywords?: string[];
}

/** Whether it was made now. */
export async function makeCollection(ctx: TaskContext, given: CollectionSettings): Promise<boolean> {
  const catalog = await catalogOf(ctx);
  const { collection: id, title, description, license, keywords } = given;
  return ctx.db((session) =>
    catalog.putCollection(session, {
      type: "Collection",
      stac_version,
      stac_extensions: [],
      id,
      ...(title === undefined ? {} : { title }),
      description: description ?? title ?? `Rasters of ${id}`,
      ...(keywords === undefined ? {} : { keywords }),
      license,
      extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
      links: [],
    }),
  );
}
