// The STAC API as a reader walks it: from the landing page, by links alone.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectionOf, itemOf, openStacService, putItems, type StacService, stac_kinds } from "./stac_service.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;

describe.each(stac_kinds)("the STAC API, read by its links (%s)", (kind) => {
  let service: StacService;
  const days = Array.from({ length: 250 }, (_, at) =>
    itemOf(`item-${String(at).padStart(3, "0")}`, "many", [(at % 50) * 2 - 50, (at % 40) - 20], {
      properties: { datetime: new Date(Date.UTC(2024, 0, 1 + at)).toISOString(), gsd: at % 7 },
    }),
  );
  const newest_first = days.map(({ id }) => id).reverse();

  beforeAll(async () => {
    service = await openStacService({}, kind);
    await service.call("POST", "/stac/collections", { body: collectionOf("many") });
    await putItems(service, "many", days);
  });
  afterAll(() => service?.close());

  /** Follows a link as a client does. */
  async function follow(link: Loose, sent?: Loose): Promise<Loose> {
    const url = new URL(link.href);
    const body = link.merge ? { ...sent, ...link.body } : link.body;
    const answer = await service.call(
      link.method ?? "GET",
      url.pathname + url.search,
      body === undefined ? {} : { body },
    );
    expect([link.href, answer.status, answer.body.detail]).toEqual([link.href, 200, undefined]);
    return answer.body;
  }
  const linkOf = (page: Loose, rel: string) => page.links.find((link: Loose) => link.rel === rel);
  const idsOf = (page: Loose): string[] => page.features.map(({ id }: Loose) => id);

  async function walk(first: Loose, sent?: Loose): Promise<{ forth: string[]; back: string[] }> {
    const forth: string[] = idsOf(first);
    let page = first;
    let pages = 1;
    for (let next = linkOf(page, "next"); next !== undefined; next = linkOf(page, "next")) {
      page = await follow(next, sent);
      forth.push(...idsOf(page));
      expect(++pages).toBeLessThan(100);
    }
    const back: string[] = idsOf(page);
    for (let previous = linkOf(page, "prev"); previous !== undefined; previous = linkOf(page, "prev")) {
      page = await follow(previous, sent);
      back.unshift(...idsOf(page));
      expect(--pages).toBeGreaterThan(-1);
    }
    return { forth, back };
  }

  test("a page leads to the next until the end, and back to the beginning, by GET", async () => {
    const first = (await service.call("GET", "/stac/search?limit=33&collections=many")).body;
    expect(first.numberReturned).toBe(33);
    const { forth, back } = await walk(first);
    expect(forth).toEqual(newest_first);
    expect(back).toEqual(newest_first);
  });

  test("and by POST, where the link's body goes on top of what was sent", async () => {
    const sent = { limit: 40, collections: ["many"], sortby: [{ field: "properties.gsd", direction: "asc" }] };
    const first = (await service.call("POST", "/stac/search", { body: sent })).body;
    expect(linkOf(first, "next")).toMatchObject({ method: "POST", merge: true, body: { token: expect.any(String) } });
    const { forth, back } = await walk(first, sent);
    expect(forth).toHaveLength(250);
    expect(new Set(forth).size).toBe(250);
    expect(back).toEqual(forth);
    const by_gsd = forth.map((id) => Number(id.slice(5)) % 7);
    expect(by_gsd).toEqual([...by_gsd].sort());
  });

  test("and through the items of a collection, with a search beside the token", async () => {
    const first = (
      await service.call(
        "GET",
        "/stac/collections/many/items?limit=20&datetime=2024-03-01T00:00:00Z/..&bbox=-60,-30,60,30",
      )
    ).body;
    const { forth, back } = await walk(first);
    expect(forth).toEqual(newest_first.filter((id) => Number(id.slice(5)) >= 60));
    expect(back).toEqual(forth);
  });

  test("a page that holds everything says how many there are, and leads nowhere", async () => {
    const { body } = await service.call("GET", "/stac/search?limit=1000&ids=item-001,item-002,nobody");
    expect(body).toMatchObject({ numberReturned: 2, numberMatched: 2 });
    expect(linkOf(body, "next")).toBeUndefined();
    expect(linkOf(body, "prev")).toBeUndefined();
  });

  test("a limit beyond the most is taken for the most, as OGC API Features says", async () => {
    const { status, body } = await service.call("GET", "/stac/search?limit=99999999999999&fields=id");
    expect([status, body.numberReturned]).toEqual([200, 250]);
  });

  test("everything is found from the landing page, and every link of ours answers", async () => {
    const seen = new Map<string, number>();
    const queue: Loose[] = [{ rel: "start", href: `${service.url}/stac` }];
    for (let link = queue.shift(); link !== undefined; link = queue.shift()) {
      const name = `${link.method ?? "GET"} ${link.href}`;
      if (seen.has(name) || !link.href.startsWith(service.url)) continue;
      const url = new URL(link.href);
      const options = { body: link.body, headers: {} };
      const answer = await service.call(link.method ?? "GET", url.pathname + url.search, options);
      seen.set(name, answer.status);
      const type = answer.headers.get("content-type")?.replace(/; charset=utf-8$/, "");
      if (link.type !== undefined) expect([link.rel, name, type]).toEqual([link.rel, name, link.type]);
      if (seen.size < 40)
        queue.push(
          ...(answer.body?.links ?? []),
          ...(answer.body?.features ?? []).flatMap((one: Loose) => one.links).slice(0, 8),
        );
    }
    expect([...seen].filter(([, status]) => status !== 200)).toEqual([]);
    const paths = [...seen.keys()].join("\n");
    for (const path of [
      "/stac",
      "/stac/conformance",
      "/stac/api",
      "/api/docs",
      "/stac/collections",
      "/stac/queryables",
      "/stac/collections/many/items/",
    ])
      expect(paths).toContain(service.url + path);
    expect(paths).toContain("POST ");
  });

  test("collections come page by page too", async () => {
    for (const id of ["a", "b", "c d/é"]) await service.call("POST", "/stac/collections", { body: collectionOf(id) });
    const ids: string[] = [];
    let page = (await service.call("GET", "/stac/collections?limit=3")).body;
    for (let more = true; more; ) {
      ids.push(...page.collections.map(({ id }: Loose) => id));
      const next = linkOf(page, "next");
      more = next !== undefined;
      if (more) page = await follow(next);
    }
    expect(ids.sort()).toEqual(["a", "b", "c d/é", "many"]);
    const odd = page.collections
      .concat((await service.call("GET", "/stac/collections")).body.collections)
      .find(({ id }: Loose) => id === "c d/é");
    expect((await follow(linkOf(odd, "self"))).id).toBe("c d/é");
  });

  test("HEAD answers as GET does, without a body, and an ETag saves the answer", async () => {
    const path = "/stac/collections/many/items/item-007";
    const got = await service.call("GET", path);
    const head = await service.call("HEAD", path);
    const etag = got.headers.get("etag")!;
    expect([head.status, head.body, head.headers.get("etag")]).toEqual([200, "", etag]);
    expect(head.headers.get("content-type")).toBe("application/geo+json");
    expect(head.headers.get("content-length")).toBe(got.headers.get("content-length"));
    const again = await service.call("GET", path, { headers: { "if-none-match": `W/${etag}, "other"` } });
    expect([again.status, again.body]).toEqual([304, ""]);
    expect((await service.call("GET", path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  });

  test("fields gives the part that was asked for", async () => {
    const { body } = await service.call("GET", "/stac/search?limit=1&fields=id,properties.gsd");
    expect(Object.keys(body.features[0]).sort()).toEqual(["collection", "id", "properties", "type"]);
    expect(body.features[0].properties).toEqual({ gsd: 249 % 7 });
    const without = (
      await service.call("POST", "/stac/search", {
        body: { limit: 1, fields: { exclude: ["geometry", "properties.gsd"] } },
      })
    ).body;
    expect(without.features[0]).not.toHaveProperty("geometry");
    expect(without.features[0].properties).not.toHaveProperty("gsd");
    expect(without.features[0].links.length).toBeGreaterThan(3);
  });

  test("fields are those of the extension's table: what is left out, empty or in both lists", async () => {
    const needed = "assets bbox collection geometry id links properties stac_version type".split(" ");
    const whole = (await service.call("GET", "/stac/search?limit=1")).body.features[0];
    const keys = (of: object) => Object.keys(of).sort();
    const without = (name: string) => (list: string[]) => list.filter((one) => one !== name);
    expect(keys(whole.properties).length).toBeGreaterThan(1);
    const rows: [unknown, string[], string[]][] = [
      [{}, needed, ["datetime"]],
      [null, needed, ["datetime"]],
      [{ include: null, exclude: [] }, needed, ["datetime"]],
      [{ include: [], exclude: ["geometry"] }, without("geometry")(needed), ["datetime"]],
      [{ include: [], exclude: ["properties", "bbox"] }, without("properties")(without("bbox")(needed)), []],
      [{ include: null, exclude: ["assets"] }, without("assets")(needed), ["datetime"]],
      [{ exclude: ["geometry"] }, without("geometry")(keys(whole)), keys(whole.properties)],
      [{ include: ["bbox", "links"], exclude: ["bbox"] }, ["bbox", "collection", "id", "links", "type"], []],
      [{ include: ["properties.gsd"], exclude: ["properties"] }, ["collection", "id", "properties", "type"], ["gsd"]],
      [
        { include: ["properties"], exclude: ["properties.gsd"] },
        ["collection", "id", "properties", "type"],
        without("gsd")(keys(whole.properties)),
      ],
    ];
    for (const [fields, members, properties] of rows) {
      const { body } = await service.call("POST", "/stac/search", { body: { limit: 1, fields } });
      const told = body.features[0];
      expect([fields, keys(told), keys(told.properties ?? {})]).toEqual([fields, members, properties]);
    }
    for (const [text, members] of [
      ["", needed],
      ["-geometry", without("geometry")(needed)],
    ] as const) {
      const { status, body } = await service.call("GET", `/stac/search?limit=1&fields=${text}`);
      expect([status, keys(body.features[0]), keys(body.features[0].properties)]).toEqual([200, members, ["datetime"]]);
    }
  });
});
