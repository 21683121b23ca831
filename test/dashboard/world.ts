// A lively service for the browser: land cover cut into tiles over the Alps, imports that fail in three ways, a gate that waits, and
// whatever else the dashboard has a view of. Used by the walks and by `npm run screenshots`.
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent, Transient } from "../../src/core/errors/errors.js";
import type { TestService } from "../server/service.js";
import { collectionOf } from "../server/stac/stac_service.js";
import { fillLayers } from "./layers_world.js";
import { picture } from "./picture.js";
import { fillRequests, type RequestWorld, requests_parts, requests_types } from "./world_requests.js";

/** What is broken stays so until somebody mends it, in the process of the worker. */
export const mending = { done: false };

const land_cover = defineJob({
  type: "land_cover",
  description: "Classifies the land cover of a region, tile by tile, and publishes one mosaic",
  parameters: z.object({
    region: z
      .string()
      .min(1)
      .max(60)
      .describe("Its name, for people")
      .meta({ examples: ["Eastern Alps"] }),
    tiles: z.int().min(1).max(100_000).default(96).describe("How many tiles it is cut into"),
    season: z.enum(["spring", "summer", "autumn", "winter"]).default("summer").describe("Which scenes are taken"),
    cloud_cover: z.number().min(0).max(100).default(20).describe("Scenes with more clouds are left out, in percent"),
    seconds_per_tile: z.number().min(0).max(600).default(0).describe("How long a tile takes"),
  }),
  stages: [
    { name: "scenes", task: "cover.find", description: "the scenes of the region are found" },
    {
      name: "tiles",
      task: "cover.tile",
      description: "every tile is classified",
      failure_budget: { percent: 5 },
      // What goes on for minutes leaves room for others.
      max_parallel: 6,
      tasks: ({ parameters }) => tilesOf(parameters.tiles, parameters.seconds_per_tile),
    },
    { name: "mosaic", task: "cover.mosaic", parallelism: "fan_in", description: "the tiles are one mosaic" },
    { name: "publish", task: "cover.publish", description: "the mosaic is in the catalogue" },
  ],
});

const station_import = defineJob({
  type: "station_import",
  description: "Imports the readings of measuring stations",
  parameters: z.object({ stations: z.int().min(1).max(100_000), day: z.iso.date() }),
  stages: [
    {
      name: "read",
      task: "station.read",
      description: "every station is read",
      max_attempts: 2,
      tasks: { count: "{parameters.stations}", index: "station-{ordinal}", parameters: { n: "{ordinal}" } },
    },
    { name: "sum", task: "station.sum", parallelism: "fan_in", description: "the day is summed up" },
  ],
});

const replace_index = defineJob({
  type: "replace_index",
  description: "Builds the public index anew and replaces it once somebody has looked at it",
  parameters: z.object({ version: z.string() }),
  stages: [
    { name: "build", task: "index.build", description: "the new index is built" },
    {
      name: "replace",
      task: "index.replace",
      description: "the public index is the new one",
      gate: "Replace the public index by the new one?",
    },
  ],
});

const soil_samples = defineJob({
  type: "soil_samples",
  description: "Waits for a worker that nobody runs",
  parameters: z.object({ site: z.string() }),
  stages: [{ name: "measure", task: "soil.measure" }],
});

const [west, south, step] = [5.4, 43.4, 0.48];

/** A grid, row by row, twice as wide as high. */
function* tilesOf(count: number, seconds: number) {
  const columns = Math.max(1, Math.ceil(Math.sqrt(count * 2)));
  const size = (step * 24) / columns;
  for (let n = 0; n < count; n++) {
    const [left, low] = [west + (n % columns) * size, south + Math.floor(n / columns) * size];
    const index = `r${Math.floor(n / columns)}-c${n % columns}`;
    yield { index, parameters: { n, seconds }, bbox: [left, low, left + size, low + size].map(rounded) };
  }
}

const rounded = (value: number) => Math.round(value * 1000) / 1000;

export const world_parts = {
  jobs: [land_cover, station_import, replace_index, soil_samples, ...requests_parts.jobs],
  recipes: requests_parts.recipes,
  handlers: [
    ...requests_parts.handlers,
    defineHandler("cover.find", {}, async (_, { log, job }) => {
      log.info("asking the catalogue for scenes", { season: job?.parameters.season });
      log.info("found 42 scenes, 5 left out for clouds");
      return { scenes: 37, bbox: [west, south, west + step * 24, south + step * 12].map(rounded) };
    }),
    defineHandler("cover.tile", {}, async ({ n, seconds }, ctx) => {
      const { log, attempt, index, signal } = ctx;
      log.info(`reading tile ${index}`, { bands: ["B02", "B03", "B04", "B08"] });
      if (n % 31 === 11 && attempt === 1)
        throw new Transient("the archive did not answer within 30 s", { code: "timeout" });
      if (n % 53 === 20 && !mending.done) {
        log.error("band B08 is empty", { valid_pixels: 0 });
        throw new Permanent(`tile ${index}: band B08 holds no data`, { code: "no_data" });
      }
      for (let done = 0; done < seconds; done++) {
        ctx.progress({ done, total: Math.ceil(seconds), message: "classifying" });
        await sleep(1_000, undefined, { signal });
      }
      log.debug("confidence", { forest: 0.91, rock: 0.77, ice: 0.64 });
      ctx.deliver({ name: "tiles", location: "gold/land-cover" });
      return { forest: ((n * 37) % 100) / 100, ice: ((n * 11) % 40) / 100, checksum: "0x5eed" };
    }),
    defineHandler("cover.mosaic", {}, async (_, { previous }) => ({ tiles: (await previous.all()).length })),
    defineHandler("cover.publish", {}, (_, ctx) => {
      ctx.deliver({ name: "mosaic", location: "gold/land-cover/mosaic.tif" });
      return { collection: "land-cover" };
    }),
    defineHandler("station.read", {}, ({ n }, { log }) => {
      if (!mending.done && n % 9 === 4) throw new Permanent(`station ${n}: 403 from the archive`, { code: "denied" });
      if (!mending.done && n % 40 === 7)
        throw new Permanent(`cannot read "readings-${n}.csv": line ${n * 3} has 5 columns, not 6`, { code: "bad_csv" });
      if (!mending.done && n % 90 === 60)
        throw new Transient(`connection to 10.0.${n % 7}.12 reset after ${n} ms`, { code: "reset" });
      log.info("read", { readings: 144 });
      return { readings: 144, mean: n / 7 };
    }),
    defineHandler("station.sum", {}, () => ({ ok: true })),
    defineHandler("index.build", {}, (_, { log }) => {
      log.info("1,204,331 entries");
      return { entries: 1_204_331 };
    }),
    defineHandler("index.replace", {}, () => ({ replaced: true })),
    defineHandler("soil.measure", {}, () => null),
  ],
};

/** What a worker of the walks takes: all but the soil. */
export const world_types = [
  "cover.find",
  "cover.tile",
  "cover.mosaic",
  "cover.publish",
  "station.read",
  "station.sum",
].concat(["index.build", "index.replace", "#plan", "#plan:land_cover"], requests_types);

export interface World extends RequestWorld {
  /** Completed, with a few tiles that failed within the budget. */
  covered: string;
  /** Under way, for minutes. */
  running: string;
  /** Failed, with three groups of errors. */
  broken: string;
  /** Waits for somebody. */
  gated: string;
  /** Waits for a worker that is not there. */
  stuck: string;
  /** A task of `covered` that failed. */
  failed_task: string;
}

/** All of it, for one tenant; `running` false leaves out what goes on for minutes. */
export async function fillWorld(service: TestService, { tenant = "default", running = true } = {}): Promise<World> {
  mending.done = false;
  const key = await service.key(tenant);
  const engine = service.engine.forTenant(tenant);
  const submit = async (
    type: string,
    parameters: Record<string, unknown>,
    labels: Record<string, string>,
    of: { group_id?: string } = {},
  ) => (await engine.submit(type, parameters, { labels, correlation_id: `${type}-1`, ...of })).job_id;
  const covered = await submit("land_cover", { region: "Alps", tiles: 288 }, { team: "land", stage: "production" });
  const broken = await submit("station_import", { stations: 400, day: "2031-05-14" }, { team: "climate" });
  const gated = await submit("replace_index", { version: "2031-05" }, { team: "search" });
  const stuck = await submit("soil_samples", { site: "Davos" }, { team: "soil" });
  await engine.groups.create({ group_id: "valleys", name: "Valleys of the south", expected: 8, actor: "Mara" });
  for (let n = 0; n < 6; n++) {
    const valley = { region: `Valley ${n + 1}`, tiles: 12 };
    await submit("land_cover", valley, { team: "land" }, { group_id: "valleys" });
  }
  const cancelled = await submit("soil_samples", { site: "Chur" }, { team: "soil" });
  await engine.cancelJob(cancelled, "the site is closed", { actor: "Mara" });
  for (const job_id of [covered, broken]) await engine.wait(job_id);
  const under_way = running
    ? await submit(
        "land_cover",
        { region: "Pyrenees", tiles: 288, seconds_per_tile: 8, season: "autumn" },
        { team: "land" },
      )
    : covered;
  const ok = (answer: { status: number; body: unknown }) => {
    if (answer.status >= 300) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const call = async (method: string, path: string, body?: unknown) =>
    ok(await service.call(method, path, { key, body }));
  await call("PUT", "/api/schedules/nightly-stations", {
    cron: "15 2 * * *",
    time_zone: "Europe/Zurich",
    job_type: "station_import",
    parameters: { stations: 60, day: "2031-05-15" },
  });
  await call("PUT", "/api/schedules/monthly-index", {
    cron: "0 6 1 * *",
    job_type: "replace_index",
    parameters: { version: "next" },
  });
  const hook = await call("POST", "/api/webhooks", {
    url: "https://hooks.example.com/fanfold",
    description: "the team's chat",
  });
  await call("POST", `/api/webhooks/${(hook.body as { endpoint_id: string }).endpoint_id}/ping`);
  await call("PUT", "/api/connectors/http.request/archive", {
    config: { base_url: "https://archive.example.com/v1", limits: { max_concurrent: 4, rate_per_s: 10 } },
  });
  await engine.keys.create({ name: "nightly import", scopes: ["submit", "read"], actor: "Mara" });
  await engine.keys.create({ name: "map viewer", scopes: ["read"], actor: "Mara" });
  const { tasks } = await engine.tasks({ job_id: covered, status: "failed" });
  const requests = await fillRequests(service, tenant);
  return { ...requests, covered, running: under_way, broken, gated, stuck, failed_task: tasks[0]!.task_id };
}

/** A collection with pictures; only where the database has a catalogue. */
export async function fillCatalog(service: TestService, tenant = "default"): Promise<void> {
  await fillLayers(service, tenant);
  const engine = service.engine.forTenant(tenant);
  const key = await service.key(tenant);
  const collection = collectionOf("land-cover", {
    title: "Land cover",
    description: "Land cover of the Alps, by tile",
    extent: {
      spatial: { bbox: [[6, 44.5, 12.5, 47.6]] },
      temporal: { interval: [["2031-05-01T00:00:00Z", "2031-05-25T00:00:00Z"]] },
    },
  });
  await service.call("POST", "/stac/collections", { key, body: collection });
  const features = [];
  for (let n = 0; n < 24; n++) {
    const id = `tile-${String(n).padStart(2, "0")}`;
    const [left, low] = [6 + (n % 6) * 1.1, 44.5 + Math.floor(n / 6) * 0.8];
    const place = { zone: "silver" as const, key: `land-cover/${id}/quicklook.png` };
    const bytes = picture(n);
    const store = engine.zones.store(place.zone, tenant);
    const { sha256 } = await store.write(
      place.key,
      (async function* () {
        yield bytes;
      })(),
    );
    await engine.assets.publish({
      ...place,
      name: "quicklook.png",
      bytes: bytes.length,
      sha256,
      media_type: "image/png",
    });
    const ring = [
      [left, low],
      [left + 1, low],
      [left + 1, low + 0.7],
      [left, low + 0.7],
      [left, low],
    ];
    features.push({
      type: "Feature",
      stac_version: "1.1.0",
      stac_extensions: [],
      id,
      collection: "land-cover",
      links: [],
      geometry: { type: "Polygon", coordinates: [ring] },
      bbox: [left, low, left + 1, low + 0.7].map(rounded),
      properties: { datetime: `2031-05-${String(1 + n).padStart(2, "0")}T10:00:00Z`, "eo:cloud_cover": (n * 7) % 60 },
      assets: {
        thumbnail: {
          href: engine.zones.store(place.zone, tenant).href(place.key),
          type: "image/png",
          roles: ["thumbnail"],
          title: "Quicklook",
        },
      },
    });
  }
  const body = { type: "FeatureCollection", features };
  const { status, body: told } = await service.call("POST", "/stac/collections/land-cover/items", { key, body });
  if (status !== 201) throw new Error(JSON.stringify(told));
}
