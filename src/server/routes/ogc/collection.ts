// A layer as a collection of OGC API Features, and what can be filtered by in it. Pure.
import { quoted } from "../../../core/errors/problems.js";
import { crs84, servedCrs, storageCrs } from "../../../geo/layers/crs.js";
import type { ColumnType, Layer } from "../../../geo/layers/layer.js";
import type { Link, OgcLinks } from "./links.js";

export interface Collection {
  id: string;
  links: Link[];
  [member: string]: unknown;
}

export function collectionOf(layer: Layer, links: OgcLinks): Collection {
  const stored = storageCrs(layer);
  return {
    id: layer.name,
    title: layer.title ?? layer.name,
    ...(layer.description === null ? {} : { description: layer.description }),
    links: links.ofCollection(layer.name, layer.geometry_column !== null),
    ...(layer.extent === null ? {} : { extent: { spatial: { bbox: [layer.extent], crs: crs84.uri } } }),
    itemType: "feature",
    crs: servedCrs(layer).map(({ uri }) => uri),
    ...(stored === null ? {} : { storageCrs: stored.uri }),
  };
}

const schemas: Record<ColumnType, Record<string, unknown>> = {
  string: { type: "string" },
  integer: { type: "integer" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  date: { type: "string", format: "date" },
  datetime: { type: "string", format: "date-time" },
  json: {},
};

export function columnSchemas(layer: Layer): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    layer.columns.map(({ name, type, title, source_name }) => [
      name,
      {
        title: title ?? name,
        ...schemas[type],
        ...(source_name === undefined || source_name === name
          ? {}
          : { description: `${quoted(source_name)} in the source` }),
        ...(name === layer.time_column ? { "x-ogc-role": "primary-instant" } : {}),
      },
    ]),
  );
}

export function queryablesOf(layer: Layer, address: string): Record<string, unknown> {
  const shape = (layer.geometry_type ?? "geometry").toLowerCase().replace(/z?m?$/, "");
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: address,
    type: "object",
    title: `Queryables of ${layer.title ?? layer.name}`,
    properties: {
      ...(layer.columns.some(({ name }) => name === "id")
        ? {}
        : { id: { title: "The feature's id", type: "integer", "x-ogc-role": "id" } }),
      ...(layer.geometry_column === null
        ? {}
        : {
            geometry: {
              title: "Geometry",
              "x-ogc-role": "primary-geometry",
              format: `geometry-${shape === "geometry" ? "any" : shape}`,
            },
          }),
      ...columnSchemas(layer),
    },
    additionalProperties: false,
  };
}
