// Others' tools against the running server: pystac-client reads it, an independent validator judges every record it serves, and another
// the OpenAPI document. Python's packages are fetched once into a cache (see python_tools.ts).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pythonTools } from "../../python_tools.js";
import { collectionOf, itemOf, openStacService, putItems, type StacService, stac_kinds } from "./stac_service.js";

const tools = await pythonTools();
const reason = typeof tools === "string" ? tools : null;
if (reason !== null) process.stderr.write(`pystac-client and validators: skipped, because ${reason}\n`);

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;
const python = <T = Loose>(script: string, input: unknown): Promise<T> => {
  if (typeof tools === "string") throw new Error(tools);
  return tools.run<T>(script, input);
};

const extensions = ["projection/v2.0.0", "file/v2.1.0"].map(
  (one) => `https://stac-extensions.github.io/${one}/schema.json`,
);

/** As much of STAC as our own items use. */
function fullItem(number: number): Loose {
  const place: [number, number] = [(number % 12) * 10 - 60, (number % 7) * 8 - 30];
  return itemOf(`tile-${String(number).padStart(2, "0")}`, "terrain", place, {
    stac_extensions: extensions,
    properties: {
      ...(number % 5 === 4
        ? { datetime: null, start_datetime: "2024-01-01T00:00:00Z", end_datetime: "2024-02-01T00:00:00Z" }
        : { datetime: new Date(Date.UTC(2024, 0, 1 + number)).toISOString() }),
      created: "2024-06-01T00:00:00Z",
      gsd: 10 + (number % 3) * 10,
      title: `Tile ${number}`,
      "proj:code": "EPSG:32632",
      "proj:shape": [512, 512],
      "proj:transform": [10, 0, 500_000, 0, -10, 5_200_000],
      "fanfold:job_id": "0123abcd",
    },
    assets: {
      data: {
        href: `https://example.com/${number}.tif`,
        roles: ["data"],
        type: "image/tiff; application=geotiff; profile=cloud-optimized",
        "file:size": 1234,
        "file:checksum": `1220${"ab".repeat(32)}`,
        bands: [{ name: "b1", data_type: "uint16", nodata: 0, statistics: { minimum: 1, maximum: 9, mean: 4 } }],
      },
    },
  });
}

describe.skipIf(reason !== null).each(stac_kinds)(
  `others' tools on %s${reason === null ? "" : ` (skipped: ${reason})`}`,
  (kind) => {
    let service: StacService;
    const items = Array.from({ length: 45 }, (_, number) => fullItem(number));
    beforeAll(async () => {
      service = await openStacService({}, kind);
      await service.call("POST", "/stac/collections", {
        body: collectionOf("terrain", { summaries: { gsd: [10, 20, 30] }, keywords: ["dem"] }),
      });
      await service.call("POST", "/stac/collections", { body: collectionOf("empty") });
      await putItems(service, "terrain", items);
    });
    afterAll(() => service?.close());

    test("pystac-client opens, searches, pages, filters and sorts, and all it gets is valid STAC 1.1.0", async () => {
      const searches: Record<string, Loose> = {
        all: { limit: 10 },
        by_get: { limit: 10, method: "GET" },
        box: { bbox: [-60, -30, -40, 0], limit: 5 },
        polygon: { intersects: items[3].geometry },
        times: { datetime: "2024-01-10T00:00:00Z/2024-01-12T00:00:00Z" },
        ids: { ids: ["tile-01", "tile-02"] },
        nowhere: { collections: ["empty"] },
        text: { filter: "gsd >= 20 AND title LIKE 'Tile 1%'", filter_lang: "cql2-text", limit: 3 },
        text_by_get: {
          filter: "gsd >= 20 AND title LIKE 'Tile 1%'",
          filter_lang: "cql2-text",
          limit: 3,
          method: "GET",
        },
        json: { filter: { op: "in", args: [{ property: "gsd" }, [30]] }, filter_lang: "cql2-json" },
        spatial: {
          filter: { op: "s_intersects", args: [{ property: "geometry" }, { bbox: [-60, -30, -40, 0] }] },
          filter_lang: "cql2-json",
        },
        query: { query: { gsd: { gte: 30 } }, max_items: 4 },
        sorted: { sortby: ["-properties.gsd", "+id"], limit: 20 },
        sorted_by_get: { sortby: ["-properties.gsd", "+id"], limit: 20, method: "GET" },
        fields: { fields: ["id", "properties.gsd"], max_items: 3 },
      };
      const headers = { authorization: `Bearer ${await service.key("default", ["read"])}` };
      const seen = await python("client.py", {
        url: `${service.url}/stac`,
        headers,
        searches,
        collection: "terrain",
        item: "tile-07",
      });
      expect(seen.problems).toEqual({});
      expect(seen.validated).toBe(47);
      expect(Object.entries(seen.conforms).filter(([, has]) => !has)).toEqual([]);
      expect(seen.collections).toEqual(["empty", "terrain"]);
      const all = items.map(({ id }) => id);
      const ids = (name: string): string[] => seen.searches[name].ids;
      const where = (fits: (item: Loose) => boolean) =>
        items
          .filter(fits)
          .map(({ id }) => id)
          .sort();
      expect([...ids("all")].sort()).toEqual(all);
      expect(seen.searches.all.pages).toBe(5);
      expect(ids("by_get")).toEqual(ids("all"));
      const boxed = where(({ bbox }) => bbox[0] <= -40 && bbox[2] >= -60 && bbox[1] <= 0 && bbox[3] >= -30);
      expect([...ids("box")].sort()).toEqual(boxed);
      expect([...ids("spatial")].sort()).toEqual(boxed);
      expect(ids("polygon")).toContain("tile-03");
      expect(where(({ id }) => ids("times").includes(id))).toEqual(
        where(({ properties: { datetime } }) =>
          datetime === null ? true : datetime >= "2024-01-10" && datetime <= "2024-01-12T00:00:00Z",
        ),
      );
      expect([...ids("ids")].sort()).toEqual(["tile-01", "tile-02"]);
      expect(ids("nowhere")).toEqual([]);
      const filtered = where(({ properties: { gsd, title } }) => gsd >= 20 && title.startsWith("Tile 1"));
      expect([...ids("text")].sort()).toEqual(filtered);
      expect(ids("text_by_get")).toEqual(ids("text"));
      expect([...ids("json")].sort()).toEqual(where(({ properties: { gsd } }) => gsd === 30));
      expect(ids("query")).toHaveLength(4);
      const sorted = [...items].sort((a, b) => b.properties.gsd - a.properties.gsd || (a.id < b.id ? -1 : 1));
      expect(ids("sorted")).toEqual(sorted.map(({ id }) => id));
      expect(ids("sorted_by_get")).toEqual(ids("sorted"));
      expect(ids("fields")).toHaveLength(3);
      expect(seen.items.sort()).toEqual(all);
      expect(seen.item).toBe("tile-07");
      expect(seen.queryables).toEqual(
        expect.arrayContaining(["id", "datetime", "geometry", "gsd", "proj:code", "fanfold:job_id"]),
      );
      expect(seen.all_queryables).toEqual(expect.arrayContaining(["id", "datetime", "geometry"]));
    });

    test("the validator is one: it notices what is not STAC", async () => {
      // An item that names its collection links to it, which is the server's part.
      const links = [{ rel: "collection", href: "https://example.com/terrain" }];
      const [good, bad_core, bad_extension] = [1, 2, 3].map((one) => ({ ...fullItem(one), links })) as [
        Loose,
        Loose,
        Loose,
      ];
      delete bad_core.properties.datetime;
      bad_extension.properties["proj:shape"] = ["wide", "high"];
      const judged = await python("validate.py", [good, bad_core, bad_extension]);
      expect(judged.count).toBe(3);
      expect(Object.keys(judged.problems).sort()).toEqual(["tile-02", "tile-03"]);
    });
  },
);

test.skipIf(reason !== null)(
  `an independent validator finds the OpenAPI document right${reason === null ? "" : ` (skipped: ${reason})`}`,
  async () => {
    const service = await openStacService();
    try {
      const stac = await service.call("GET", "/stac/api", { key: null });
      expect(stac.headers.get("content-type")).toBe("application/vnd.oai.openapi+json;version=3.0");
      expect(stac.body.openapi).toMatch(/^3\.0\./);
      const broken = { openapi: "3.0.3", info: { title: 5 }, paths: {} };
      const found = await python("openapi.py", { stac: stac.body, broken });
      expect(found.stac).toEqual([]);
      expect(found.broken).not.toEqual([]);
      const paths = Object.keys(stac.body.paths);
      expect(paths).toEqual(
        expect.arrayContaining(["/stac", "/stac/search", "/stac/collections/{collection_id}/items"]),
      );
      expect(paths.every((path) => path.startsWith("/stac"))).toBe(true);
    } finally {
      await service.close();
    }
  },
);
