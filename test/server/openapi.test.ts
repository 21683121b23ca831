// The document is true to OpenAPI 3.1 as far as its rules can be checked here, and the page made of it is a page.
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { upload_parts_api } from "../../src/core/api/files/uploads.js";
import { zone_files_api } from "../../src/core/api/files/zone_files.js";
import { upload_api } from "../../src/core/api/work/files.js";
import { error_table } from "../../src/core/errors/errors.js";
import { allRoutes } from "../../src/server/routes/index.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
// biome-ignore lint/suspicious/noExplicitAny: a document is looked into
let document: any;
beforeAll(async () => {
  service = await openService();
  document = (await service.call("GET", "/api/openapi.json", { key: null })).body;
});
afterAll(() => service.close());

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into
type Loose = any;

function operations(): { path: string; method: string; operation: Loose }[] {
  return Object.entries<Loose>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Loose>(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

function walk(value: unknown, visit: (key: string, value: unknown) => void): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    visit(key, inner);
    walk(inner, visit);
  }
}

test("every route of the server is in the document, and no other", () => {
  const endpoints = [
    ...allRoutes().map(({ endpoint }) => endpoint),
    ...Object.values(zone_files_api),
    ...Object.values(upload_parts_api),
    ...Object.values(upload_api),
  ];
  const served = endpoints.map(({ method, path }) => `${method.toLowerCase()} ${path}`);
  expect(
    operations()
      .map(({ path, method }) => `${method} ${path}`)
      .sort(),
  ).toEqual(served.sort());
});

test("it has what OpenAPI 3.1 requires: version, info, operations with ids of their own, described answers", () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
  const ids = operations().map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const known_tags = new Set(document.tags.map((tag: Loose) => tag.name));
  for (const { path, method, operation } of operations()) {
    expect(path.startsWith("/")).toBe(true);
    expect(operation.tags.every((tag: string) => known_tags.has(tag))).toBe(true);
    expect(Object.keys(operation.responses).length).toBeGreaterThan(0);
    for (const [status, answer] of Object.entries<Loose>(operation.responses)) {
      expect([method, path, status, typeof answer.description]).toEqual([
        method,
        path,
        expect.stringMatching(/^[1-5]\d\d$/),
        "string",
      ]);
      for (const media of Object.keys(answer.content ?? {})) expect(media).toMatch(/^[a-z]+\/[a-z0-9.+-]+$/);
    }
    for (const one of operation.security)
      for (const name of Object.keys(one)) expect(document.components.securitySchemes[name]).toBeDefined();
  }
});

test("the names in a path are its path parameters, each once, and all required", () => {
  for (const { path, operation } of operations()) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    const declared = operation.parameters.filter((one: Loose) => one.in === "path");
    expect([path, declared.map((one: Loose) => one.name).sort()]).toEqual([path, named]);
    expect(declared.every((one: Loose) => one.required === true)).toBe(true);
    const places = operation.parameters.map((one: Loose) => `${one.in} ${one.name.toLowerCase()}`);
    expect(new Set(places).size).toBe(places.length);
  }
});

test("no two paths differ only in the names of their parameters", () => {
  const shapes = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, "{}"));
  expect(new Set(shapes).size).toBe(shapes.length);
});

test("every schema is one of JSON Schema 2020-12, and every reference leads somewhere", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const schemas: [where: string, schema: unknown][] = Object.entries(document.components.schemas);
  walk(document.paths, (key, value) => {
    if (key === "schema") schemas.push([JSON.stringify(value).slice(0, 80), value]);
    if (key === "$ref") {
      const steps = (value as string).replace("#/", "").split("/");
      expect([value, steps.reduce((at, step) => at?.[step], document)]).toEqual([value, expect.any(Object)]);
    }
  });
  for (const [where, schema] of schemas) {
    expect([where, ajv.validateSchema(schema as Loose), ajv.errors]).toEqual([where, true, null]);
  }
  expect(schemas.length).toBeGreaterThan(100);
});

test("an example in the document fits the schema it stands in", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "doc:/", components: document.components });
  let seen = 0;
  const look = (schema: Loose) => {
    if (!Array.isArray(schema?.examples) || (schema.type === undefined && schema.anyOf === undefined)) return;
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc:/#/'));
    for (const example of schema.examples) {
      const fits = ajv.compile(absolute);
      expect([example, fits(example), fits.errors]).toEqual([example, true, null]);
      seen += 1;
    }
  };
  walk(document, (_, value) => look(value));
  expect(seen).toBeGreaterThan(3);
});

test("a refusal is described as problem details, with and without a key", () => {
  const guarded = operations().filter(({ operation }) => operation.security.length > 0);
  expect(guarded.length).toBeGreaterThan(20);
  for (const { operation, path } of guarded) {
    // OGC's standard of processes has its exceptions as plain JSON.
    const media_type = /^\/ogc\/(processes|jobs)/.test(path) ? "application/json" : "application/problem+json";
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining(["400", "401", "403", "431", "500", "503"]),
    );
    expect(operation["x-scope"]).toMatch(/^(submit|read|operate|work|admin)$/);
    for (const status of ["401", "403"]) {
      expect(operation.responses[status].content).toHaveProperty(
        [media_type, "schema", "$ref"],
        "#/components/schemas/ProblemDetails",
      );
    }
  }
});

test("the page has a place for every call and every error code, and runs and loads nothing", async () => {
  const { status, headers, body } = await service.call("GET", "/api/docs", { key: null });
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(headers.get("content-security-policy")).toContain("default-src 'none'");
  const page = body as string;
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { operation } of operations()) expect(ids).toContain(operation.operationId);
  // Those that a handler throws, or that stay inside, never leave over HTTP.
  const inside = new Set(["contract", "storage", "transient", "throttled", "permanent"]);
  for (const code of Object.keys(error_table).filter((one) => !inside.has(one))) expect(ids).toContain(code);
  const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!);
  expect(links.filter((link) => !ids.includes(link))).toEqual([]);
  expect(page.replaceAll(service.url, "")).not.toMatch(
    /<script|<link|<img|<iframe|@import|url\(|src=|https?:\/\/(?!fanfold\.example)/,
  );
  for (const tag of ["section", "article", "table", "details", "nav", "main", "dl", "ul", "pre"]) {
    const opened = page.match(new RegExp(`<${tag}[ >]`, "g"))?.length;
    expect([tag, opened]).toEqual([tag, page.match(new RegExp(`</${tag}>`, "g"))?.length]);
  }
});
