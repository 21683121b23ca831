// The STAC item of an exported layer: what it was made of, what columns it has, and its files with their checksums. Pure.
import { formatZoneRef, type ZoneAsset } from "../../core/places/zones.js";
import type { StacAsset, StacItem } from "../../geo/stac.js";
import { multihash } from "../../geo/stac_ids.js";
import { extensionsOf } from "../../geo/stac_item.js";
import { ref_field } from "../stac/item_fields.js";
import { boxOf, table_extension, tableFields } from "../vector/layer_item.js";
import type { Snapshot, WrittenExport } from "./facts.js";
import type { VectorExportFormat, VectorExportParameters } from "./settings.js";

const titles: Readonly<Record<VectorExportFormat, string>> = {
  geoparquet: "GeoParquet",
  flatgeobuf: "FlatGeobuf",
  geopackage: "GeoPackage",
  pmtiles: "PMTiles",
  csv: "CSV",
};

export interface NewExportItem {
  settings: VectorExportParameters;
  snapshot: Snapshot;
  written: WrittenExport;
  job_id: string | null;
}

export function exportItem({ settings, snapshot, written, job_id }: NewExportItem): StacItem {
  const title = settings.title ?? snapshot.title ?? snapshot.name;
  const description = settings.description ?? snapshot.description ?? undefined;
  const box = boxOf(snapshot.extent);
  const assets = Object.fromEntries([
    ...written.files.map(({ format, asset }) => [
      format,
      fileAsset(asset, format === "pmtiles" ? ["visual"] : ["data"], titles[format]),
    ]),
    ["manifest", fileAsset(written.manifest, ["metadata"], "Files and their checksums")],
  ]) as Record<string, StacAsset>;
  const software = Object.fromEntries(written.files.map(({ writer }) => [writer.name, writer.version]));
  const properties = {
    // A layer is of the moment it was published.
    datetime: new Date(snapshot.updated_at).toISOString(),
    title,
    ...(description === undefined ? {} : { description }),
    ...tableFields(snapshot.columns, snapshot.srid === null ? null : "geometry"),
    "table:row_count": snapshot.row_count,
    ...(snapshot.srid === null ? {} : { "proj:code": `EPSG:${snapshot.srid}` }),
    "processing:software": software,
    "fanfold:layer": snapshot.name,
    "fanfold:layer_version": snapshot.version,
    ...(job_id === null ? {} : { "fanfold:job_id": job_id }),
    "fanfold:task_id": written.task_id,
  };
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: [table_extension, ...extensionsOf([properties, ...Object.values(assets)])],
    id: written.name,
    collection: settings.collection,
    geometry: box.geometry,
    ...(box.bbox === null ? {} : { bbox: box.bbox }),
    properties,
    links: [],
    assets,
  };
}

export function fileAsset(asset: ZoneAsset, roles: string[], title: string): StacAsset {
  const { href, media_type, bytes, sha256 } = asset;
  return {
    href,
    type: media_type,
    title,
    roles,
    "file:size": bytes,
    "file:checksum": multihash(sha256),
    [ref_field]: formatZoneRef(asset),
  };
}
