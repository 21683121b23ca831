// The dashboard's files as the server hands them out: the page at its own addresses and nowhere else, under a strict policy, under a
// base path, and nothing of it where it was not built.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/server/app.js";
import { openService, type TestService } from "./service.js";

const script = `export const page = "${"x".repeat(3000)}";`;
const html = `<!doctype html><html><head><base href="/" /><script type="module" src="./ui/page-abc123.js"></script></head></html>`;
let folder: string;
let service: TestService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fanfold-dashboard-"));
  await mkdir(join(folder, "ui"));
  await writeFile(join(folder, "index.html"), html);
  await writeFile(join(folder, "icon.svg"), "<svg/>");
  await writeFile(join(folder, "notes.md"), "not for anybody");
  await writeFile(join(folder, "ui", "page-abc123.js"), script);
  await writeFile(join(folder, "ui", "page-abc123.js.br"), brotliCompressSync(script));
  await writeFile(join(folder, "ui", "page-abc123.js.gz"), gzipSync(script));
  await writeFile(join(folder, "ui", ".hidden"), "not for anybody");
  service = await openService({}, { dashboard_folder: folder, trust_proxy: 1 });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const page = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const get = (path: string, headers: Record<string, string> = {}) => service.call("GET", path, { key: null, headers });

describe("the page", () => {
  test("is at the dashboard's addresses, and needs no key", async () => {
    const paths = [
      "/",
      "/jobs",
      "/jobs/",
      "/jobs?status=failed",
      "/jobs/0123456789abcdef/tasks",
      "/tasks/12-0",
      "/workers",
      "/queues",
      "/health",
      "/schedules/nightly",
      "/webhooks",
      "/webhooks/x",
      "/keys",
      "/limits",
      "/audit",
      "/submit",
      "/submit/hello_world",
      "/catalog/a/b",
      "/sign-in?next=/jobs",
    ];
    for (const path of paths) {
      const { status, headers, body } = await get(path, page);
      expect({ path, status, body }).toMatchObject({ status: 200, body: expect.stringContaining('<base href="/">') });
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    }
    expect((await service.call("HEAD", "/jobs", { key: null, headers: page })).status).toBe(200);
  });

  test("is at the address of every page the dashboard has", async () => {
    const app = await readFile(new URL("../../dashboard/src/app.tsx", import.meta.url), "utf8");
    const paths = Array.from(app.matchAll(/path: "(\/[^"]*)"/g), ([, path]) =>
      (path as string).replace(/:\w+\??/g, "x"),
    );
    expect(paths).toContain("/groups/x");
    for (const path of paths) expect({ path, status: (await get(path, page)).status }).toEqual({ path, status: 200 });
  });

  test("runs and loads nothing but our own files, and is framed nowhere", async () => {
    const { headers } = await get("/jobs", page);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
        "worker-src 'self'; font-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-store",
    });
  });

  test("hides no call: what is none of its own is told as a problem, whoever asks", async () => {
    for (const path of [
      "/api/nothing",
      "/nothing",
      "/jobsx",
      "/stac",
      "/assets/gold/x.tif",
      "/metrics",
      "/ui/none.js",
    ]) {
      const { status, headers } = await get(path, page);
      expect([401, 404], path).toContain(status);
      expect(headers.get("content-type"), path).toContain("application/problem+json");
    }
    expect(await get("/jobs", { accept: "application/json" })).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    expect((await service.call("POST", "/jobs", { headers: page })).status).toBe(404);
    expect((await get("/api/health", page)).headers.get("content-type")).toContain("application/json");
    expect((await get("/api", page)).headers.get("location")).toBe("/api/docs");
  });

  test("does not use a link up that is only looked at", async () => {
    const { body } = await service.call("POST", "/api/session/link");
    const { pathname, hash } = new URL(body.url);
    for (let n = 0; n < 3; n++) await get(pathname, page);
    const code = hash.replace("#code=", "");
    expect((await service.call("POST", "/api/session", { key: null, body: { code } })).status).toBe(201);
  });
});

describe("files", () => {
  test("with a name made of what is in them are kept for a year", async () => {
    const { status, headers, body } = await get("/ui/page-abc123.js");
    expect({ status, body }).toEqual({ status: 200, body: script });
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("content-type")).toMatch(/^(text|application)\/javascript/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const icon = await get("/icon.svg");
    expect(icon.headers.get("content-type")).toBe("image/svg+xml");
    expect(icon.headers.get("cache-control")).toBe("public, max-age=3600");
  });

  test("come compressed to whoever takes that, without being compressed for it", async () => {
    const br = await raw("/ui/page-abc123.js", { "accept-encoding": "gzip, br" });
    expect(br.headers["content-encoding"]).toBe("br");
    expect(br.headers.vary).toMatch(/accept-encoding/i);
    expect(br.bytes.length).toBeLessThan(200);
    expect(brotliDecompressSync(br.bytes).toString()).toBe(script);
    expect((await raw("/ui/page-abc123.js", { "accept-encoding": "gzip" })).headers["content-encoding"]).toBe("gzip");
  });

  test("outside of the folder, hidden ones and other ones are not there", async () => {
    const paths = [
      "/ui/.hidden",
      "/ui/",
      "/ui",
      "/notes.md",
      "/index.html",
      "/ui/..%2findex.html",
      "/ui/%2e%2e/notes.md",
    ];
    for (const path of [...paths, "/ui/../../../package.json", "/ui/%00"]) {
      const { status, bytes } = await raw(path, page);
      expect([400, 403, 404], path).toContain(status);
      expect(bytes.toString()).not.toMatch(/not for anybody|<base/);
    }
  });
});

/** As it was sent: fetch would decompress it, and walk the dots. */
function raw(path: string, headers: Record<string, string>) {
  return new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    const asking = request({ hostname, port, path, headers }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(pieces) }),
      );
    });
    asking.on("error", reject).end();
  });
}

describe("under a base path", () => {
  /** An app beside the service, on the same engine, asked without a port. */
  async function beside<T>(
    public_url: string | undefined,
    ask: (app: ReturnType<typeof createApp>) => Promise<T>,
  ): Promise<T> {
    const app = createApp({ engine: service.engine, dashboard_folder: folder, public_url });
    try {
      return await ask(app);
    } finally {
      await app.close();
    }
  }

  test("a trusted proxy that takes the path off says so, and nobody else is believed", async () => {
    const proxied = { ...page, "x-forwarded-for": "192.0.2.1", "x-forwarded-prefix": "/fold" };
    expect((await get("/jobs", proxied)).body).toContain('<base href="/fold/">');
    expect((await get("/api", proxied)).headers.get("location")).toBe("/fold/api/docs");
    for (const prefix of ['/"><script>', "//evil.example", "/a/../b", "https://evil.example"])
      expect((await get("/jobs", { ...proxied, "x-forwarded-prefix": prefix })).body).toContain('<base href="/">');
    await beside(undefined, async (app) => {
      const { body } = await app.inject({ url: "/jobs", headers: proxied });
      expect(body).toContain('<base href="/">');
    });
  });

  test("FANFOLD_PUBLIC_URL says it too, whether the proxy takes the path off or not", async () => {
    await beside("https://maps.example/ops/fold", async (app) => {
      for (const url of ["/jobs", "/ops/fold/jobs", "/ops/fold/", "/ops/fold", "/ops/fold?a=1"]) {
        const { statusCode, body } = await app.inject({ url, headers: page });
        expect({ url, statusCode, body }).toMatchObject({
          statusCode: 200,
          body: expect.stringContaining('<base href="/ops/fold/">'),
        });
      }
      expect((await app.inject({ url: "/ops/fold/ui/page-abc123.js" })).body).toBe(script);
      expect((await app.inject({ url: "/ops/fold/api/health" })).statusCode).toBe(200);
      expect((await app.inject({ url: "/ops/foldx/jobs", headers: page })).statusCode).toBe(404);
      const signed = await app.inject({ method: "POST", url: "/api/session", payload: { key: await service.key() } });
      expect(signed.headers["set-cookie"]).toContain("; Path=/ops/fold; ");
    });
  });

  test("a path that looks like one of our own is left alone", async () => {
    await beside("https://maps.example/api", async (app) => {
      expect((await app.inject({ url: "/api/health" })).statusCode).toBe(200);
      expect((await app.inject({ url: "/jobs", headers: page })).body).toContain('<base href="/api/">');
    });
  });
});

test("where it was not built, / leads to the API's page and its addresses are not there", async () => {
  const lines: unknown[] = [];
  const log = Object.assign(Object.create(service.engine.log), { info: (...line: unknown[]) => lines.push(line) });
  const engine = Object.assign(Object.create(service.engine), { log });
  const app = createApp({ engine, dashboard_folder: join(folder, "nowhere") });
  const { statusCode, headers } = await app.inject({ url: "/", headers: page });
  expect({ statusCode, location: headers.location }).toEqual({ statusCode: 302, location: "/api/docs" });
  expect((await app.inject({ url: "/jobs", headers: page })).statusCode).toBe(404);
  expect(JSON.stringify(lines)).toContain("npm run build");
  await app.close();
});
