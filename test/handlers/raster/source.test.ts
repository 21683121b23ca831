import { readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import type { TiffEntry } from "../../../src/cli/demo/tiff_file.js";
import { openSource } from "../../../src/handlers/raster/source/source.js";
import { SourceCache } from "../../../src/storage/source_cache.js";
import { broken, claim, good } from "../../geo/broken.js";
import { type Listener, listen } from "../connectors/listener.js";
import { SourceWorld, sha256 } from "./source_world.js";

const engine = { codecs: new Set(["none", "deflate", "lzw"]) };
const raster = writeGeoTiff(good);
const other = writeGeoTiff({ ...good, descriptions: ["another"] });

let world: SourceWorld;
beforeEach(async () => {
  world = await SourceWorld.open();
  world.objects.set("scene.tif", raster);
});
afterEach(() => world.close());

describe("a source in a zone", () => {
  test("becomes a read-only file in the scratch directory, with its checksum and what is known of it", async () => {
    const ctx = world.ctx();
    const { file, findings, header } = await openSource(ctx, "bronze:scene.tif", engine);
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(header?.images[0].width).toBe(64);
    expect(file).toMatchObject({ bytes: raster.length, sha256: sha256(raster), from_cache: false });
    expect(dirname(file!.path)).toBe(await ctx.scratch());
    expect(file!.path).toMatch(/\/[0-9a-f-]{36}\.tif$/);
    expect((await stat(file!.path)).mode & 0o222).toBe(0);
    expect(await readFile(file!.path)).toEqual(Buffer.from(raster));
  });

  test("is refused by its header before it is fetched, with all findings", async () => {
    for (const { bytes, code } of broken) {
      world.objects.set("broken.tif", bytes);
      const { findings, file } = await openSource(world.ctx(), "bronze:broken.tif", engine);
      expect(findings.map((one) => one.code)).toContain(code);
      const is_refused = findings.some(({ severity }) => severity === "error");
      expect(file === null).toBe(is_refused);
      if (is_refused) expect(world.downloads).toBe(0);
      world.downloads = 0;
    }
  });

  test("costs one read of its header and one download", async () => {
    const { header } = await openSource(world.ctx(), "bronze:scene.tif", engine);
    expect(header).toMatchObject({ images: [{ width: 64 }] });
    expect([world.reads, world.downloads]).toEqual([1, 1]);
  });

  test("that is another one by the time it is fetched is looked at again", async () => {
    const page = new TextEncoder().encode("<!DOCTYPE html><html>signed out</html>");
    world.swapped.set("scene.tif", page);
    const ctx = world.ctx();
    const { findings, file } = await openSource(ctx, "bronze:scene.tif", engine);
    expect([findings.map(({ code }) => code), file]).toEqual([["web_page"], null]);
    expect(await readdir(await ctx.scratch())).toEqual([]);
  });

  test.each([
    ['<Item name="OVERVIEW_FILE" domain="OVERVIEWS">/etc/passwd</Item>'],
    ['<Item name="overview_&#102;ile" domain="Overviews">/vsicurl/http://127.0.0.1/</Item>'],
    ['<Item name="X_DATA&#x53;ET" domain="GEOLOCATION">/tmp/x.tif</Item>'],
    // GDAL reads all of these as an underscore: zeros do not count, and numbers go round at 2^32.
    ['<Item name="OVERVIEW&#x000000000000005F;FILE" domain="OVERVIEWS">/etc/passwd</Item>'],
    ['<Item name="OVERVIEW&#00000000000000095;FILE" domain="OVERVIEWS">/etc/passwd</Item>'],
    ['<Item name="OVERVIEW&#x10000005F;FILE" domain="OVERVIEWS">/etc/passwd</Item>'],
    ['<Item name="OVERVIEW&#4294967391;FILE" domain="OVERVIEWS">/etc/passwd</Item>'],
    // And the text from numbers of any width.
    ['<Item name="OVERVIEW_FILE" domain="OVERVIEWS">/etc/passwd</Item>', "short"],
    ['<Item name="OVERVIEW_FILE" domain="OVERVIEWS">/etc/passwd</Item>', "long"],
  ] as [string, "short" | "long" | undefined][])(
    "that names other files in its metadata is refused: %s %s",
    async (item, type) => {
      const xml = `<GDALMetadata>${item}</GDALMetadata>`;
      const values = type === undefined ? xml : [...Buffer.from(`${xml}\0`)];
      const entry = { tag: 42112, type: type ?? "ascii", values } as TiffEntry;
      world.objects.set("evil.tif", claim({ 42112: entry }));
      const { findings, file } = await openSource(world.ctx(), "bronze:evil.tif", engine);
      expect([findings[0]?.code, file]).toEqual(["names_other_files", null]);
    },
  );

  test("that is not there, too large or no source at all is an error with a code", async () => {
    const refused = (code: string, source: string, limits = {}) =>
      expect(openSource(world.ctx(), source, engine, limits)).rejects.toMatchObject({ code });
    await refused("source_missing", "bronze:none.tif");
    await refused("source_too_large", "bronze:scene.tif", { max_bytes: 100 });
    for (const source of ["scene.tif", "/etc/passwd", "s3://bucket/key", "/vsicurl/http://x/", "file:///etc/passwd"]) {
      await refused("bad_source", source);
    }
  });
});

describe("the sources of a machine", () => {
  test("are fetched once for all tasks, also when these start at the same time", async () => {
    let open = () => {};
    world.gate = new Promise((resolve) => {
      open = resolve;
    });
    const tasks = Array.from({ length: 5 }, () =>
      openSource(world.ctx({ source_cache: world.cache() }), "bronze:scene.tif", engine),
    );
    while (world.downloads === 0) await new Promise((resolve) => setImmediate(resolve));
    open();
    const files = (await Promise.all(tasks)).map(({ file }) => file!);
    expect(world.downloads).toBe(1);
    expect(files.filter(({ from_cache }) => from_cache)).toHaveLength(4);
    for (const { path, sha256: sum } of files)
      expect([sum, await readFile(path)]).toEqual([sha256(raster), Buffer.from(raster)]);
    expect((await readdir(join(world.cache_dir, (await readdir(world.cache_dir))[0]!))).length).toBe(1);
  });

  test("are kept apart by tenant and by version", async () => {
    const from = async (tenant_id: string) => {
      const ctx = world.ctx({ tenant_id, source_cache: world.cache() });
      return (await openSource(ctx, "bronze:scene.tif", engine)).file!;
    };
    expect((await from("one")).from_cache).toBe(false);
    expect((await from("two")).from_cache).toBe(false);
    expect((await from("one")).from_cache).toBe(true);
    world.objects.set("scene.tif", other);
    expect(await from("one")).toMatchObject({ from_cache: false, sha256: sha256(other) });
  });

  test("stay within their bytes: what was used longest ago goes, and who works on it keeps it", async () => {
    const source_cache = world.cache(raster.length * 2 + 100);
    for (const key of ["a", "b", "c"]) world.objects.set(key, raster);
    const got = async (key: string) => (await openSource(world.ctx({ source_cache }), `bronze:${key}`, engine)).file!;
    const a = await got("a");
    const b = await got("b");
    // As if both had been used before, the first one first.
    await utimes(a.path, 1000, (await stat(a.path)).mtime);
    await utimes(b.path, 2000, (await stat(b.path)).mtime);
    await got("c");
    expect(await readFile(a.path)).toEqual(Buffer.from(raster));
    expect((await got("b")).from_cache).toBe(true);
    expect((await got("a")).from_cache).toBe(false);
  });

  test("that were written to are fetched anew", async () => {
    const source_cache = world.cache();
    const got = async () => (await openSource(world.ctx({ source_cache }), "bronze:scene.tif", engine)).file!;
    const { path } = await got();
    await rm(path);
    const dir = join(world.cache_dir, (await readdir(world.cache_dir))[0]!);
    const entry = join(dir, (await readdir(dir))[0]!);
    const changed = raster.slice().fill(7, 100, 200);
    await rm(entry);
    await writeFile(entry, changed);
    expect(await got()).toMatchObject({ from_cache: false, sha256: sha256(raster) });
    expect((await got()).from_cache).toBe(true);
  });

  test("a fetch that was killed half way is begun anew by another process", async () => {
    const cache = new SourceCache({ ...world.cache()!, stale_ms: 1000, poll_ms: 5 });
    // Gives no sign of life for minutes, as if it had none.
    const silent = new SourceCache({ ...world.cache()!, stale_ms: 1_000_000 });
    const target = join(world.root, "target");
    const never = new AbortController();
    const killed = silent.provide("t", ["x"], join(world.root, "other"), () => new Promise(() => {}), never.signal);
    killed.catch(() => {});
    const dir = join(world.cache_dir, (await until(() => readdir(world.cache_dir)))[0]!);
    const lock = join(dir, (await until(() => readdir(dir)))[0]!);
    // As its process would leave it.
    await utimes(lock, 1, 1);
    const fetch = async () => {
      await writeFile(target, raster);
      return { bytes: raster.length, sha256: sha256(raster) };
    };
    const got = await cache.provide("t", ["x"], target, fetch, AbortSignal.timeout(20_000));
    expect(got.from_cache).toBe(false);
    expect((await readdir(dir)).filter((name) => !name.endsWith(".lock"))).toHaveLength(1);
  });

  test("a task that is given up stops waiting for another's fetch", async () => {
    world.gate = new Promise(() => {});
    const source_cache = world.cache();
    void openSource(world.ctx({ source_cache }), "bronze:scene.tif", engine);
    while (world.downloads === 0) await new Promise((resolve) => setImmediate(resolve));
    const giving_up = new AbortController();
    const second = openSource(world.ctx({ source_cache, signal: giving_up.signal }), "bronze:scene.tif", engine);
    giving_up.abort(new Error("given up"));
    await expect(second).rejects.toThrow();
    expect(world.downloads).toBe(1);
  });
});

describe("a source behind an address", () => {
  let server: Listener;
  let answer = { ranges: true, etag: '"one"' as string | null, bytes: raster as Uint8Array, status: 200, cut: false };
  const usual = { ...answer };
  beforeEach(async () => {
    answer = { ...usual };
    server ??= await listen((request, response) => {
      const { bytes, etag, ranges, status } = answer;
      if (status !== 200) return void response.writeHead(status, { location: "http://127.0.0.1:1/" }).end();
      if (etag !== null) response.setHeader("etag", etag);
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      if (!ranges || from === undefined) {
        response.writeHead(200, { "content-length": bytes.length });
        if (!answer.cut) return void response.end(bytes);
        response.write(bytes.subarray(0, 500), () => response.destroy());
        return;
      }
      const part = bytes.subarray(Number(from), Number(to) + 1);
      const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`;
      response.writeHead(206, { "content-range": range, "content-length": part.length }).end(part);
    });
  });
  afterAll(() => server?.close());

  const opened = (limits = {}, source_cache = world.cache()) => {
    const outbound = { allow_http: true, allow_private: [`127.0.0.1:${server.port}`] };
    return openSource(world.ctx({ outbound, source_cache }), `${server.url}/scene.tif`, engine, limits);
  };

  test("is looked at by ranges, streamed into a file and kept for the next task", async () => {
    const first = await opened();
    expect(first.file).toMatchObject({
      bytes: raster.length,
      sha256: sha256(raster),
      etag: '"one"',
      from_cache: false,
    });
    expect((await opened()).file).toMatchObject({ from_cache: true });
    answer.etag = '"two"';
    answer.bytes = other;
    expect((await opened()).file).toMatchObject({ from_cache: false, sha256: sha256(other) });
  });

  test("is refused by its header after one request", async () => {
    answer.bytes = new TextEncoder().encode("<html>404</html>");
    const before = server.requests.length;
    expect(await opened()).toMatchObject({ file: null, findings: [{ code: "web_page" }] });
    expect(server.requests.length - before).toBe(1);
  });

  test("is fetched whole from a server without ranges, and checked then", async () => {
    answer = { ...answer, ranges: false, etag: null };
    expect((await opened()).file).toMatchObject({ sha256: sha256(raster), from_cache: false, etag: null });
    expect((await opened()).file).toMatchObject({ from_cache: false });
    answer.bytes = claim({ 277: { tag: 277, type: "short", values: [65535] } });
    expect(await opened()).toMatchObject({ file: null });
  });

  test("never takes more than its limit, breaks off cleanly, and says who answered what", async () => {
    await expect(opened({ max_bytes: 1000 })).rejects.toMatchObject({ code: "source_too_large" });
    answer = { ...answer, ranges: false, cut: true };
    await expect(opened()).rejects.toMatchObject({ code: "connection", category: "transient" });
    for (const [status, code] of [
      [404, "source_missing"],
      [403, "source_refused"],
      [500, "source_unavailable"],
    ] as const) {
      answer = { ...usual, status };
      await expect(opened()).rejects.toMatchObject({ code });
    }
    answer = { ...usual, status: 429 };
    await expect(opened()).rejects.toMatchObject({ category: "throttled" });
    for (const task of await readdir(world.root)) {
      if (task.startsWith("task-")) expect(await readdir(join(world.root, task))).toEqual([]);
    }
  });

  test("goes through the guard: no private address, no redirect to one", async () => {
    const refused = openSource(world.ctx({ outbound: { allow_http: true } }), `${server.url}/scene.tif`, engine);
    await expect(refused).rejects.toMatchObject({ code: "outbound_refused" });
    answer.status = 302;
    const outbound = { allow_http: true, max_redirects: 3, allow_private: [`127.0.0.1:${server.port}`] };
    const redirected = openSource(world.ctx({ outbound }), `${server.url}/scene.tif`, engine);
    await expect(redirected).rejects.toMatchObject({ code: "outbound_refused" });
  });
});

async function until(look: () => Promise<string[]>): Promise<string[]> {
  for (;;) {
    const found = await look().catch(() => []);
    if (found.length > 0) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
