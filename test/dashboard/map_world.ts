// What the map's tests look at: a stage of tiles over the Alps and over the antimeridian, some of them failed, one still running; and
// the items and pictures that came out of it.
import { deflateSync } from "node:zlib";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import type { TestService } from "../server/service.js";
import { collectionOf, itemOf } from "../server/stac/stac_service.js";
import { pieces } from "../storage/blob_conformance.js";

export const columns = 12;
export const rows = 8;
export const over_alps = columns * rows;
/** The four beyond are over the antimeridian. */
export const tile_count = over_alps + 4;
export const failing = [17, 18, 40];
export const held_tile = 95;

export const spot_box: [number, number, number, number] = [12.2, 41.8, 12.8, 42];

let letGo: () => void = () => undefined;
/** Ends the task that is held. */
export const release = () => letGo();

export function boxOf(n: number): [number, number, number, number] {
  if (n >= over_alps) {
    const onGlobe = (lon: number) => (lon > 180 ? lon - 360 : lon);
    const west = 178.5 + (n - over_alps);
    return [onGlobe(west), -18, onGlobe(west + 1), -17];
  }
  const [x, y] = [n % columns, Math.floor(n / columns)];
  return [6 + x * 0.4, 45.6 + y * 0.3, 6 + (x + 1) * 0.4, 45.6 + (y + 1) * 0.3];
}

export const map_parts = {
  jobs: [
    defineJob({
      type: "survey",
      stages: [
        {
          name: "tiles",
          task: "map.tile",
          max_attempts: 1,
          failure_budget: { percent: 100 },
          tasks: () =>
            Array.from({ length: tile_count }, (_, n) => ({ index: `tile-${n}`, parameters: { n }, bbox: boxOf(n) })),
        },
        { name: "report", task: "map.report", parallelism: "fan_in" as const },
      ],
    }),
    // One box: it is in the middle of its map.
    defineJob({
      type: "spot",
      stages: [{ name: "look", task: "map.report", tasks: () => [{ index: "spot", bbox: spot_box }] }],
    }),
  ],
  handlers: [
    defineHandler("map.tile", {}, async ({ n }) => {
      if (failing.includes(n)) throw new Permanent("the scene is cloudy", { code: "cloudy" });
      if (n === held_tile) await new Promise<void>((resolve) => (letGo = resolve));
      return { n };
    }),
    defineHandler("map.report", {}, () => ({ done: true })),
  ],
};

/** The job with all but one tile ended. */
export async function surveyed(service: TestService, run = 1): Promise<{ job_id: string; stage_id: number }> {
  const { job_id } = await service.engine.submit("survey", { run });
  for (;;) {
    const { stages } = await service.engine.status(job_id);
    const { stage_id, completed, failed } = stages[0]!;
    if (completed + failed === tile_count - 1) return { job_id, stage_id };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Items that the job made, each with a picture in our zones; one picture lies elsewhere. Gives a job with one box and one item. */
export async function catalogued(service: TestService, job_id: string, stage_id: number, count = 24): Promise<string> {
  const body = collectionOf("alps", {
    title: "Alps, from above",
    description: "Tiles of a survey of the Alps",
    extent: {
      spatial: { bbox: [[6, 45.6, 10.8, 48]] },
      temporal: { interval: [["2024-05-01T00:00:00Z", "2024-06-01T00:00:00Z"]] },
    },
  });
  await expectStatus(service.call("POST", "/stac/collections", { body }), 201);
  const features = [];
  for (let n = 0; n < count; n++) features.push(await item(service, job_id, stage_id, n));
  const spot = await service.engine.submit("spot", {});
  await service.engine.wait(spot.job_id);
  features.push(await spotItem(service, spot.job_id));
  const items = { type: "FeatureCollection", features };
  await expectStatus(service.call("POST", "/stac/collections/alps/items", { body: items }), 201);
  return spot.job_id;
}

/** Of the job with one box, in the same place. */
async function spotItem(service: TestService, job_id: string) {
  const { stages } = await service.engine.status(job_id);
  const task_id = `${stages[0]!.stage_id}-0`;
  const made = await item(service, job_id, stages[0]!.stage_id, 0, spot_box);
  const properties = {
    ...made.properties,
    datetime: "2023-01-01T00:00:00Z",
    title: "Rome",
    "fanfold:task_id": task_id,
  };
  return { ...made, id: "rome", properties };
}

async function item(service: TestService, job_id: string, stage_id: number, n: number, box = boxOf(n)) {
  const [west, south, east, north] = box;
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  const picture = await pictureOf(service, n);
  return {
    ...itemOf(`tile-${n}`, "alps", [west, south]),
    geometry: { type: "Polygon", coordinates: [ring] },
    bbox: [west, south, east, north],
    properties: {
      datetime: `2024-05-${String((n % 28) + 1).padStart(2, "0")}T10:00:00Z`,
      gsd: 10 + (n % 3) * 10,
      "proj:code": "EPSG:4326",
      "proj:bbox": [west, south, east, north],
      "fanfold:job_id": job_id,
      "fanfold:task_id": `${stage_id}-${n}`,
      title: n === 3 ? 'Tile <img src=x onerror="alert(1)">\u202e' : `Tile ${n}`,
    },
    assets: {
      data: {
        href: `s3://elsewhere/tile-${n}.tif`,
        roles: ["data"],
        title: "Cloud-optimised GeoTIFF",
        type: "image/tiff; application=geotiff; profile=cloud-optimized",
        "file:size": 12_345_678,
        "file:checksum": `1220${"ab".repeat(32)}`,
      },
      thumbnail: {
        href: n === 1 ? "https://pictures.example.com/one.png" : picture,
        type: "image/png",
        roles: ["thumbnail"],
        title: "Quicklook",
      },
    },
  };
}

let pictures = 0;

async function pictureOf(service: TestService, n: number): Promise<string> {
  const bytes = png(96, 72, (x, y) => {
    const height = Math.sin((x + n * 20) / 13) * Math.cos((y + n * 7) / 11);
    return [60 + 80 * height, 110 + 60 * height, 70 + (n % 5) * 25];
  });
  const { engine } = service;
  const key = `alps/tile-${n}/ff-1-${++pictures}-1-0123456789ab-0123456789ab/quicklook.png`;
  const { sha256 } = await engine.zones.store("silver", engine.tenant).write(key, pieces(bytes));
  const record = { zone: "silver" as const, key, name: "quicklook.png", bytes: bytes.length, sha256 };
  await engine.assets.publish({ ...record, media_type: "image/png" });
  return engine.zones.store("silver", engine.tenant).href(key);
}

async function expectStatus(answered: Promise<{ status: number; body: unknown }>, status: number): Promise<void> {
  const { status: given, body } = await answered;
  if (given !== status) throw new Error(`${given} ${JSON.stringify(body)}`);
}

/** A picture of three bytes a pixel. */
function png(width: number, height: number, colour: (x: number, y: number) => number[]): Buffer {
  const lines = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (const [i, value] of colour(x, y).entries()) {
        lines[y * (width * 3 + 1) + 1 + x * 3 + i] = Math.max(0, Math.min(255, value));
      }
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const out = Buffer.alloc(8 + body.length);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), out.length - 4);
  return out;
}

function crc(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
