// From a raw raster to a cloud-optimised one that is found and opened over HTTP: a scene is made, put into the bronze zone,
// processed, searched for in the STAC API, and the first bytes of its COG are read.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  builtinRegistry,
  createRegistry,
  openEngine,
  startServer,
  startWorker,
  syntheticScene,
  writeGeoTiff,
} from "fanfold";

/** As much of a STAC item as is used here. */
interface Item {
  id: string;
  assets: { data: { href: string; type: string } };
}

const folder = await mkdtemp(join(tmpdir(), "raster-to-stac-"));
const engine = await openEngine({
  registry: createRegistry(builtinRegistry()),
  database_url: process.env.DATABASE_URL || undefined,
  data_dir: "memory://",
  storage_dir: folder,
  zones: { bronze: join(folder, "bronze"), silver: join(folder, "silver"), gold: join(folder, "gold") },
  // The embedded database gets PostGIS and a catalogue when it is told to; a server has them from `fanfold migrate`.
  catalog: "stac",
  // Addresses of files are signed with it. A service keeps its own: FANFOLD_SECRET_KEY.
  secret_keys: [randomBytes(32)],
});
const worker = await startWorker(engine, { slots: 2 });
const server = await startServer({ engine, port: 0 });

try {
  // Your own file would come with: fanfold files put dem.tif bronze:scenes/dem.tif
  const scene = writeGeoTiff({
    ...syntheticScene({ seed: 7, width: 256, height: 256, look: "dem" }),
    transform: [500_000, 30, 0, 5_230_000, 0, -30],
    crs: { epsg: 32633, kind: "projected" },
  });
  await engine.zones.store("bronze", engine.tenant).write("scenes/dem.tif", Readable.from([scene]));

  const { job_id } = await engine.submit("process_raster", {
    source: "bronze:scenes/dem.tif",
    collection: "terrain",
    datetime: "2024-06-21T10:30:00Z",
  });
  const job = await engine.wait(job_id);
  const delivered = job.deliverables.map(({ name, count }) => `${count} ${name}`);
  console.log(`${job.status}: ${delivered.join(", ")}`);

  const { key } = await engine.keys.create({ name: "example", scopes: ["read"] });
  const search = async (bbox: string) => {
    const url = `${server.url}/stac/search?collections=terrain&bbox=${bbox}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    return ((await answer.json()) as { features: Item[] }).features;
  };
  const found = await search("15.01,47.19,15.02,47.2");
  console.log(`found there: ${found.map(({ id }) => id).join(", ")}`);
  console.log(`found elsewhere: ${(await search("7,46,8,47")).length}`);

  // The address is signed: whoever has it may read the file for a while, a map viewer or GDAL for example.
  const [first] = found;
  if (first === undefined) throw new Error("the scene is not in the catalogue");
  const { href, type } = first.assets.data;
  const bytes = await fetch(href, { headers: { range: "bytes=0-3" } });
  console.log(`its COG: ${bytes.status}, ${(await bytes.arrayBuffer()).byteLength} bytes of ${type.split(";")[0]}`);
} finally {
  await server.stop();
  await worker.stop();
  await engine.close();
  await rm(folder, { recursive: true });
}
