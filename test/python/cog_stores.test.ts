// A Python handler makes a COG with rasterio and publishes it into silver, in a folder, in S3 and in Azure; file and STAC item are there with the finish
// of its task. Killed between the upload and the finish, it leaves nothing that anybody sees, and the sweep removes the file.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, test } from "vitest";
import { createRegistry } from "../../src/core/declare/registry.js";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { FileSweep } from "../../src/engine/upkeep/file_sweep.js";
import { checkCogFile } from "../../src/geo/cog_check.js";
import { createAuthentication } from "../../src/server/access/authentication.js";
import { createApp } from "../../src/server/app.js";
import type { ZoneSettings } from "../../src/storage/zones.js";
import { withoutPostgis } from "../catalog_packages.js";
import { readerOf } from "../geo/open.js";
import { pythonExamples } from "../python_tools.js";
import { openService, type TestService } from "../server/service.js";
import { emulator, type ObjectService, startAzure, startS3 } from "../storage/object_services.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tools = await pythonExamples();
const why_not = typeof tools === "string" ? tools : await withoutPostgis();
if (why_not !== null) process.stderr.write(`COGs made in Python are left out: ${why_not}\n`);

/** A server of its own, whose silver lies elsewhere, on the one database. */
interface Place {
  url: string;
  engine: Engine;
  close(): Promise<void>;
}

let service: TestService;
let s3: ObjectService;
let azure: ObjectService;
let dir: string;
let bytes: Buffer;
const places: Record<string, Place> = {};
const workers = new Set<ChildProcess>();

beforeAll(async () => {
  if (why_not !== null) return;
  dir = await mkdtemp(join(tmpdir(), "fanfold-cogs-"));
  service = await openService({}, {}, { variant: "stac" });
  // For its janitor.
  await service.worker();
  [s3, azure] = await Promise.all([startS3("bucket"), startAzure("box")]);
  const zones: Record<string, Partial<ZoneSettings>> = {
    disk: {},
    s3: { silver: "s3://bucket/silver", s3: { endpoint: s3.endpoint, region: "us-east-1" } },
    azure: {
      silver: `az://${emulator.account}/box/silver`,
      azure: { endpoint: azure.endpoint, credentials: () => ({ account_key: emulator.account_key }) },
    },
  };
  for (const [name, given] of Object.entries(zones)) places[name] = await open(given);
  bytes = await makeScene();
});
afterAll(async () => {
  for (const worker of workers) worker.kill("SIGKILL");
  for (const place of Object.values(places)) await place.close();
  await service?.close();
  await s3?.close();
  await azure?.close();
  if (dir !== undefined) await rm(dir, { recursive: true, force: true });
});

async function open(zones: Partial<ZoneSettings>): Promise<Place> {
  const engine = await openEngine({
    database_url: service.server_url,
    storage_dir: service.storage_dir,
    registry: createRegistry({}),
    connections: 2,
    apart: true,
    zones,
  });
  const app = createApp({ engine, authenticator: createAuthentication({ db: engine.db }) });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    engine,
    async close() {
      await app.close();
      await engine.close();
    },
  };
}

function startWorker(url: string, key: string): { child: ChildProcess; said: string[] } {
  if (typeof tools === "string") throw new Error(tools);
  const given = ["-m", "fanfold.worker", "cog_app:app", "--slots", "1", "--lease-s", "5", "--grace-s", "5"];
  const env = {
    PATH: process.env.PATH ?? "",
    PYTHONPATH: [join(root, "python", "src"), join(root, "python", "tests")].join(":"),
    PYTHONDONTWRITEBYTECODE: "1",
    FANFOLD_URL: url,
    FANFOLD_KEY: key,
  };
  const child = spawn(tools.python, given, { env, cwd: dir });
  workers.add(child);
  child.once("close", () => workers.delete(child));
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream!.on("data", (text: Buffer) => said.push(text.toString()));
  return { child, said };
}

/** A scene as the example makes it: strips, no overviews, 300 × 300. */
async function makeScene(): Promise<Buffer> {
  if (typeof tools === "string") throw new Error(tools);
  const file = join(dir, "scene.tif");
  const script = `import sys; sys.path.insert(0, ${JSON.stringify(join(root, "examples", "python_cogs"))}); sys.path.insert(0, ${JSON.stringify(join(root, "python", "src"))})
from pathlib import Path; from main import scene; scene(Path(${JSON.stringify(file)}), 1)`;
  const made = spawn(tools.python, ["-c", script], { stdio: ["ignore", "inherit", "inherit"] });
  const code = await new Promise((resolve) => made.on("close", resolve));
  if (code !== 0) throw new Error(`no scene was made: ${code}`);
  return readFileSync(file);
}

// Each waits for a lease to end: all at once.
describe.skipIf(why_not !== null)("a COG that Python publishes", { concurrent: true }, () => {
  test.for(["disk", "s3", "azure"])(
    "is seen with the finish, and never before it (silver in %s)",
    { timeout: 180_000 },
    async (name, { expect }) => {
      const { url, engine: any } = places[name]!;
      const tenant = `cogs_${name}`;
      const key = await service.key(tenant);
      const engine = any.forTenant(tenant);
      async function* pieces() {
        yield bytes;
      }
      await engine.zones.store("bronze", tenant).write("in/scene.tif", pieces());
      const [mark, gate] = [join(dir, `${name}.mark`), join(dir, `${name}.gate`)];
      const call = (path: string) =>
        fetch(url + path, { headers: { authorization: `Bearer ${key}` }, redirect: "manual" });
      const asked = { source: "bronze:in/scene.tif", collection: `dem_${name}`, mark, gate };
      const { task_id } = await engine.enqueue("t.cog", asked);
      const first = startWorker(url, key);
      await expect.poll(() => existsSync(mark) || first.said.join(""), { timeout: 60_000 }).toBe(true);
      const left = readFileSync(mark, "utf8").replace("silver:", "");
      // Uploaded, and seen by nobody: neither as a file nor in the catalogue.
      expect((await engine.zones.store("silver", tenant).list("")).entries.map((entry) => entry.key)).toEqual([left]);
      expect((await call(`/assets/silver/${left}`)).status).toBe(404);
      expect((await call(`/stac/collections/dem_${name}`)).status).toBe(404);
      first.child.kill("SIGKILL");
      await rm(mark);
      await writeFile(gate, "");
      const second = startWorker(url, key);
      await expect
        .poll(async () => (await engine.task(task_id)).status, { timeout: 90_000, message: second.said.join("") })
        .toBe("completed");
      second.child.kill("SIGTERM");
      const { result } = await engine.task(task_id);
      const made = (result as { ref: string }).ref.replace("silver:", "");
      expect(made).not.toBe(left);
      // What the dead one left is swept; what was published stays.
      const now = () => Date.now() + 25 * 3_600_000;
      const sweep = new FileSweep({ db: engine.db, zones: engine.zones, log: engine.log, now });
      expect((await sweep.zone(tenant, "silver")).found).toMatchObject([{ key: left, why: "unfinished" }]);
      expect((await engine.zones.store("silver", tenant).list("")).entries.map((entry) => entry.key)).toEqual([made]);
      expect((await call(`/assets/silver/${left}`)).status).toBe(404);
      // By the item, as everybody finds it, it is a COG.
      const { features } = (await (await call(`/stac/collections/dem_${name}/items`)).json()) as {
        features: { id: string; assets: { cog: { href: string } } }[];
      };
      expect(features.map(({ id }) => id)).toEqual(["scene"]);
      const { pathname } = new URL(features[0]!.assets.cog.href, url);
      let answer = await call(pathname);
      if (answer.status === 302) answer = await fetch(answer.headers.get("location")!);
      const file = Buffer.from(await answer.arrayBuffer());
      expect(await checkCogFile(readerOf(file), file.length, { strict: true })).toMatchObject({
        valid: true,
        errors: [],
      });
    },
  );
});
