// Vector tiles of a layer on the map: areas, lines and points of whatever the layer holds, coloured as its style says. Where no style says
// anything, in the colours of the theme.
import type { ExpressionSpecification, FilterSpecification, LayerSpecification, Map as MapLibre } from "maplibre-gl";
import type { LayerStyle } from "../../../../src/core/api/layers.js";
import { colourOf } from "../../status.js";

export interface MapTiles {
  /** With {z}, {x} and {y}. */
  url: string;
  /** The layer within the tiles. */
  layer: string;
  style: LayerStyle | null;
  /** The feature that stands out. */
  chosen: number | null;
}

/** Below the items, so that a place that is pointed out lies above. */
const below = "items-fill";

/**
 * Other tiles are another source: one whose address is changed while its colours change keeps tiles of before. The old ones stay until
 * the new ones are there, so that the map does not flicker.
 */
export class ShownTiles {
  #tiles: MapTiles | null = null;
  #number = 0;
  #old: string[] = [];

  constructor(private readonly map: MapLibre) {
    map.on("sourcedata", ({ sourceId }) => {
      if (this.#old.length > 0 && sourceId === this.#source && map.isSourceLoaded(sourceId)) this.#forgetOld();
    });
  }

  get #source(): string {
    return `tiles-${this.#number}`;
  }

  /** Those that a pointer can hit. */
  get layers(): string[] {
    if (this.#tiles === null) return [];
    return ["fill", "line", "point"].map((part) => `${this.#source}-${part}`).filter((id) => this.map.getLayer(id));
  }

  show(tiles: MapTiles | null): void {
    const before = this.#tiles;
    this.#tiles = tiles;
    if (tiles !== null && before !== null && tiles.url === before.url && tiles.layer === before.layer) {
      this.restyle();
      return;
    }
    if (before !== null) this.#old.push(this.#source);
    if (tiles === null || tiles.layer !== before?.layer) this.#forgetOld();
    if (tiles === null) return;
    this.#number += 1;
    this.map.addSource(this.#source, { type: "vector", tiles: [tiles.url], minzoom: 0, maxzoom: 22 });
    for (const layer of layersOf(tiles, this.#source)) this.map.addLayer(layer, below);
  }

  restyle(): void {
    if (this.#tiles === null) return;
    for (const layer of layersOf(this.#tiles, this.#source)) {
      const { id, paint = {} } = layer;
      for (const [property, value] of Object.entries(paint))
        this.map.setPaintProperty(id, property as "fill-color", value);
      if ("filter" in layer) this.map.setFilter(id, layer.filter ?? null);
    }
  }

  #forgetOld(): void {
    for (const source of this.#old.splice(0)) {
      for (const part of parts) if (this.map.getLayer(`${source}-${part}`)) this.map.removeLayer(`${source}-${part}`);
      if (this.map.getSource(source)) this.map.removeSource(source);
    }
  }
}

const parts = ["fill", "line", "point", "chosen", "chosen-point"];

function isShape(kind: "Polygon" | "LineString" | "Point"): ExpressionSpecification {
  return ["in", ["geometry-type"], ["literal", [kind, `Multi${kind}`]]];
}

function layersOf({ layer, style, chosen }: MapTiles, source: string): LayerSpecification[] {
  const colour = style === null ? colourOf("--accent") : colourBy(style);
  const { opacity, width } = style ?? { opacity: 0.7, width: 1.5 };
  const is_chosen: FilterSpecification = ["==", ["id"], chosen ?? -1];
  const marked = colourOf("--st-selected");
  const of = { source, "source-layer": layer };
  return [
    {
      ...of,
      id: `${source}-fill`,
      type: "fill",
      filter: isShape("Polygon"),
      paint: { "fill-color": colour, "fill-opacity": opacity * 0.8 },
    },
    {
      ...of,
      id: `${source}-line`,
      type: "line",
      filter: ["!", isShape("Point")],
      paint: { "line-color": colour, "line-width": width, "line-opacity": opacity },
    },
    {
      ...of,
      id: `${source}-point`,
      type: "circle",
      filter: isShape("Point"),
      paint: {
        "circle-color": colour,
        "circle-opacity": opacity,
        "circle-radius": width * 2,
        "circle-stroke-width": 0.7,
        "circle-stroke-color": colourOf("--surface"),
        "circle-stroke-opacity": opacity,
      },
    },
    {
      ...of,
      id: `${source}-chosen`,
      type: "line",
      filter: ["all", ["!", isShape("Point")], is_chosen] as FilterSpecification,
      paint: { "line-color": marked, "line-width": width + 1.5 },
    },
    {
      ...of,
      id: `${source}-chosen-point`,
      type: "circle",
      filter: ["all", isShape("Point"), is_chosen] as FilterSpecification,
      paint: {
        "circle-color": colour,
        "circle-radius": width * 2 + 2,
        "circle-stroke-width": 2.5,
        "circle-stroke-color": marked,
      },
    },
  ];
}

/** The colour of a feature by its value: what no class is for, and what has no value, has the colour of all. */
function colourBy({ kind, column, colour, classes }: LayerStyle): ExpressionSpecification | string {
  if (kind === "single" || column === null || classes.length === 0) return colour;
  const steps = classes.flatMap(({ value, colour: one }) => [kind === "steps" ? Number(value) : String(value), one]);
  const value: ExpressionSpecification = ["get", column];
  if (kind === "categories")
    return ["match", ["to-string", value], ...steps, colour] as unknown as ExpressionSpecification;
  return [
    "case",
    ["has", column],
    ["step", ["to-number", value], colour, ...steps],
    colour,
  ] as unknown as ExpressionSpecification;
}
