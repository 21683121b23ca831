// export.snapshot: the layer as it is at this moment, copied in the order of a curve through space: what the writers read. Before it, what
// would make the export useless is refused: a name that is taken, a layer that is not there.
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { makeCollection } from "../../stac/make_collection.js";
import { refuseTakenIds } from "../../stac/taken_items.js";
import { requireGeo } from "../../vector/geo_schema.js";
import type { Snapshot } from "../facts.js";
import { vector_export_parameters } from "../settings.js";

export const exportSnapshot = defineHandler(
  "export.snapshot",
  { parameters: vector_export_parameters, timeout_s: 4 * 3600 },
  async (given, ctx): Promise<Snapshot> => {
    await requireGeo(ctx);
    const { layer, columns, collection, license, overwrite } = given;
    await refuseTakenIds(ctx, { collection, overwrite }, [given.name ?? layer]);
    await makeCollection(ctx, { collection, license });
    const request = JSON.stringify({ srid: 4326, ...(columns === undefined ? {} : { columns }) });
    const [row] = await ctx.db(
      (session) => session.sql<{ snapshot: Snapshot }>`
        select geo.make_snapshot(${ctx.job_id ?? ctx.task_id}::text, ${layer}::text, ${request}::text::jsonb) as snapshot`,
    );
    const { snapshot } = row!;
    if (snapshot.srid === null && given.formats.includes("pmtiles")) {
      throw new Permanent(`the layer ${layer} has no geometry, so that there are no tiles of it: leave pmtiles out`, {
        code: "no_geometry",
      });
    }
    return snapshot;
  },
);
