// Makes db/land/natural_earth_50m.json.gz from the npm package world-atlas: the land of Natural Earth at 1:50 million, which is in the
// public domain, as TopoJSON with its arcs. Run it when the package has a newer Natural Earth.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";

const { arcs, objects, transform } = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("world-atlas/land-50m.json"), "utf8"),
);
const { arcs: polygons } = objects.land.geometries[0];
const text = JSON.stringify({
  note: "Land of Natural Earth 1:50m, public domain (naturalearthdata), through world-atlas",
  transform,
  arcs,
  polygons,
});
writeFileSync(new URL("../db/land/natural_earth_50m.json.gz", import.meta.url), gzipSync(text, { level: 9 }));
