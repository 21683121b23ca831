// A layer that is replaced twenty times, each time with other columns and another count, while eight readers page through it and fetch its
// tiles over HTTP: no wrong count, no error, no page of two versions.
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtinRegistry } from "../../src/jobs/index.js";
import { withoutPostgis } from "../catalog_packages.js";
import { systemGdal } from "../gdal_bin.js";
import { openService, type TestService } from "../server/service.js";
import { pieces } from "../storage/blob_conformance.js";
import { node_args } from "../worker/isolation_node.js";
import { collection, feature, point } from "./vector_files.js";

const why = await withoutPostgis();
const gdal = await systemGdal();
const replacements = 20;
const readers = 8;
const name = "swapped";
const countOf = (version: number) => 300 + version * 10;

describe.skipIf(why !== null)(`swap under load${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  let headers: { authorization: string };

  beforeAll(async () => {
    service = await openService(builtinRegistry(), {}, { variant: "stac" });
    headers = { authorization: `Bearer ${await service.key()}` };
    await service.worker({
      slots: 2,
      isolation_node_args: node_args,
      raster: { engine: gdal.available ? "gdal" : "wasm" },
    } as never);
  }, 120_000);
  afterAll(() => service?.close());

  /** Every feature says the version it is of, in a column that only this version has. */
  async function load(version: number): Promise<void> {
    const features = Array.from({ length: countOf(version) }, (_, n) =>
      feature({ n, version, [`only_in_${version}`]: version }, point((n % 100) - 50, Math.floor(n / 100))),
    );
    const key = `in/${name}-${version}.geojson`;
    await service.engine.zones.store("bronze", "default").write(key, pieces(Buffer.from(collection(features))));
    const given = { source: `bronze:${key}`, layer: name, mode: version === 1 ? "create" : "replace", register: false };
    const { job_id } = await service.engine.submit("process_vector", given, { mode: "force" });
    const { status, error } = await service.engine.wait(job_id);
    expect([version, status, error]).toEqual([version, "completed", null]);
  }

  test("twenty replacements under eight readers: no wrong count, no error, no mixed page", {
    timeout: 900_000,
  }, async () => {
    await load(1);
    const wrong: string[] = [];
    const seen = new Set<number>();
    let rounds = 0;
    let is_over = false;

    /** From the first page to the last, of one version. */
    async function page(): Promise<void> {
      let next: string | undefined = `${service.url}/ogc/collections/${name}/items?limit=97`;
      const versions = new Set<number>();
      const columns = new Set<string>();
      let count = 0;
      let matched = 0;
      while (next !== undefined) {
        const answer: Response = await fetch(next, { headers });
        if (answer.status !== 200) return void wrong.push(`${answer.status} ${next} ${await answer.text()}`);
        const body = (await answer.json()) as Page;
        matched = body.numberMatched;
        count += body.features.length;
        for (const { properties } of body.features) {
          versions.add(properties.version as number);
          for (const column of Object.keys(properties)) if (column.startsWith("only_in_")) columns.add(column);
        }
        next = body.links.find(({ rel }) => rel === "next")?.href;
      }
      const [version] = versions;
      if (versions.size !== 1 || columns.size !== 1) wrong.push(`mixed: ${[...versions]} ${[...columns]}`);
      else if (count !== countOf(version!) || matched !== count)
        wrong.push(`version ${version}: ${count} of ${matched}`);
      else seen.add(version!);
    }

    async function tile(): Promise<void> {
      const answer = await fetch(`${service.url}/ogc/collections/${name}/tiles/WebMercatorQuad/0/0/0`, { headers });
      if (answer.status !== 200) return void wrong.push(`${answer.status} tile ${await answer.text()}`);
      const read = new VectorTile(new PbfReader(new Uint8Array(await answer.arrayBuffer()))).layers[name]!;
      const versions = new Set(
        Array.from({ length: read.length }, (_, at) => read.feature(at).properties.version as number),
      );
      const [version] = versions;
      if (versions.size !== 1 || read.length !== countOf(version!))
        wrong.push(`tile of ${[...versions]}: ${read.length}`);
    }

    const reading = Array.from({ length: readers }, async () => {
      while (!is_over) {
        await page();
        await tile();
        rounds += 1;
      }
    });
    try {
      for (let version = 2; version <= replacements + 1; version++) await load(version);
    } finally {
      is_over = true;
    }
    await Promise.all(reading);
    expect(wrong).toEqual([]);
    expect(rounds).toBeGreaterThan(replacements);
    expect(seen.size).toBeGreaterThan(replacements / 2);
    process.stderr.write(`swap: ${rounds} rounds of ${readers} readers saw ${seen.size} versions\n`);
  });
});

interface Page {
  numberMatched: number;
  features: { properties: Record<string, unknown> }[];
  links: { rel: string; href: string }[];
}
