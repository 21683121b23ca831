// PMTiles of ours in MapLibre, by its own protocol: ranges of the one file, from a plain server of files.
import { createReadStream, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../dashboard/browser.js";
import { findChromium } from "../dashboard/chromium.js";
import { RasterWorld } from "../jobs/raster_world.js";
import { collection, feature, square } from "../vector/vector_files.js";

const chromium = await findChromium();
const skipped = "reason" in chromium ? ` (skipped: ${chromium.reason})` : "";
const package_file = (path: string) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));

const page_text = (url: string) => `<!doctype html><title>tiles</title>
<style>html, body, #map { margin: 0; height: 100%; width: 100% }</style><div id="map"></div>
<script src="/pmtiles.js"></script>
<script type="module">
  import * as maplibre from "/maplibre-gl.mjs";
  maplibre.setWorkerUrl("${url}/maplibre-gl-worker.mjs");
  maplibre.addProtocol("pmtiles", new pmtiles.Protocol().tile);
  const layers = [{ id: "squares", type: "fill", source: "made", "source-layer": "drawn", paint: { "fill-color": "#f00" } }];
  const sources = { made: { type: "vector", url: "pmtiles://${url}/drawn.pmtiles" } };
  const map = new maplibre.Map({ container: "map", center: [0, 0], zoom: 1, style: { version: 8, sources, layers } });
  map.on("error", ({ error }) => { document.title = "error: " + error.message; });
  map.on("idle", () => {
    const found = map.queryRenderedFeatures({ layers: ["squares"] });
    if (found.length > 0) document.title = JSON.stringify([...new Set(found.map(({ properties }) => properties.name))].sort());
  });
</script>`;

describe.skipIf(skipped !== "")(`tiles that are drawn${skipped}`, () => {
  let world: RasterWorld;
  let server: Server;
  let url: string;
  const asked: string[] = [];
  beforeAll(async () => {
    world = await RasterWorld.open("embedded");
    await world.worker();
    const squares = [feature({ name: "west" }, square(-40, 10)), feature({ name: "east" }, square(40, -10))];
    world.put("bronze:drawn.geojson", collection(squares));
    for (const [type, parameters] of [
      ["process_vector", { source: "bronze:drawn.geojson", register: false }],
      ["export_vector", { layer: "drawn", formats: ["pmtiles"], max_zoom: 3 }],
    ] as const) {
      const job = await world.run(type, parameters);
      expect(job.error).toBeNull();
      if (type === "export_vector") await serve((job.result as { files: { file: string }[] }).files[0]!.file);
    }
  }, 300_000);
  afterAll(async () => {
    server?.closeAllConnections();
    server?.close();
    await world?.close();
  });

  async function serve(ref: string): Promise<void> {
    const tiles = world.path("gold", ref.slice("gold:".length));
    server = createServer((request, answer) => {
      const path = request.url ?? "/";
      if (path === "/drawn.pmtiles") {
        const [, from = "0", to = ""] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "") ?? [];
        asked.push(request.headers.range ?? "all");
        const { size } = statSync(tiles);
        const end = Math.min(Number(to), size - 1);
        answer.writeHead(206, {
          "content-range": `bytes ${from}-${end}/${size}`,
          "content-length": end - Number(from) + 1,
        });
        createReadStream(tiles, { start: Number(from), end }).pipe(answer);
      } else if (path === "/") answer.setHeader("content-type", "text/html").end(page_text(url));
      else if (/^\/(pmtiles\.js|maplibre-gl[\w-]*\.mjs)$/.test(path)) {
        const file = path === "/pmtiles.js" ? "pmtiles/dist/pmtiles.js" : `maplibre-gl/dist${path}`;
        answer.setHeader("content-type", "text/javascript").end(readFileSync(package_file(file)));
      } else answer.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test("MapLibre draws every feature of an exported PMTiles, and asks for parts of the file alone", {
    timeout: 180_000,
  }, async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(url);
      await expect.poll(() => page.title(), { timeout: 120_000 }).toBe('["east","west"]');
      expect(asked.length).toBeGreaterThan(1);
      expect(asked.every((range) => /^bytes=\d+-\d+$/.test(range))).toBe(true);
    } finally {
      await browser.close();
    }
  });
});
