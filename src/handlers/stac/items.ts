// From what a COG task has measured to the item that tells it.
import type { JobFacts } from "../../core/context.js";
import { formatZoneRef, type ZoneAsset } from "../../core/zones.js";
import { type StacAsset, type StacItem, stac_version } from "../../geo/stac.js";
import type { CogFacts } from "../raster/facts.js";
import { ref_field } from "./item_fields.js";

export function itemOf(made: CogFacts, { collection, job }: { collection: string; job: JobFacts | null }): StacItem {
  const { datetime, start_datetime, end_datetime, from } = made.time;
  return {
    type: "Feature",
    stac_version,
    stac_extensions: [],
    id: made.item_id,
    collection,
    geometry: made.footprint,
    bbox: made.bbox,
    properties: {
      datetime,
      ...(start_datetime === undefined ? {} : { start_datetime, end_datetime }),
      "fanfold:job_id": job?.job_id,
      "fanfold:task_id": made.task_id,
      "fanfold:datetime_from": from,
      "fanfold:raster_type": made.raster_type,
    },
    links: [],
    assets: {
      data: fileAsset(made.cog, "COG", ["data"]),
      ...(made.quicklook === null ? {} : { thumbnail: fileAsset(made.quicklook, "Quicklook", ["thumbnail"]) }),
    },
  };
}

function fileAsset(asset: ZoneAsset, title: string, roles: string[]): StacAsset {
  return { href: asset.href, type: asset.media_type, title, roles, [ref_field]: formatZoneRef(asset) };
}
