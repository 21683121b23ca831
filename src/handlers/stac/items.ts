// From what a COG task has measured to the item that tells it, and where it comes from.

import { formatZoneRef, type ZoneAsset } from "../../core/places/zones.js";
import type { JobFacts } from "../../core/task/context.js";
import type { StacItem, StacLink } from "../../geo/stac.js";
import { publicSource } from "../../geo/stac_ids.js";
import { buildItem, type FileFacts, type Provenance } from "../../geo/stac_item.js";
import type { CogFacts } from "../raster/facts.js";
import { ref_field } from "./item_fields.js";

export function itemOf(made: CogFacts, { collection, job }: { collection: string; job: JobFacts | null }): StacItem {
  const { item_id, cog, quicklook, raster, footprint, dates, properties } = made;
  const item = buildItem({
    id: item_id,
    collection,
    dates,
    footprint,
    raster,
    data: fileOf(cog),
    thumbnail: fileOf(quicklook),
    provenance: provenanceOf(made, job),
    properties: { ...properties, ...ownProperties(made) },
    links: made.sources.flatMap(({ source }): StacLink[] =>
      source.startsWith("https://") ? [{ rel: "derived_from", href: publicSource(source) }] : [],
    ),
  });
  item.assets.data![ref_field] = formatZoneRef(cog);
  item.assets.thumbnail![ref_field] = formatZoneRef(quicklook);
  return item;
}

function fileOf({ href, bytes, sha256, media_type }: ZoneAsset): FileFacts {
  return { href, bytes, sha256, media_type };
}

/** A registered file was made from nothing that we know: it is its own source. */
function provenanceOf({ sources, cog, engine, options, task_id }: CogFacts, job: JobFacts | null): Provenance {
  const [first = { source: formatZoneRef(cog), sha256: cog.sha256 }, ...more] = sources;
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  const verb = options === null ? "Registered as it is" : "Made";
  return {
    job_id: job?.job_id ?? "",
    task_id,
    engine,
    parameters: { ...options },
    source: first.source,
    source_sha256: first.sha256,
    lineage: `${verb} from ${publicSource(first.source)}${others} by ${job?.job_type ?? "a task"} with ${engine.name} ${engine.version}.`,
  };
}

function ownProperties({ sources, tile, cog_violations }: CogFacts): Record<string, unknown> {
  const listed = sources.map(({ source, sha256 }) => ({ source: publicSource(source), sha256 }));
  return {
    ...(sources.length > 1 ? { "fanfold:sources": listed } : {}),
    ...(tile === null ? {} : { "fanfold:tile": [tile.x, tile.y] }),
    ...(cog_violations === undefined ? {} : { "fanfold:cog_violations": cog_violations }),
  };
}
