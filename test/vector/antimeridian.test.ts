// What geo.clean_geometry makes of geometries that jump from one end of the world to the other.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { landGeoJson } from "../../src/cli/demo/demo_land.js";
import type { Database } from "../../src/engine/database/database.js";
import { type Point, unwrap } from "../../src/geo/bounds.js";
import { catalogHere } from "../jobs/raster_world.js";
import { freshDatabase } from "../postgres.js";

const here = await catalogHere("server");
const cap = "((-170 -80, -60 -75, 50 -70, 170 -80, -170 -80))";

interface Cleaned {
  type: string;
  west: number;
  east: number;
  area: number;
  length: number;
  valid: boolean;
  parts: number;
  text: string;
  code: string | null;
  mended: string[];
}

describe.skipIf(here.skip)(`over the antimeridian${here.name}`, () => {
  let db: Database;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    ({ db, drop } = await freshDatabase({ variant: "stac" }));
  }, 120_000);
  afterAll(() => drop?.());

  const cleaned = async (given: string, source_srid = 4326): Promise<Cleaned> => {
    const [row] = await db.sql<Cleaned & Record<string, unknown>>`
      select st_geometrytype(c.geom) as type, st_xmin(c.geom) as west, st_xmax(c.geom) as east, st_area(c.geom) as area,
        st_length(c.geom) as length, st_isvalid(c.geom) as valid, st_numgeometries(c.geom) as parts,
        st_astext(c.geom, 6) as text, c.code, c.mended
        from geo.clean_geometry(${given}, ${source_srid}, 4326, true, false) c`;
    return row!;
  };
  const whole = { code: null, valid: true };
  const polygons = { ...whole, type: "ST_MultiPolygon", west: -180, east: 180, mended: ["split"] };

  test("a polygon is cut in two, whichever way round and wherever it begins", async () => {
    for (const box of [
      "POLYGON((170 0, -170 0, -170 5, 170 5, 170 0))",
      "POLYGON((-170 0, -170 5, 170 5, 170 0, -170 0))",
      "POLYGON((170 0, 180 0, -180 0, -170 0, -170 5, -180 5, 180 5, 170 5, 170 0))",
      "POLYGON Z((170 0 7, -170 0 7, -170 5 7, 170 5 7, 170 0 7))",
    ]) {
      const made = await cleaned(box);
      expect({ box, ...made }).toMatchObject({ ...polygons, mended: expect.arrayContaining(["split"]), parts: 2 });
      expect(made.area).toBeCloseTo(100, 9);
    }
    expect(await cleaned("POLYGON((170 0, -180 0, -180 5, 170 5, 170 0))")).toMatchObject({
      west: 170,
      east: 180,
      area: 50,
    });
  });

  test("holes are cut with it, on either side and on both", async () => {
    const made = await cleaned(
      "POLYGON((170 0, -170 0, -170 5, 170 5, 170 0), (-178 1, -177 1, -177 2, -178 2, -178 1), (179 3, -179 3, -179 4, 179 4, 179 3))",
    );
    expect(made).toMatchObject(polygons);
    expect(made.area).toBeCloseTo(97, 9);
  });

  test("of islands like Fiji's, those that do not jump stay as they are", async () => {
    const made = await cleaned(
      "MULTIPOLYGON(((177 -18, 178 -18, 178 -17, 177 -17, 177 -18)), ((179 -17, -179 -17, -179 -16, 179 -16, 179 -17)), ((-180 -15, -179 -15, -179 -14, -180 -14, -180 -15)))",
    );
    expect(made).toMatchObject({ ...polygons, parts: 4 });
    expect(made.area).toBeCloseTo(4, 9);
    expect(made.text).toMatch(/177 -18|178 -18/);
  });

  test("a ring round a pole is closed along it, and one round a belt of the world is the belt", async () => {
    const south = await cleaned(`POLYGON${cap}`);
    expect(south).toMatchObject({ ...polygons, parts: 1 });
    // Under it: 20 at the antimeridian, two slopes of 110 and one of 120.
    expect(south.area).toBeCloseTo(20 * 10 + 110 * 12.5 + 110 * 17.5 + 120 * 15, 6);
    const belt = await cleaned(
      "POLYGON((-120 50, 0 50, 120 50, -120 50), (-120 -10, 0 -10, 120 -10, -120 -10), (175 0, -175 0, -175 1, 175 1, 175 0))",
    );
    expect(belt).toMatchObject(polygons);
    expect(belt.area).toBeCloseTo(360 * 60 - 10, 6);
  });

  test("a line is cut at each crossing, however often it goes round", async () => {
    const line = await cleaned("LINESTRING(170 0, -170 10)");
    expect(line).toMatchObject({ ...whole, mended: ["split"] });
    expect(line.text).toBe("MULTILINESTRING((170 0,180 5),(-180 5,-170 10))");
    const track = Array.from({ length: 60 }, (_, at) => `${((at * 100) % 360) - 180} ${at}`).join(", ");
    const round = await cleaned(`LINESTRING(${track})`);
    expect(round).toMatchObject({ ...whole, type: "ST_MultiLineString", west: -180, east: 180, parts: 17 });
    expect(round.length).toBeCloseTo(59 * Math.hypot(100, 1), 6);
    expect(await cleaned("MULTILINESTRING((170 0, -170 10), (1 1, 2 2))")).toMatchObject({ ...whole, parts: 3 });
  });

  test("what is wide without a jump stays as it is, and so do points", async () => {
    const kept = [
      "MULTIPOLYGON(((-170 0,0 0,170 0,170 5,0 5,-170 5,-170 0)))",
      "MULTIPOLYGON(((-180 -90,180 -90,180 90,-180 90,-180 -90)))",
      "MULTIPOLYGON(((-180 -60,180 -60,180 80,0 80,-180 80,-180 -60)))",
      "MULTIPOLYGON(((-180 -80,0 -70,180 -80,180 -90,-180 -90,-180 -80)))",
      "MULTIPOLYGON(((-179 0,-178 0,-178 1,-179 0)),((178 0,179 0,179 1,178 0)))",
      "MULTIPOINT((179 0),(-179 0))",
    ];
    for (const text of kept) expect(await cleaned(text)).toMatchObject({ ...whole, text, mended: [] });
    const equator = await cleaned("LINESTRING(-180 0, 180 0)");
    expect(equator).toMatchObject({ ...whole, text: "MULTILINESTRING((-180 0,180 0))" });
  });

  test("what jumps only once it is in degrees is cut too, and a bow tie is mended in either CRS", async () => {
    const utm = await cleaned("POLYGON((700000 0, 900000 0, 900000 100000, 700000 100000, 700000 0))", 32660);
    expect(utm).toMatchObject({ ...polygons, parts: 2 });
    expect(utm.area).toBeLessThan(2);
    const bow = await cleaned("POLYGON((500000 0, 600000 100000, 600000 0, 500000 100000, 500000 0))", 32633);
    expect(bow).toMatchObject({ ...whole, mended: ["made_valid"], parts: 2 });
  });

  test("Eurasia and Antarctica, whose rings jump in the atlas, become what they are once their rings run on", async () => {
    const land = JSON.parse(landGeoJson()!) as { features: { geometry: { coordinates: Point[][] } }[] };
    const turns: number[] = [];
    for (const { geometry } of land.features.slice(0, 6)) {
      const [row] = await db.sql<{ area: number; type: string; valid: boolean }>`
        select st_area(c.geom) as area, st_geometrytype(c.geom) as type, st_isvalid(c.geom) as valid
          from geo.clean_geometry(st_geomfromgeojson(${JSON.stringify(geometry)})::text, 4326, 4326, true, false) c`;
      expect(row).toMatchObject({ type: "ST_MultiPolygon", valid: true });
      const [shell, ...holes] = geometry.coordinates.map((ring) => areaRunOn(ring, turns));
      expect(row!.area).toBeCloseTo(shell! - holes.reduce((sum, hole) => sum + hole, 0), 6);
    }
    // Antarctica's among them.
    expect(turns.filter((turn) => turn !== 0)).toHaveLength(1);
  });
});

/** In square degrees; round the south pole, what is between the ring and the pole. */
function areaRunOn(given: Point[], turns: number[]): number {
  const { ring, turns: turn } = unwrap(given);
  turns.push(turn);
  return Math.abs(
    ring.slice(1).reduce((sum, [x, y], at) => sum + (x - ring[at]![0]) * (y / 2 + ring[at]![1] / 2 + 90), 0),
  );
}
