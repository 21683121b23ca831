// What is around the pixels of raster tiles: who may read them, signed addresses, ETags, what is refused and why, mosaics of a collection, links in
// the catalogue, and files that lie in a bucket.
import { readFile, stat, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signQuery } from "../../../src/server/files/signed_query.js";
import { withoutPostgis } from "../../catalog_packages.js";
import { systemGdal } from "../../gdal_bin.js";
import { startS3 } from "../../storage/object_services.js";
import { openService, type TestService } from "../service.js";
import { type Field, makeCog, pictureOf, putItem, tileAt } from "./made_cogs.js";

const gdal = await systemGdal();
const why = gdal.available ? await withoutPostgis() : gdal.why_not;

/** Half a degree around 15.25° east, 50.25° north; one value each. */
const flat = (west: number, value: number): Field => ({
  width: 600,
  height: 600,
  bands: 1,
  type: "Byte",
  value: () => value,
  srs: "EPSG:4326",
  corners: [west, 50.5, west + 0.5, 50],
});

describe.skipIf(why !== null)(`serving raster tiles${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  let key: string;
  let cog: string;
  const [x, y] = tileAt(15.3, 50.2, 10);
  const home = `/tiles/made/left/10/${x}/${y}.png`;

  const get = async (path: string, { credential = key as string | null, headers = {} } = {}) => {
    const answer = await fetch(path.startsWith("http") ? path : service.url + path, {
      headers: { ...(credential === null ? {} : { authorization: `Bearer ${credential}` }), ...headers },
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const is_json = /json/.test(answer.headers.get("content-type") ?? "");
    return {
      status: answer.status,
      headers: answer.headers,
      bytes,
      body: is_json ? JSON.parse(Buffer.from(bytes).toString()) : null,
    };
  };

  beforeAll(async () => {
    service = await openService({}, {}, { variant: "stac" });
    key = await service.key();
    cog = await makeCog(flat(15, 100), ["COMPRESS=DEFLATE"]);
    const right = await makeCog(flat(15.4, 200), ["COMPRESS=DEFLATE"]);
    await putItem(service.engine, cog, {
      id: "left",
      bbox: [15, 50, 15.5, 50.5],
      properties: { datetime: "2024-01-01T00:00:00Z" },
    });
    await putItem(service.engine, right, {
      id: "right",
      bbox: [15.4, 50, 15.9, 50.5],
      properties: { datetime: "2024-06-01T00:00:00Z" },
    });
  }, 120_000);
  afterAll(() => service?.close());

  test("a tile has an ETag, 304 for whoever has it, 204 beside the raster, 404 where there is no tile or no item", async () => {
    const first = await get(home);
    expect([first.status, first.headers.get("content-type")]).toEqual([200, "image/png"]);
    const etag = first.headers.get("etag")!;
    const again = await get(home, { headers: { "if-none-match": etag } });
    expect([again.status, again.bytes.length, again.headers.get("etag")]).toEqual([304, 0, etag]);
    expect((await get(`${home}?rescale=0,99`)).headers.get("etag")).not.toBe(etag);
    const beside = await get("/tiles/made/left/10/0/0.png");
    expect([beside.status, beside.bytes.length]).toEqual([204, 0]);
    for (const gone of [
      "/tiles/made/left/3/8/0.png",
      "/tiles/made/left/25/0/0.png",
      "/tiles/made/nobody/1/0/0.png",
      "/tiles/nothing/left/1/0/0.png",
      "/tiles/nothing/tilejson.json",
    ])
      expect((await get(gone)).status, gone).toBe(404);
  });

  test("everything that is wrong is told at once, with what to do", async () => {
    const query = "bands=0,1&rescale=9,3&colormap=viridisch&nodata=none&resampling=cubic&size=300&bandes=1&colors=x";
    const { status, body } = await get(`/tiles/made/left/1/a/0.gif?${query}`);
    expect(status).toBe(400);
    const told = (body.problems as { path: string; fix: string }[]).map(({ path }) => path).sort();
    expect(told).toEqual([
      "path.file",
      "path.x",
      "query.bandes",
      "query.bands",
      "query.colormap",
      "query.colors",
      "query.colors",
      "query.nodata",
      "query.resampling",
      "query.rescale",
      "query.size",
    ]);
    expect(body.problems.every(({ fix }: { fix: string }) => fix.length > 3)).toBe(true);
    const search = await get("/tiles/made/1/0/0.png?filter=name%20is%20what&datetime=yesterday");
    expect([search.status, search.body.problems.map(({ path }: { path: string }) => path).sort()]).toEqual([
      400,
      ["query.datetime", "query.filter"],
    ]);
    const band = await get(`${home}?bands=4`);
    expect([band.status, band.body.problems[0].fix]).toEqual([400, "Count from 1 to 1."]);
    expect((await get("/tiles/made/left/tilejson.json?format=gif&size=1")).body.problems).toHaveLength(2);
  });

  test("another tenant sees neither tiles nor TileJSON, and a stranger is not let in", async () => {
    const other = await service.key("other");
    for (const path of [
      home,
      "/tiles/made/left/tilejson.json",
      "/tiles/made/left",
      "/tiles/made",
      `/tiles/made/10/${x}/${y}.png`,
    ])
      expect((await get(path, { credential: other })).status, path).toBe(404);
    expect((await get(home, { credential: null })).status).toBe(401);
  });

  test("TileJSON has addresses that need no key: for this item only, and until they expire", async () => {
    const { body } = await get("/tiles/made/left/tilejson.json?rescale=0,200&format=webp");
    expect(body).toMatchObject({ tilejson: "3.0.0", bounds: [15, 50, 15.5, 50.5], minzoom: 0, scheme: "xyz" });
    expect(body.maxzoom).toBe(11);
    const address = (body.tiles[0] as string).replace("{z}", "10").replace("{x}", String(x)).replace("{y}", String(y));
    expect(address).toContain(".webp?rescale=0%2C200");
    const open = await get(address, { credential: null });
    expect([open.status, open.headers.get("content-type")]).toEqual([200, "image/webp"]);
    for (const wrong of [
      address.replace("/left/", "/right/"),
      address.replace("/made/left/", "/made/"),
      address.replace(/tenant=[^&]*/, "tenant=other"),
      address.replace(/expires=\d+/, `expires=${Math.floor(Date.now() / 1000) - 60}`),
    ])
      expect((await get(wrong, { credential: null })).status, wrong).toBe(401);
    const past = Date.now() - 30 * 3_600_000;
    const old = signQuery(service.engine.sealer, "raster tile url", "default", "/tiles/made/left", { now_ms: past })!;
    expect((await get(`${home}?${new URLSearchParams({ ...old })}`, { credential: null })).status).toBe(401);
  });

  test("a collection's rasters are laid together, the newest on top, and a search leaves some out", async () => {
    const shade = async (query: string) => {
      const { status, bytes } = await get(`/tiles/made/10/${x}/${y}.png?rescale=0,255${query}`);
      expect(status).toBe(200);
      const { bands } = await pictureOf(bytes, ".png");
      const seen = new Set(bands[0]!.filter((_, at) => bands.length % 2 === 1 || bands.at(-1)![at] === 255));
      return [...seen].sort((a, b) => a - b);
    };
    expect(await shade("")).toEqual([100, 200]);
    expect(await shade("&ids=left")).toEqual([100]);
    expect(await shade("&datetime=2024-05-01T00:00:00Z/..")).toEqual([200]);
    expect(await shade(`&filter=${encodeURIComponent("id = 'right'")}`)).toEqual([200]);
    const [newest, oldest] = await Promise.all(
      ["-datetime", "+datetime"].map((sortby) =>
        get(`/tiles/made/10/${x}/${y}.png?rescale=0,255&sortby=${encodeURIComponent(sortby)}`),
      ),
    );
    const bright = async (bytes: Uint8Array) =>
      (await pictureOf(bytes, ".png")).bands[0]!.filter((value) => value === 200).length;
    expect(await bright(newest!.bytes)).toBeGreaterThan(await bright(oldest!.bytes));
    const { body } = await get("/tiles/made/tilejson.json?ids=left");
    const open = (body.tiles[0] as string).replace("{z}", "10").replace("{x}", String(x)).replace("{y}", String(y));
    expect((await get(open, { credential: null })).status).toBe(200);
  });

  test("items and collections of the catalogue link to their tiles, and the links lead somewhere", async () => {
    for (const path of ["/stac/collections/made/items/left", "/stac/collections/made"]) {
      const { body } = await get(path);
      const links = (body.links as { rel: string; href: string }[]).filter(({ href }) => href.includes("/tiles/"));
      expect(links.map(({ rel }) => rel).sort()).toEqual([
        "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map",
        "tilejson",
      ]);
      for (const { href } of links) expect((await get(href)).status, href).toBe(200);
    }
    const { body } = await get("/tiles/made/left");
    const template = body.tilesets[0].links.find(({ type }: { type: string }) => type === "image/png").href as string;
    const address = template
      .replace("{tileMatrix}", "10")
      .replace("{tileCol}", String(x))
      .replace("{tileRow}", String(y));
    expect((await get(address)).status).toBe(200);
  });

  test("what no tile can be made of says why: no file of ours, no TIFF, no overviews", async () => {
    const { engine } = service;
    const text = await makeCog(flat(15, 1), ["COMPRESS=DEFLATE"]);
    await writeFile(text, "no TIFF at all, but a text of some length");
    await putItem(engine, text, { id: "text", bbox: [15, 50, 15.5, 50.5] });
    const answer = await get(`/tiles/made/text/10/${x}/${y}.png`);
    expect([answer.status, answer.body.detail]).toEqual([409, "no tile can be made of this file: it is no TIFF"]);
    const large = await makeCog({ ...flat(15, 7), width: 2600, height: 2600 }, ["COMPRESS=DEFLATE", "OVERVIEWS=NONE"]);
    await putItem(engine, large, { id: "flat", bbox: [15, 50, 15.5, 50.5] });
    const far = await get(`/tiles/made/flat/7/${tileAt(15.3, 50.2, 7).join("/")}.png`);
    expect([far.status, far.body.hint]).toEqual([422, expect.stringContaining("process_raster")]);
    const { body } = await get("/tiles/made/flat/tilejson.json");
    const [near_x, near_y] = tileAt(15.3, 50.2, body.minzoom);
    expect(body.minzoom).toBeGreaterThan(3);
    expect((await get(`/tiles/made/flat/${body.minzoom}/${near_x}/${near_y}.png`)).status).toBe(200);
    await service.db.sql`select app.retract_asset('silver', 'tiles/flat.tif', 'default', true)`;
    expect((await get(`/tiles/made/flat/12/${tileAt(15.3, 50.2, 12).join("/")}.png`)).status).toBe(404);
  });

  test("a block that is broken is told, and no call is answered with 500", async () => {
    const broken = await makeCog({ ...flat(15, 9), value: (column, row) => (column * row) % 250 }, [
      "COMPRESS=DEFLATE",
    ]);
    const { size } = await stat(broken);
    const bytes = await readFile(broken);
    bytes.fill(0xff, Math.floor(size / 3), size - 100);
    await writeFile(broken, bytes);
    await putItem(service.engine, broken, { id: "broken", bbox: [15, 50, 15.5, 50.5] });
    const place = tileAt(15.3, 50.2, 12).join("/");
    const { status, body } = await get(`/tiles/made/broken/12/${place}.png?rescale=0,250`);
    expect([status, body?.detail]).toEqual([
      409,
      expect.stringMatching(/^no tile can be made of this file: block \d+/),
    ]);
  });
});

describe.skipIf(why !== null)(`raster tiles of a bucket${why === null ? "" : ` (skipped: ${why})`}`, () => {
  test("are drawn from ranges of the object, and a small part of it is read", async () => {
    const s3 = await startS3("tiles");
    const service = await openService(
      {},
      {},
      {
        variant: "stac",
        zones: { silver: "s3://tiles/silver", s3: { endpoint: s3.endpoint, region: "eu-west-1" } } as never,
      },
    );
    try {
      const noisy: Field = {
        ...flat(15, 0),
        width: 2000,
        height: 2000,
        value: (column, row) => (column * 7919 + row * 104729 + column * row) % 256,
      };
      const cog = await makeCog(noisy, ["COMPRESS=DEFLATE"]);
      await putItem(service.engine, cog, { id: "far", bbox: [15, 50, 15.5, 50.5] });
      const store = service.engine.zones.store("silver", "default");
      const { size } = await stat(cog);
      let read = 0;
      const whole = store.read.bind(store);
      store.read = (name, options) => {
        read += options?.length ?? size;
        return whole(name, options);
      };
      const answer = await fetch(`${service.url}/tiles/made/far/13/${tileAt(15.3, 50.2, 13).join("/")}.png`, {
        headers: { authorization: `Bearer ${await service.key()}` },
      });
      expect(answer.status).toBe(200);
      expect(read).toBeGreaterThan(10_000);
      expect(read).toBeLessThan(size / 4);
    } finally {
      await service.close();
      await s3.close();
    }
  });
});
