// The land of the earth as GeoJSON, out of the atlas that the dashboard's maps are drawn with (Natural Earth, public domain): built, it lies
// among the dashboard's files; in a checkout, in the package it comes from.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Point } from "../../geo/bounds.js";
import { dashboard_folder } from "../../server/pages/dashboard.js";

interface Topology {
  arcs: [number, number][][];
  transform: { scale: [number, number]; translate: [number, number] };
  objects: { land: { geometries: { type: string; arcs: number[][][] }[] } };
}

type Ring = readonly Point[];

/** Null where the atlas is not there: a checkout in which nothing was built or installed for it. */
export function landGeoJson(): string | null {
  const file = atlasFile();
  if (file === null) return null;
  const topology = JSON.parse(readFileSync(file, "utf8")) as Topology;
  const arcs = topology.arcs.map((arc) => decoded(arc, topology.transform));
  const polygons = topology.objects.land.geometries.flatMap((geometry) =>
    geometry.arcs.map((rings) => rings.map((ring) => joined(ring, arcs))),
  );
  const sized = polygons
    .map((rings) => ({ rings, area: Math.abs(areaOf(rings[0]!)) }))
    .toSorted((a, b) => b.area - a.area);
  // The atlas is of a sphere: rings jump over the antimeridian and go round the pole. The load cuts and closes them.
  const features = sized.map(({ rings, area }, at) => ({
    type: "Feature",
    properties: { rank: at + 1, area_km2: Math.round(area), vertices: rings.flat().length, sort: sortOf(area) },
    geometry: { type: "Polygon", coordinates: rings },
  }));
  return JSON.stringify({ type: "FeatureCollection", features });
}

function atlasFile(): string | null {
  const folder = path.join(dashboard_folder, "ui");
  const built = existsSync(folder)
    ? readdirSync(folder).find((name) => /^land-110m-[\w-]+\.json$/.test(name))
    : undefined;
  if (built !== undefined) return path.join(folder, built);
  try {
    return createRequire(import.meta.url).resolve("world-atlas/land-110m.json");
  } catch {
    return null;
  }
}

/** Each point is told from the one before, in steps of the grid. */
function decoded(arc: readonly [number, number][], { scale, translate }: Topology["transform"]): Ring {
  let [x, y] = [0, 0];
  return arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    return [rounded(x * scale[0] + translate[0]), rounded(y * scale[1] + translate[1])];
  });
}

const rounded = (degrees: number) => Math.round(degrees * 10_000) / 10_000;

/** A number below zero is an arc from its end to its beginning. */
function joined(ring: readonly number[], arcs: readonly Ring[]): Ring {
  return ring.flatMap((number, at) => {
    const arc = number < 0 ? arcs[~number]!.toReversed() : arcs[number]!;
    return at === 0 ? arc : arc.slice(1);
  });
}

/** On a sphere, in square kilometres. */
function areaOf(ring: Ring): number {
  const radians = Math.PI / 180;
  const twice = ring.slice(1).reduce((sum, [lon, lat], at) => {
    const [lon_before, lat_before] = ring[at]!;
    const turn = ((((lon - lon_before + 180) % 360) + 360) % 360) - 180;
    return sum + turn * radians * (2 + Math.sin(lat * radians) + Math.sin(lat_before * radians));
  }, 0);
  return (twice * 6371 ** 2) / 2;
}

function sortOf(area: number): string {
  return area > 5e6 ? "continent" : area > 5e4 ? "large island" : "island";
}
