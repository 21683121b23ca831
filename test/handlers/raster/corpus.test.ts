// Of the corpus, one raster for each way in which a file of other people's was once wronged; the whole of it is in corpus.soak.ts. In the
// WASM engine, which every worker has.
import { describe, expect, test } from "vitest";
import { gdalPython } from "../../gdal_bin.js";
import { isClean, judges } from "./cog_judges.js";
import { type Compared, type CorpusFile, comparedWithGdalwarp, makeCorpus, type Outcome, outcomeOf } from "./corpus.js";

const python = await gdalPython();
const why_not = typeof python === "string" ? ` (skipped: ${python})` : "";

const own = ["source"];
const all = ["source", "EPSG:4326", "EPSG:3857"];
/** Targets where there are COGs, and those that are refused, with the finding. */
const expected: Record<string, { made: string[]; refused?: Record<string, string> }> = {
  "crs-datum-shift": { made: all },
  "crs-geostationary-whole": { made: all },
  "crs-esri-albers": { made: own },
  "place-pole-80-90": { made: own },
  "crs-north-pole": { made: own, refused: { "EPSG:3857": "no_place_in_crs", "EPSG:4326": "resolution_lost" } },
  "place-antimeridian": { made: ["source", "EPSG:4326"], refused: { "EPSG:3857": "no_place_in_crs" } },
  "place-odd-numbers-float64": { made: own },
  "place-south-up": { made: own },
  "type-int64": { made: own, refused: { "EPSG:4326": "sixty_four_bit_lost" } },
  "type-uint64": { made: own },
  "type-int64-small": { made: all },
  "type-12-bits": { made: own },
  "type-half-float": { made: own },
  "values-infinite": { made: own },
  "nodata-lowest-float": { made: own },
  "place-no-crs": { made: [], refused: { source: "no_crs" } },
  "place-crs-given": { made: ["EPSG:3857"] },
  "place-control-points": { made: [], refused: { source: "ground_control_points" } },
};

describe.skipIf(typeof python === "string")(`rasters that other people make${why_not}`, () => {
  const { python: program } = python as { python: string };
  let outcomes: Promise<Outcome[]> | null = null;
  let compared: Promise<Compared[]> | null = null;
  const made = () => (outcomes ??= makeCorpus(program, Object.keys(expected)).then(outcomesOf));
  const beside = () => (compared ??= made().then((found) => comparedWithGdalwarp(program, found)));

  async function outcomesOf(corpus: CorpusFile[]): Promise<Outcome[]> {
    expect(corpus.map(({ name }) => name).sort()).toEqual(Object.keys(expected).sort());
    const found: Outcome[] = [];
    for (const one of corpus) {
      const { made, refused = {} } = expected[one.name]!;
      for (const target of [...made, ...Object.keys(refused)]) found.push(await outcomeOf(one, target, "wasm"));
    }
    return found;
  }

  test.each(Object.keys(expected))("%s becomes COGs, or is refused with what to do", async (name) => {
    const found = (await made()).filter((one) => one.name === name);
    const { made: targets, refused = {} } = expected[name]!;
    const with_cogs = found.filter(({ refused }) => refused === null);
    expect(with_cogs.map(({ target, cogs }) => [target, cogs.length > 0])).toEqual(targets.map((one) => [one, true]));
    const told = found.flatMap(({ target, refused }) => (refused === null ? [] : [[target, refused.code]]));
    expect(Object.fromEntries(told)).toEqual(refused);
    for (const { refused } of found) if (refused !== null) expect(refused.message).toMatch(/[Gg]ive|first/);
  });

  test("each of these COGs is one, for every judge", async () => {
    const files = (await made()).flatMap(({ cogs }) => cogs.map(({ file }) => file));
    for (const [judge, judged, absent] of judges) {
      if (absent !== null) continue;
      const verdicts = await judged(files);
      expect(verdicts.flatMap((one, at) => (isClean(one) ? [] : [{ judge, file: files[at], ...one }]))).toEqual([]);
    }
  });

  test("in the CRS of the source each value and the grid are its own, to the last bit", async () => {
    const same = (await beside()).filter(({ differs_from_source }) => differs_from_source !== undefined);
    expect(same.length).toBeGreaterThan(8);
    expect(same.filter((one) => one.differs_from_source! > 0 || !one.same_grid)).toEqual([]);
  });

  test("what is taken from the nearest pixel is what gdalwarp takes", async () => {
    const names = (await made()).flatMap(({ name, target, cogs }) =>
      cogs.some(({ options }) => options.resampling === "nearest") ? [`${name} → ${target}`] : [],
    );
    const nearest = (await beside()).filter(({ name }) => names.includes(name));
    expect(nearest.filter(({ differs_from_gdalwarp = 0 }) => differs_from_gdalwarp > 0)).toEqual([]);
    expect(nearest.filter(({ differs_from_gdalwarp }) => differs_from_gdalwarp === 0).length).toBeGreaterThan(8);
  });
});
