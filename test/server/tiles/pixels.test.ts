// Raster tiles beside gdalwarp: the same COG, the same tile, every codec and reference system; what differs is counted and bounded.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withoutPostgis } from "../../catalog_packages.js";
import { systemGdal } from "../../gdal_bin.js";
import { openService, type TestService } from "../service.js";
import { type Field, makeCog, numbersOf, pictureOf, putItem, tileAt, warpedTile } from "./made_cogs.js";

const gdal = await systemGdal();
const why = gdal.available ? await withoutPostgis() : gdal.why_not;

const hills = (column: number, row: number) =>
  Math.round(900 + 600 * Math.sin(column / 70) * Math.cos(row / 50) + ((column * 7 + row * 13) % 31));
/** Around 15° east, 50° north, in metres: 45 × 39 km. */
const utm: Field = {
  width: 900,
  height: 780,
  bands: 1,
  type: "Int16",
  value: (column, row) => ((column - 580) ** 2 + (row - 400) ** 2 < 90 ** 2 ? -9999 : hills(column, row)),
  srs: "EPSG:32633",
  corners: [500_000, 5_580_000, 545_000, 5_541_000],
  nodata: -9999,
};
const utm_bbox = [15, 50, 15.63, 50.37];
const [lon, lat] = [15.3, 50.2];

describe.skipIf(why !== null)(`raster tiles beside gdalwarp${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  let key: string;
  const cogs = new Map<string, string>();

  const put = async (
    id: string,
    field: Field,
    options: string[],
    more: { bbox?: number[]; args?: string[]; properties?: object } = {},
  ) => {
    const cog = await makeCog(field, options, { more: more.args ?? [] });
    cogs.set(id, cog);
    await putItem(service.engine, cog, { id, bbox: more.bbox ?? utm_bbox, properties: more.properties ?? {} });
  };
  const tile = async (id: string, place: string, query = "", ending = "png") => {
    const answer = await fetch(`${service.url}/tiles/made/${id}/${place}.${ending}${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (answer.status !== 200) throw new Error(`${answer.status} ${Buffer.from(bytes).toString()}`);
    return bytes;
  };
  /** How far our pixels are from GDAL's stretched the same way: share that differ in being there, mean and share of those off by more than one. */
  const compared = async (
    id: string,
    z: number,
    resampling: "nearest" | "bilinear",
    [low, high]: [number, number] = [0, 1600],
  ) => {
    const [x, y] = tileAt(lon, lat, z);
    const ours = await pictureOf(
      await tile(id, `${z}/${x}/${y}`, `?rescale=${low},${high}&resampling=${resampling}`),
      ".png",
    );
    const theirs = await warpedTile(cogs.get(id)!, z, x, y, resampling === "nearest" ? "near" : "bilinear");
    const alpha = ours.bands.length % 2 === 0 ? ours.bands.at(-1)! : null;
    const their_alpha = theirs.bands.at(-1)!;
    let [there, elsewhere, off, sum] = [0, 0, 0, 0];
    for (let at = 0; at < 65_536; at++) {
      const ours_is = alpha === null || alpha[at] === 255;
      if (ours_is !== their_alpha[at]! > 0) elsewhere++;
      if (!ours_is || !(their_alpha[at]! > 0)) continue;
      there++;
      const colors = ours.bands.length < 3 ? 1 : 3;
      for (let band = 0; band < colors; band++) {
        const wanted = Math.min(255, Math.max(0, Math.round(((theirs.bands[band]![at]! - low) / (high - low)) * 255)));
        const far = Math.abs(ours.bands[band]![at]! - wanted);
        sum += far / colors;
        if (far > 1) off += 1 / colors;
      }
    }
    return { there, elsewhere: elsewhere / 65_536, off: off / Math.max(1, there), mean: sum / Math.max(1, there) };
  };

  beforeAll(async () => {
    service = await openService({}, {}, { variant: "stac" });
    key = await service.key();
  }, 120_000);
  afterAll(() => service?.close());

  const lossless: Record<string, string[]> = {
    none: ["COMPRESS=NONE"],
    deflate: ["COMPRESS=DEFLATE", "PREDICTOR=YES"],
    lzw: ["COMPRESS=LZW"],
    lzw_predicted: ["COMPRESS=LZW", "PREDICTOR=YES"],
    zstd: ["COMPRESS=ZSTD"],
    lerc: ["COMPRESS=LERC_DEFLATE", "MAX_Z_ERROR=0"],
  };
  test.each(Object.entries(lossless))(
    "a COG packed with %s has the pixels that gdalwarp has",
    async (name, options) => {
      await put(name, utm, options);
      for (const z of name === "deflate" ? [11, 13, 8] : [11]) {
        const seen = await compared(name, z, "nearest");
        expect(seen.there, `zoom ${z}`).toBeGreaterThan(z === 8 ? 100 : 20_000);
        // Where a pixel begins is told to an eighth of one, by both.
        expect(seen.elsewhere, `zoom ${z}`).toBeLessThan(0.01);
        expect(seen.off, `zoom ${z}`).toBeLessThan(0.08);
        expect(seen.mean, `zoom ${z}`).toBeLessThan(0.6);
      }
    },
  );

  test("between pixels a straight line is drawn, as GDAL's bilinear does", async () => {
    await put("smooth", utm, ["COMPRESS=DEFLATE"]);
    const seen = await compared("smooth", 13, "bilinear");
    expect(seen.there).toBeGreaterThan(20_000);
    expect(seen.elsewhere).toBeLessThan(0.01);
    expect(seen.off).toBeLessThan(0.01);
    expect(seen.mean).toBeLessThan(0.3);
  });

  test("floating point with its predictor, in degrees, and where it is no number it is transparent", async () => {
    const field: Field = {
      ...utm,
      type: "Float32",
      value: (column, row) => (column < 200 ? Number.NaN : hills(column, row) + 0.25),
      srs: "EPSG:4326",
      corners: [15, 50.4, 15.63, 50],
    };
    await put("floats", { ...field, nodata: Number.NaN }, ["COMPRESS=DEFLATE", "PREDICTOR=YES"]);
    const seen = await compared("floats", 11, "nearest");
    expect(seen.there).toBeGreaterThan(20_000);
    expect(seen.elsewhere).toBeLessThan(0.01);
    expect(seen.off).toBeLessThan(0.08);
  });

  test.each([
    ["EPSG:3035", [4_676_000, 3_043_000, 4_721_000, 3_004_000]],
    ["EPSG:5514", [-701_000, -1_019_000, -656_000, -1_058_000]],
    ["EPSG:3857", [1_663_000, 6_516_000, 1_743_000, 6_446_000]],
  ] as const)("a raster in %s lies where GDAL lays it", async (srs, corners) => {
    const id = srs.replace(":", "-");
    await put(id, { ...utm, srs, corners }, ["COMPRESS=DEFLATE"]);
    const seen = await compared(id, 11, "nearest");
    expect(seen.there).toBeGreaterThan(20_000);
    // Between datums the two may go ways that differ by a metre, of pixels of fifty.
    expect(seen.elsewhere).toBeLessThan(0.02);
    expect(seen.mean).toBeLessThan(1.5);
  });

  const colors: Field = {
    ...utm,
    type: "Byte",
    bands: 3,
    value: (column, row, band) =>
      128 + Math.round(100 * Math.sin((column + band * 50) / 60) * Math.cos(row / (40 + band * 9))),
  };
  test.each([
    ["jpeg", ["COMPRESS=JPEG", "QUALITY=90"]],
    ["webp", ["COMPRESS=WEBP", "QUALITY=90"]],
  ] as const)("a picture packed with %s looks as GDAL decodes it", async (name, options) => {
    const { nodata: _, ...without } = colors;
    await put(name, without, [...options]);
    const seen = await compared(name, 11, "nearest", [0, 255]);
    expect(seen.there).toBeGreaterThan(20_000);
    expect(seen.mean).toBeLessThan(2);
  });

  test("what a mask or an alpha band hides is transparent", async () => {
    const four: Field = {
      ...colors,
      bands: 4,
      value: (column, row, band) => (band < 3 ? colors.value(column, row, band) : column < 550 ? 0 : 255),
    };
    const { nodata: _, ...without } = four;
    await put("alpha", without, ["COMPRESS=DEFLATE"], { args: ["-colorinterp", "red,green,blue,alpha"] });
    await put("mask", without, ["COMPRESS=JPEG"], { args: ["-b", "1", "-b", "2", "-b", "3", "-mask", "4"] });
    for (const id of ["alpha", "mask"]) {
      const seen = await compared(id, 11, "nearest", [0, 255]);
      expect(seen.there, id).toBeGreaterThan(15_000);
      expect(seen.there, id).toBeLessThan(60_000);
      expect(seen.elsewhere, id).toBeLessThan(0.01);
    }
  });

  test("a colour map, colours of classes, one band of three, and WebP", async () => {
    await put("shown", utm, ["COMPRESS=DEFLATE"]);
    const [x, y] = tileAt(lon, lat, 11);
    const low = await pictureOf(await tile("shown", `11/${x}/${y}`, "?colormap=viridis&rescale=5000,9000"), ".png");
    const at = low.bands[3]!.indexOf(255);
    expect(low.bands.slice(0, 3).map((band) => band[at])).toEqual([0x44, 0x01, 0x54]);
    const { bands } = await pictureOf(
      await tile("shown", `11/${x}/${y}`, "?colors=900:ff0000,901:00ff00&resampling=nearest"),
      ".png",
    );
    const seen = new Set<string>();
    for (let n = 0; n < 65_536; n++)
      if (bands[3]![n] === 255) seen.add(`${bands[0]![n]},${bands[1]![n]},${bands[2]![n]}`);
    expect([...seen].sort()).toEqual(["0,255,0", "255,0,0"]);
    const webp = await tile("shown", `11/${x}/${y}`, "", "webp");
    expect(Buffer.from(webp.subarray(8, 12)).toString()).toBe("WEBP");
    expect((await pictureOf(webp, ".webp")).width).toBe(256);
    const large = await numbersOf(cogs.get("shown")!);
    expect(large.width).toBe(900);
  });
});
