// What `fanfold demo world` submits, one job after the other: each takes what those before it made. The same each time, so that a second
// run finds the jobs of the first and repeats nothing. Data only.
import type { LayerStyle } from "../../core/api/layers.js";

export interface WorldStep {
  /** What a person reads while it runs. */
  title: string;
  job_type: string;
  parameters: Record<string, unknown>;
}

/** Where the tiles lie in zone bronze. */
export const world_prefix = "world/";

const terrain = "world-terrain";
const cells = "world_cells";
const heights = "world_heights";
/** About 69 km from side to side. */
const resolution = 3;

/** Its licence: the land is of Natural Earth, the heights are invented. */
const license = "CC0-1.0";

export const world_steps: readonly WorldStep[] = [
  {
    title: "the terrain as COGs in a STAC collection",
    job_type: "process_raster_collection",
    parameters: {
      sources: { prefix: `bronze:${world_prefix}` },
      collection: terrain,
      title: "Invented terrain of the land",
      datetime: "2024-06-21T00:00:00Z",
      raster_type: "dem",
      license,
    },
  },
  {
    title: "H3 cells of the land",
    job_type: "create_h3_grid",
    parameters: {
      layer: cells,
      title: "H3 cells of the land",
      resolution,
      land: true,
      members: "overlap",
      mode: "replace",
    },
  },
  {
    title: "heights of the terrain in H3 cells",
    job_type: "raster_to_h3",
    parameters: {
      sources: { prefix: `silver:${terrain}/`, pattern: "**.tif" },
      layer: heights,
      title: "Heights in H3 cells",
      resolution,
      statistics: ["count", "mean", "min", "max", "p90"],
      mode: "replace",
    },
  },
  {
    title: "the cells of the land as GeoParquet",
    job_type: "export_vector",
    parameters: { layer: cells, name: "world-cells", license, overwrite: "replace" },
  },
  {
    title: "the heights as GeoParquet and PMTiles",
    job_type: "export_vector",
    parameters: {
      layer: heights,
      name: "world-heights",
      formats: ["geoparquet", "pmtiles"],
      max_zoom: 4,
      license,
      overwrite: "replace",
    },
  },
  {
    title: "the collection as a static STAC catalogue with its COGs",
    job_type: "export_stac",
    parameters: { source: terrain, name: terrain, copy_assets: true, license, overwrite: "replace" },
  },
];

export const world_collections: readonly string[] = [terrain, "exports"];
export const world_layers: readonly string[] = [cells, heights];

/** From green valleys to white peaks, unless somebody has chosen otherwise. */
export const heights_style: { layer_id: string; style: LayerStyle } = {
  layer_id: heights,
  style: {
    kind: "steps",
    column: "mean",
    colour: "#2f6b3c",
    classes: [
      { value: 400, colour: "#5f9a4a" },
      { value: 600, colour: "#a9c46c" },
      { value: 800, colour: "#e3d48a" },
      { value: 1000, colour: "#c99a5b" },
      { value: 1200, colour: "#9a6a45" },
      { value: 1500, colour: "#f2efea" },
    ],
    opacity: 0.8,
    width: 0.5,
  },
};
