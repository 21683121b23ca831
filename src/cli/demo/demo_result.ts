// What came of the raster demo, read back from the catalogue and the job: as a document, and in words with commands to paste.
import path from "node:path";
import { printable } from "../../core/values/printable.js";
import { seconds } from "../terminal/figures.js";
import type { Session } from "../terminal/session.js";
import { errorText } from "../terminal/summary.js";
import { shortId } from "../terminal/view.js";
import { failedTasks } from "../terminal/wait.js";
import { type DemoNotes, typed } from "./demo_folder.js";
import { type DemoLayers, layerLines } from "./demo_layers.js";

export interface DemoPlace {
  cwd: string;
  folder: string;
}

export interface DemoTimings {
  database_s: number;
  scenes_s: number;
  job_s: number;
}

export type DemoResult = Awaited<ReturnType<typeof resultOf>> & { vector: DemoLayers };

export async function resultOf(
  { engine, config, ...session }: Session,
  place: DemoPlace,
  notes: DemoNotes,
  timings: DemoTimings,
) {
  const { job_id, collection } = notes;
  const { status } = await engine.status(job_id);
  const { openCatalog } = await import("../../catalog/open.js");
  const catalog = await openCatalog(engine.db, { tenant: engine.tenant });
  const { items } = await catalog.search(engine.db, { collections: [collection], limit: 1000 });
  const server = `http://${config.host}:${config.port}`;
  const failed = await failedTasks({ engine, config, ...session }, job_id, status);
  return {
    job_id,
    status,
    scene_count: notes.scene_count,
    usable: {
      cog_count: items.filter(({ assets }) => assets.data !== undefined).length,
      cogs: `silver:${collection}/`,
      cogs_folder: path.join(engine.zones.store("silver", engine.tenant).place, collection),
      item_count: items.length,
      item_ids: items.map(({ id }) => id).sort(),
      collection,
    },
    broken: failed.map(({ index, error }) => ({ scene: index, error: errorText(error) })),
    repair: [
      mendCommand(place, notes),
      `npx fanfold resume ${shortId(job_id)} --wait --data-dir ${typed(place.cwd, place.folder)}`,
    ],
    dashboard_url: server,
    search_url: searchUrl(server, notes),
    timings,
  };
}

export function searchUrl(server: string, { collection }: DemoNotes): string {
  return `${server}/stac/search?collections=${collection}`;
}

/** Needs no database, and so works beside a server too. */
export function mendCommand({ cwd, folder }: DemoPlace, { broken }: DemoNotes): string {
  const { mended, source } = broken;
  return `npx fanfold files put --force ${typed(cwd, mended)} ${source} --data-dir ${typed(cwd, folder)}`;
}

export function* resultLines(told: DemoResult, cwd: string): Generator<string> {
  const { usable, broken, repair, scene_count, timings, vector } = told;
  const { database_s, scenes_s, job_s } = timings;
  const took_s = database_s + scenes_s + job_s + vector.took_s;
  yield "";
  yield `Partial success, as planned: ${usable.item_count} of ${scene_count} scenes are usable now, ${broken.length} can be repaired.`;
  yield `  see it   npm start (or: npx fanfold demo up) serves the dashboard at ${told.dashboard_url}`;
  yield `  usable   ${usable.cog_count} COGs in ${usable.cogs} (${typed(cwd, usable.cogs_folder)})`;
  yield `           ${usable.item_count} items in the STAC collection ${usable.collection}`;
  for (const { scene, error } of broken) yield `  broken   ${printable(scene)}: ${error}`;
  yield "  repair   put the whole file in its place and resume; nothing else runs again:";
  for (const command of repair) yield `           ${command}`;
  yield `  search   ${told.search_url} while that runs, with the key that it shows`;
  yield* layerLines(vector);
  yield `  took     ${seconds(took_s)}: database ${seconds(database_s)}, scenes ${seconds(scenes_s)}, job ${seconds(job_s)}, layers ${seconds(vector.took_s)}`;
}
