// Changes of the catalogue over HTTP: what is written is what is read, by its tenant and nobody else; whatever a text says, it stays text.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectionOf, itemOf, openStacService, putItems, type StacService, stac_kinds } from "./stac_service.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;

describe.each(stac_kinds)("changes through the STAC API (%s)", (kind) => {
  let service: StacService;
  beforeAll(async () => {
    service = await openStacService({ cors_origins: ["https://maps.example.org"] }, kind);
  });
  afterAll(() => service?.close());

  /** Without the links, which are the server's. */
  const bare = ({ links: _, ...record }: Loose) => record;
  const made = async (id: string, tenant = "default") => {
    const key = await service.key(tenant);
    const answer = await service.call("POST", "/stac/collections", { key, body: collectionOf(id) });
    expect([answer.status, answer.body.detail]).toEqual([201, undefined]);
    return answer;
  };

  test("a collection is made, read, replaced and removed with its items", async () => {
    const { headers, body } = await made("life");
    expect(headers.get("location")).toBe(`${service.url}/stac/collections/life`);
    expect(bare(body)).toEqual(bare(collectionOf("life")));
    expect((await service.call("POST", "/stac/collections", { body: collectionOf("life") })).status).toBe(409);
    const other = collectionOf("life", { title: "Another", keywords: ["a", "b"] });
    const put = await service.call("PUT", "/stac/collections/life", { body: other });
    expect([put.status, put.body.title, put.body.keywords]).toEqual([200, "Another", ["a", "b"]]);
    expect((await service.call("PUT", "/stac/collections/none", { body: collectionOf("none") })).status).toBe(404);
    await putItems(service, "life", [itemOf("a", "life")]);
    const gone = await service.call("DELETE", "/stac/collections/life");
    expect([gone.status, gone.body]).toEqual([204, ""]);
    for (const path of ["/stac/collections/life", "/stac/collections/life/items", "/stac/collections/life/items/a"])
      expect([path, (await service.call("GET", path)).status]).toEqual([path, 404]);
    expect((await service.call("GET", "/stac/search?collections=life")).body.features).toEqual([]);
  });

  test("an item is made, read as it was written, replaced, patched and removed", async () => {
    await made("items");
    const given = itemOf("a b/c?d#é", "items", [8, 47], {
      properties: { "fanfold:job_id": "f00d", 'odd " name': { deep: [1, 2.5, null, true, "x"] }, title: "T" },
      "custom:member": [1, 2, 3],
      links: [
        { rel: "via", href: "https://example.com/x" },
        { rel: "self", href: "https://elsewhere.example" },
      ],
    });
    const answer = await service.call("POST", "/stac/collections/items/items", { body: given });
    expect([answer.status, answer.body.detail]).toEqual([201, undefined]);
    const path = new URL(answer.headers.get("location")!).pathname;
    const read = await service.call("GET", path);
    expect(bare(read.body)).toEqual(bare(given));
    expect(read.body.links.filter(({ rel }: Loose) => rel === "via")).toEqual([
      { rel: "via", href: "https://example.com/x" },
    ]);
    expect(read.body.links.filter(({ rel }: Loose) => rel === "self").map(({ href }: Loose) => href)).toEqual([
      service.url + path,
    ]);
    expect((await service.call("POST", "/stac/collections/items/items", { body: given })).status).toBe(409);

    const put = await service.call("PUT", path, {
      body: { ...given, properties: { datetime: "2025-01-01T00:00:00Z" } },
    });
    expect([put.status, put.body.properties]).toEqual([200, { datetime: "2025-01-01T00:00:00Z" }]);
    const patch = await service.call("PATCH", path, {
      body: {
        properties: {
          gsd: 10,
          datetime: null,
          start_datetime: "2025-01-01T00:00:00Z",
          end_datetime: "2025-02-01T00:00:00Z",
        },
        "custom:member": null,
      },
      headers: { "content-type": "application/merge-patch+json" },
    });
    expect([patch.status, patch.body.detail]).toEqual([200, undefined]);
    expect(patch.body.properties).toEqual({
      gsd: 10,
      datetime: null,
      start_datetime: "2025-01-01T00:00:00Z",
      end_datetime: "2025-02-01T00:00:00Z",
    });
    expect(patch.body).not.toHaveProperty("custom:member");
    expect((await service.call("PATCH", path, { body: { id: "other" } })).status).toBe(400);
    expect(
      (await service.call("PATCH", path, { body: {}, headers: { "content-type": "application/merge-patch+xml" } }))
        .status,
    ).toBe(415);
    expect(
      (await service.call("POST", "/stac/search", { body: {}, headers: { "content-type": "application/geo+json" } }))
        .status,
    ).toBe(415);

    expect((await service.call("DELETE", path)).status).toBe(204);
    expect((await service.call("GET", path)).status).toBe(404);
    expect((await service.call("DELETE", path)).status).toBe(404);
  });

  test("a change names what it was made of, and is refused when that was changed meanwhile", async () => {
    await made("locks");
    await putItems(service, "locks", [itemOf("one", "locks")]);
    const path = "/stac/collections/locks/items/one";
    const first = (await service.call("GET", path)).headers.get("etag")!;
    const patch = (gsd: number, etag: string) =>
      service.call("PATCH", path, { body: { properties: { gsd } }, headers: { "if-match": etag } });
    const done = await patch(1, first);
    expect(done.status).toBe(200);
    const late = await patch(2, first);
    expect([late.status, late.body.code]).toEqual([412, "changed_meanwhile"]);
    expect((await patch(3, done.headers.get("etag")!)).status).toBe(200);
    expect((await service.call("DELETE", path, { headers: { "if-match": first } })).status).toBe(412);
    expect((await service.call("GET", path)).body.properties.gsd).toBe(3);
  });

  test("of several who make the same item at once, one does", async () => {
    await made("race");
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        service.call("POST", "/stac/collections/race/items", { body: itemOf("one", "race", [at, at]) }),
      ),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const winner = all.find(({ status }) => status === 201)!;
    expect((await service.call("GET", "/stac/collections/race/items/one")).body.bbox).toEqual(winner.body.bbox);
  });

  test("two tenants have the same names, and see, count and change nothing of each other", async () => {
    const [mine, theirs] = [await service.key("acme"), await service.key("globex")];
    for (const [tenant, key, place] of [
      ["acme", mine, [0, 0]],
      ["globex", theirs, [50, 50]],
    ] as const) {
      await made("shared", tenant);
      await putItems(service, "shared", [itemOf("same", "shared", [...place], { properties: { owner: tenant } })], key);
    }
    await made("only-theirs", "globex");
    await putItems(service, "only-theirs", [itemOf("secret", "only-theirs")], theirs);
    const seen = async (key: string) => (await service.call("GET", "/stac/search?limit=100", { key })).body;
    expect((await seen(mine)).features.map((one: Loose) => one.properties.owner)).toEqual(["acme"]);
    expect((await seen(theirs)).features.map(({ id }: Loose) => id).sort()).toEqual(["same", "secret"]);
    for (const method of ["GET", "DELETE"])
      for (const path of ["/stac/collections/only-theirs", "/stac/collections/only-theirs/items/secret"]) {
        const { status, body } = await service.call(method, path, { key: mine });
        const never = await service.call(method, path.replace("only-theirs", "never-there"), { key: mine });
        expect([method, path, status, body.detail.replaceAll("only-theirs", "never-there")]).toEqual([
          method,
          path,
          404,
          never.body.detail,
        ]);
      }
    expect(
      (
        await service.call("POST", "/stac/collections/only-theirs/items", {
          key: mine,
          body: itemOf("x", "only-theirs"),
        })
      ).status,
    ).toBe(404);
    const landing = (await service.call("GET", "/stac", { key: mine })).body;
    expect(JSON.stringify(landing)).not.toContain("only-theirs");
    expect((await service.call("DELETE", "/stac/collections/shared", { key: mine })).status).toBe(204);
    expect((await seen(theirs)).features).toHaveLength(2);
    // A place in one tenant's order is none in the other's.
    await putItems(service, "shared", [itemOf("second", "shared")], theirs);
    const page = (await service.call("GET", "/stac/search?limit=1", { key: theirs })).body;
    const next = new URL(page.links.find(({ rel }: Loose) => rel === "next").href);
    const stolen = await service.call("GET", next.pathname + next.search, { key: mine });
    expect(stolen.status === 400 || stolen.body.features.length === 0).toBe(true);
  });

  test("hostile texts stay the texts they are", async () => {
    const hostile = [
      "<img src=x onerror=alert(1)>",
      "</script><script>alert(1)</script>",
      "'; drop table stac.items; --",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: an attack on whoever evaluates it
      "%s%n${7*7}{{7*7}}",
      "\u202eevil",
      '=HYPERLINK("http://evil")',
      "a\r\nSet-Cookie: x=1",
      "😀".repeat(50),
    ];
    await made("hostile");
    await service.call("PUT", "/stac/collections/hostile", {
      body: collectionOf("hostile", { title: hostile.join(" "), keywords: hostile }),
    });
    const items = hostile.map((text, at) =>
      itemOf(`h-${at}`, "hostile", [at, at], { properties: { title: text, [`p-${at}`]: text } }),
    );
    await putItems(service, "hostile", items);
    const { headers, body } = await service.call("GET", "/stac/search?collections=hostile&sortby=id");
    expect(headers.get("content-type")).toBe("application/geo+json");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(body.features.map((one: Loose) => one.properties.title)).toEqual(hostile);
    const collection = await service.call("GET", "/stac/collections/hostile");
    expect(collection.body.keywords).toEqual(hostile);
    for (const text of hostile) {
      const found = await service.call("POST", "/stac/search", { body: { query: { title: { eq: text } } } });
      expect([text, found.body.features?.map((one: Loose) => one.properties.title)]).toEqual([text, [text]]);
    }
    const contains = await service.call("POST", "/stac/search", { body: { query: { title: { contains: "%s%n" } } } });
    expect(contains.body.features).toHaveLength(1);
  });

  test("pages of the origins that are named may read it, others may not", async () => {
    const options = {
      origin: "https://maps.example.org",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization",
    };
    const preflight = await service.call("OPTIONS", "/stac/search", { key: null, headers: options });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://maps.example.org");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
    const read = await service.call("GET", "/stac", { headers: { origin: "https://maps.example.org" } });
    expect([read.status, read.headers.get("access-control-allow-origin"), read.headers.get("vary")]).toEqual([
      200,
      "https://maps.example.org",
      "Origin",
    ]);
    const refused = await service.call("GET", "/stac/search?limit=0", {
      headers: { origin: "https://maps.example.org" },
    });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([
      400,
      "https://maps.example.org",
    ]);
    for (const [path, origin] of [
      ["/stac", "https://evil.example"],
      ["/api/jobs", "https://maps.example.org"],
    ] as const) {
      const other = await service.call("GET", path, { headers: { origin } });
      expect([path, other.headers.get("access-control-allow-origin")]).toEqual([path, null]);
    }
  });
});

test("links begin where the operator says the service is, or as a trusted proxy says the call came", async () => {
  const rootOf = async (service: StacService, headers: Record<string, string>) => {
    const { body } = await service.call("GET", "/stac", { headers });
    return body.links.find(({ rel }: Loose) => rel === "root").href;
  };
  const told = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "maps.example.org",
    "x-forwarded-prefix": "/fan/fold/",
  };
  const plain = await openStacService();
  try {
    // Nobody's word is taken unless somebody says so.
    expect(await rootOf(plain, told)).toBe(`${plain.url}/stac`);
    const key = await plain.key();
    const { createApp } = await import("../../../src/server/app.js");
    for (const [options, headers, expected] of [
      [{ trust_proxy: 1 }, told, "https://maps.example.org/fan/fold/stac"],
      [{ trust_proxy: 1 }, { ...told, "x-forwarded-prefix": "/../../evil" }, "https://maps.example.org/stac"],
      [
        { trust_proxy: 1 },
        { "x-forwarded-host": 'a b"<evil>' },
        expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/stac$/),
      ],
      [{ public_url: "https://example.org/base" }, told, "https://example.org/base/stac"],
      [{}, { host: 'evil"/><script>' }, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/stac$/)],
    ] as const) {
      const app = createApp({ engine: plain.engine, check_replies: true, ...options });
      const answer = await app.inject({ url: "/stac", headers: { authorization: `Bearer ${key}`, ...headers } });
      expect([options, answer.statusCode, answer.json().links?.find(({ rel }: Loose) => rel === "root").href]).toEqual([
        options,
        200,
        expected,
      ]);
      await app.close();
    }
  } finally {
    await plain.close();
  }
});

test("a job's status says where its items are, where there is a catalogue", async () => {
  const { openService } = await import("../service.js");
  const { defineHandler, defineJob } = await import("../../../src/core/declare/declare.js");
  const parts = {
    jobs: [defineJob({ type: "j", stages: [{ name: "s", task: "t.j" }] })],
    handlers: [defineHandler("t.j", {}, () => null)],
  };
  for (const variant of stac_kinds.includes("stac") ? (["app", "stac"] as const) : (["app"] as const)) {
    const service = await openService(parts, {}, { variant });
    try {
      const { job_id } = (await service.call("POST", "/api/jobs/submit/j", { body: {} })).body;
      const { items_url } = (await service.call("GET", `/api/jobs/status/${job_id}`)).body;
      if (variant === "app") {
        expect(items_url).toBeNull();
        const off = await service.call("GET", "/stac");
        expect([off.status, off.body.detail]).toEqual([404, "this service has no catalogue"]);
        continue;
      }
      await service.call("POST", "/stac/collections", { body: collectionOf("c") });
      await putItems(service, "c", [
        itemOf("made", "c", [1, 1], { properties: { "fanfold:job_id": job_id } }),
        itemOf("other", "c", [1, 1], { properties: { "fanfold:job_id": "abcd" } }),
      ]);
      const url = new URL(items_url);
      const found = await service.call("GET", url.pathname + url.search);
      expect([found.status, found.body.features?.map(({ id }: Loose) => id)]).toEqual([200, ["made"]]);
    } finally {
      await service.close();
    }
  }
});
