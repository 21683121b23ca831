// STAC items as stac-geoparquet: one row an item, its properties as columns of their own, moments as timestamps, the geometry as WKB with its
// box. Items come twice, once to learn what columns there are.
import { geojsonToWkb } from "hyparquet-writer";
import type { StacCollection, StacItem } from "../../../geo/stac.js";
import { type Compression, ParquetFile } from "../formats/parquet_file.js";
import { elementsOf, fitted, nothing, type Shape, shapeOf, widened } from "./value_shape.js";

const moments = ["datetime", "start_datetime", "end_datetime", "created", "updated", "published", "expires"];
const edges = ["xmin", "ymin", "xmax", "ymax"];

export class ItemColumns {
  private readonly shapes = new Map<string, Shape>();
  private readonly geometry_types = new Set<string>();
  private bounds: number[] | null = null;

  add(item: StacItem): void {
    for (const [name, value] of Object.entries(rowOf(item))) {
      this.shapes.set(name, widened(this.shapes.get(name) ?? nothing, shapeOf(value)));
    }
    if (item.geometry !== null) this.geometry_types.add(item.geometry.type);
    const box = flatBox(item.bbox);
    if (box !== null)
      this.bounds = this.bounds?.map((edge, at) => (at < 2 ? Math.min : Math.max)(edge, box[at]!)) ?? box;
  }

  async write(
    file: string,
    items: AsyncIterable<StacItem>,
    { compression, collection }: { compression: Compression; collection: StacCollection },
  ): Promise<void> {
    const columns = [...this.shapes]
      .map(([name, shape]) => ({ name, shape: placeShape(name) ?? (moments.includes(name) ? time : shape) }))
      .map((column) => ({
        ...column,
        elements: elementsOf(column.name, column.shape),
        repeats: column.name !== "geometry",
      }))
      .filter(({ elements }) => elements.length > 0);
    const geo = {
      version: "1.1.0",
      primary_column: "geometry",
      columns: {
        geometry: {
          encoding: "WKB",
          geometry_types: [...this.geometry_types].sort(),
          ...(this.bounds === null ? {} : { bbox: this.bounds }),
          covering: { bbox: Object.fromEntries(edges.map((edge) => [edge, ["bbox", edge]])) },
        },
      },
    };
    const told = { version: "1.0.0", collections: { [collection.id]: collection } };
    const parquet = await ParquetFile.create(file, {
      columns,
      compression,
      row_group_rows: 20_000,
      key_values: [
        { key: "geo", value: JSON.stringify(geo) },
        { key: "stac-geoparquet", value: JSON.stringify(told) },
      ],
    });
    try {
      for await (const item of items) {
        const row = rowOf(item);
        const values = columns.map(({ name, shape }) =>
          name === "geometry" ? wkbOf(row[name]) : fitted(row[name], shape),
        );
        await parquet.add(values, JSON.stringify(item).length * 2);
      }
      await parquet.end();
    } catch (error) {
      await parquet.give_up().catch(() => {});
      throw error;
    }
  }
}

const time: Shape = { kind: "time" };
const number: Shape = { kind: "number" };

function placeShape(name: string): Shape | null {
  if (name === "geometry") return { kind: "wkb" };
  return name === "bbox" ? { kind: "group", fields: new Map(edges.map((edge) => [edge, number])) } : null;
}

/** Properties stand beside the item's own fields; what would hide one of those stays out. */
function rowOf(item: StacItem): Record<string, unknown> {
  const { properties, bbox, ...own } = item;
  const box = flatBox(bbox);
  const flat = box === null ? null : Object.fromEntries(edges.map((edge, at) => [edge, box[at]]));
  return { ...properties, ...own, bbox: flat };
}

/** Without heights. */
function flatBox(bbox: number[] | undefined): number[] | null {
  if (bbox === undefined) return null;
  return bbox.length === 6 ? [bbox[0]!, bbox[1]!, bbox[3]!, bbox[4]!] : bbox;
}

function wkbOf(geometry: unknown): Uint8Array | null {
  // Its own copy: what it gives is a view of a buffer that is larger.
  return geometry === null || geometry === undefined ? null : Uint8Array.from(geojsonToWkb(geometry as never));
}
