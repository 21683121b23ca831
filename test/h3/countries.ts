// Countries of Natural Earth for tests, from the npm package world-atlas.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { feature } from "topojson-client";

const atlas = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("world-atlas/countries-50m.json"), "utf8"),
);

export function countryOf(name: string): object {
  const countries = feature(atlas, atlas.objects.countries) as unknown as {
    features: { properties: { name: string }; geometry: object }[];
  };
  return countries.features.find(({ properties }) => properties.name === name)!.geometry;
}
