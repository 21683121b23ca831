// The ground under the boxes: land from the bundled atlas (Natural Earth, public domain), a net of meridians and parallels, and the
// colours of the theme. Nothing of it comes from elsewhere, and there is no text in it, so it needs no fonts.
import type { Feature, FeatureCollection, LineString, MultiPolygon, Polygon, Position } from "geojson";
import type { StyleSpecification } from "maplibre-gl";
import { feature } from "topojson-client";
import land_fine_url from "world-atlas/land-50m.json?url";
import land_coarse_url from "world-atlas/land-110m.json?url";
import { type Point, unwrap } from "../../../../src/geo/bounds.js";
import { colourOf } from "../../status.js";

const nothing: FeatureCollection = { type: "FeatureCollection", features: [] };

/** Sources and layers of the ground; others are added above. */
export function baseStyle(): StyleSpecification {
  return {
    version: 8,
    sources: {
      net: { type: "geojson", data: net(30, 80), tolerance: 0 },
      fine_net: { type: "geojson", data: net(5, 85), tolerance: 0 },
      finest_net: { type: "geojson", data: net(1, 85), tolerance: 0 },
      land: { type: "geojson", data: nothing },
      coast: { type: "geojson", data: nothing },
    },
    layers: [
      { id: "sea", type: "background", paint: { "background-color": colourOf("--map-sea") } },
      {
        id: "land",
        type: "fill",
        source: "land",
        paint: { "fill-color": colourOf("--map-land"), "fill-antialias": true },
      },
      {
        id: "net",
        type: "line",
        source: "net",
        paint: { "line-color": colourOf("--map-line"), "line-width": 0.5, "line-opacity": 0.5 },
      },
      {
        id: "fine_net",
        type: "line",
        source: "fine_net",
        minzoom: 4,
        paint: { "line-color": colourOf("--map-line"), "line-width": 0.5, "line-opacity": 0.35 },
      },
      {
        id: "finest_net",
        type: "line",
        source: "finest_net",
        minzoom: 6,
        paint: { "line-color": colourOf("--map-line"), "line-width": 0.5, "line-opacity": 0.35 },
      },
      {
        id: "coast",
        type: "line",
        source: "coast",
        paint: { "line-color": colourOf("--map-line"), "line-width": 0.8 },
      },
    ],
  };
}

/** By layer: what the theme colours. */
export function baseColours(): [layer: string, property: string, colour: string][] {
  return [
    ["sea", "background-color", colourOf("--map-sea")],
    ["land", "fill-color", colourOf("--map-land")],
    ["net", "line-color", colourOf("--map-line")],
    ["fine_net", "line-color", colourOf("--map-line")],
    ["finest_net", "line-color", colourOf("--map-line")],
    ["coast", "line-color", colourOf("--map-line")],
  ];
}

export interface Land {
  land: Feature<Polygon | MultiPolygon>;
  coast: Feature;
}

const loaded = new Map<string, Promise<Land>>();

/** Coarse for the whole globe; fine, ten times as large, for who looks closely. */
export function landOf(detail: "coarse" | "fine"): Promise<Land> {
  const known = loaded.get(detail);
  if (known !== undefined) return known;
  const url = detail === "coarse" ? land_coarse_url : land_fine_url;
  const land = fetch(new URL(url, import.meta.url))
    .then((response) => {
      if (!response.ok) throw new Error(`the base map answered ${response.status}`);
      return response.json();
    })
    .then((topology) => {
      const found = feature(topology, topology.objects.land) as unknown as
        | FeatureCollection<Polygon | MultiPolygon>
        | Feature<Polygon | MultiPolygon>;
      const polygons = (found.type === "FeatureCollection" ? found.features : [found]).flatMap(({ geometry }) =>
        geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates,
      );
      const flat = polygons.map((rings) => rings.map((ring) => onMap(ring as Point[])));
      const whole: Feature<MultiPolygon> = {
        type: "Feature",
        properties: {},
        geometry: { type: "MultiPolygon", coordinates: flat.map((rings) => rings.map(({ ring }) => ring)) },
      };
      const lines = flat.flat().map(({ coast }) => coast);
      const coast: Feature = { ...whole, geometry: { type: "MultiLineString", coordinates: lines } };
      return { land: whole, coast };
    });
  loaded.set(detail, land);
  // Asked for again, it is tried again.
  land.catch(() => loaded.delete(detail));
  return land;
}

/**
 * The atlas is of a sphere: a ring that crosses the antimeridian jumps, and Antarctica's goes once round. On the map rings run on beyond
 * 180, and one around the pole is closed along it, where there is no coast.
 */
function onMap(sphere: Point[]): { ring: Point[]; coast: Point[] } {
  const { ring, turns } = unwrap(sphere);
  const lons = ring.map(([lon]) => lon);
  const shift = 360 * Math.round((Math.min(...lons) + Math.max(...lons)) / 720);
  const coast = ring.map(([lon, lat]): Point => [lon - shift, lat]);
  if (turns === 0) return { ring: coast, coast };
  const [first, last] = [coast[0]!, coast.at(-1)!];
  return { ring: [...coast, [last[0], -90], [first[0], -90], first], coast };
}

function net(step: number, most_lat: number): FeatureCollection<LineString> {
  const lines: Position[][] = [];
  for (let lon = -180; lon < 180; lon += step) {
    lines.push(Array.from({ length: 19 }, (_, i) => [lon, -most_lat + (i * 2 * most_lat) / 18]));
  }
  for (let lat = -Math.floor(most_lat / step) * step; lat <= most_lat; lat += step) {
    lines.push(Array.from({ length: 37 }, (_, i) => [-180 + i * 10, lat]));
  }
  return {
    type: "FeatureCollection",
    features: lines.map((coordinates) => ({
      type: "Feature",
      properties: {},
      geometry: { type: "LineString", coordinates },
    })),
  };
}
