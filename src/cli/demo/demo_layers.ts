// The vector part of the demo: the land of the earth and a few thousand invented stations, loaded as layers and served at once. Some of the
// stations have no place, so that there is something among the rejects.
import type { Engine } from "../../engine/engine.js";
import { type Cli, globals } from "../terminal/command.js";
import { count, seconds } from "../terminal/figures.js";
import { note } from "../terminal/io.js";
import type { Session } from "../terminal/session.js";
import { workAndFollow } from "../terminal/wait.js";
import { landGeoJson } from "./demo_land.js";

const prefix = "demo-layers/";
const station_count = 3_000;
/** Every so many has no place. */
const placeless = 750;

export type DemoLayers = Awaited<ReturnType<typeof loadLayers>>;

export async function loadLayers(cli: Cli, session: Session) {
  const began = performance.now();
  const { engine, config } = session;
  const land = landGeoJson();
  await put(engine, "stations.csv", stationsCsv());
  if (land !== null) await put(engine, "land.geojson", land);
  if (!globals(cli).json)
    note(
      cli.io,
      `loading ${count(station_count)} stations${land === null ? "" : " and the land of the earth"} as vector layers`,
    );
  const reply = await engine.submit(
    "process_vector",
    { sources: { prefix: `bronze:${prefix}` }, mode: "replace" },
    { mode: "force" },
  );
  const { status } = await workAndFollow(cli, session, reply.job_id, { reply });
  const server = `http://${config.host}:${config.port}`;
  const { Layers } = await import("../../catalog/layers.js");
  const layers = await new Layers(engine.tenant).list(engine.db, { limit: 10 });
  return {
    job_id: status.job_id,
    status: status.status,
    layers: layers.map(({ name, feature_count }) => ({ name, feature_count, ...addresses(server, name) })),
    took_s: (performance.now() - began) / 1000,
  };
}

/** Where a layer is served: a page of its features, and its tiles as maps name them. */
export function addresses(server: string, name: string) {
  const collection = `${server}/ogc/collections/${name}`;
  return { features_url: `${collection}/items`, tiles_url: `${collection}/tiles/WebMercatorQuad/{z}/{y}/{x}` };
}

/** Where the dashboard draws it. */
export function layerPage(server: string, name: string): string {
  return `${server}/layers/${name}`;
}

export function* layerLines({ layers, status, took_s }: DemoLayers): Generator<string> {
  if (layers.length === 0) return yield `  layers   none: the load ended as ${status.replace("_", " ")}`;
  const told = layers.map(({ name, feature_count }) => `${name} with ${count(feature_count)} features`);
  yield `  layers   ${told.join(", ")}, in ${seconds(took_s)}`;
  for (const { features_url } of layers) yield `  features ${features_url}`;
  for (const { tiles_url } of layers) yield `  tiles    ${tiles_url}`;
}

async function put(engine: Engine, name: string, text: string): Promise<void> {
  async function* pieces() {
    yield Buffer.from(text);
  }
  await engine.zones.store("bronze", engine.tenant).write(`${prefix}${name}`, pieces());
}

const kinds = ["rain", "snow", "wind", "river", "air"];

/** Spread evenly over the world between the polar circles, the same each time. */
function stationsCsv(): string {
  const rows = Array.from({ length: station_count }, (_, at) => {
    const n = at + 1;
    const lon = ((n * 0.754877666) % 1) * 360 - 180;
    const lat = (Math.asin(((n * 0.569840291) % 1) * 1.82 - 0.91) * 180) / Math.PI;
    const place = n % placeless === 0 ? "," : `${lon.toFixed(5)},${lat.toFixed(5)}`;
    const opened = new Date(Date.UTC(1950, 0, 1) + ((n * 7919) % 27_000) * 86_400_000).toISOString().slice(0, 10);
    return `Station ${n},${kinds[(n * 7) % kinds.length]},${(n * 37) % 3_900},${opened},${place}`;
  });
  return `name,measures,height_m,opened,lon,lat\n${rows.join("\n")}\n`;
}
