// The raster demo itself: scenes into the bronze zone, one job over them, and what came of it in words.
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { openCatalog } from "../catalog/open.js";
import type { RasterEngineChoice } from "../core/raster_settings.js";
import type { Engine } from "../engine/engine.js";
import type { JobRecord } from "../engine/records.js";
import { answer, type Cli, globals } from "./command.js";
import { type DemoNotes, demoFolder, freshFolder, typed, writeNotes } from "./demo_folder.js";
import { demoScenes, type SceneWishes } from "./demo_scenes.js";
import { exit_codes } from "./failure.js";
import { bytes, count, seconds } from "./figures.js";
import { note } from "./io.js";
import { printable } from "./printable.js";
import { type Session, withSession } from "./session.js";
import { errorText, exitCodeOf } from "./summary.js";
import { shortId } from "./view.js";
import { failedTasks, sayEnd, workAndFollow } from "./wait.js";

export interface DemoWishes extends SceneWishes {
  engine?: RasterEngineChoice | undefined;
}

export const default_wishes: DemoWishes = { scenes: 9, size: 640 };

const collection = "demo-terrain";
const prefix = "demo/";
/** Of the scenes, which show no real day. */
const datetime = "2024-06-21T10:30:00Z";

interface Timings {
  scenes_s: number;
  database_s: number;
  job_s: number;
}

/** Gives the exit code. `quiet_json`: what follows has a document of its own. */
export async function rasterDemo(
  cli: Cli,
  wishes: DemoWishes,
  options: { quiet_json?: boolean } = {},
): Promise<number> {
  const folder = demoFolder(cli);
  await freshFolder(cli, folder);
  const say = (text: string) => (globals(cli).json ? undefined : note(cli.io, text));
  say(`starting an embedded Postgres with PostGIS in ${typed(cli, folder)}: about ten seconds the first time`);
  const began = performance.now();
  return withSession(
    cli,
    async (session) => {
      const opened = performance.now();
      say(
        `making ${count(wishes.scenes)} scenes of ${wishes.size} × ${wishes.size} pixels, one of them broken on purpose`,
      );
      const notes = await putScenes(session.engine, folder, wishes, say);
      const put = performance.now();
      const parameters = {
        sources: { prefix: `bronze:${prefix}` },
        collection,
        title: "Terrain of the demo",
        datetime,
      };
      const reply = await session.engine.submit("process_raster_collection", parameters);
      const followed = await workAndFollow(cli, session, reply.job_id, { reply });
      const { status } = followed;
      if (status.status !== "partial_success") return sayEnd(cli, session, followed, { reply });
      writeNotes(folder, { ...notes, job_id: status.job_id });
      const timings: Timings = {
        database_s: (opened - began) / 1000,
        scenes_s: (put - opened) / 1000,
        job_s: (performance.now() - put) / 1000,
      };
      const told = await resultOf(cli, session, status, notes, timings);
      if (!(options.quiet_json && globals(cli).json)) answer(cli, told, () => resultLines(cli, told));
      return exit_codes.done;
    },
    {
      embedded_dir: folder,
      settings: {
        FANFOLD_CATALOG: "stac",
        ...(wishes.engine === undefined ? {} : { FANFOLD_RASTER_ENGINE: wishes.engine }),
      },
      // Each task loads GDAL into a process of its own: more of them than cores only take turns.
      slots: Math.max(2, availableParallelism()),
    },
  );
}

async function putScenes(
  engine: Engine,
  folder: string,
  wishes: SceneWishes,
  say: (text: string) => void,
): Promise<DemoNotes> {
  const bronze = engine.zones.store("bronze", engine.tenant);
  let broken: DemoNotes["broken"] | null = null;
  let total = 0;
  for (const { name, content, mended } of demoScenes(wishes)) {
    const key = `${prefix}${name}`;
    await bronze.write(key, pieces(content), { media_type: "image/tiff" });
    total += content.byteLength;
    if (mended === null) continue;
    const copy = path.join(folder, "mended", name);
    mkdirSync(path.dirname(copy), { recursive: true });
    writeFileSync(copy, mended);
    broken = { source: `bronze:${key}`, mended: copy };
  }
  const notes = { job_id: null, collection, scene_count: wishes.scenes, broken: broken! };
  writeNotes(folder, notes);
  say(
    `bronze:${prefix} holds ${bytes(total)}; ${path.basename(broken!.mended)} is cut short, as by an upload that broke off`,
  );
  return notes;
}

async function* pieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

type DemoResult = Awaited<ReturnType<typeof resultOf>>;

async function resultOf(cli: Cli, session: Session, status: JobRecord, notes: DemoNotes, timings: Timings) {
  const { engine, config } = session;
  const catalog = await openCatalog(engine.db, { tenant: engine.tenant });
  const { items } = await catalog.search(engine.db, { collections: [collection], limit: 1000 });
  const files = items.filter((item) => item.assets.data !== undefined).length;
  const failed = await failedTasks(session, status.job_id, status.status);
  const found = await catalog.collection(engine.db, collection);
  return {
    ...{ job_id: status.job_id, status: status.status, exit_code: exitCodeOf(status.status) },
    scenes: notes.scene_count,
    usable: {
      cogs: files,
      cogs_in: `silver:${collection}/`,
      cogs_folder: path.join(engine.zones.store("silver", engine.tenant).place, collection),
      items: items.length,
      item_ids: items.map(({ id }) => id).sort(),
      collection,
      bbox: found?.extent.spatial.bbox[0] ?? null,
    },
    broken: failed.map(({ index, error }) => ({ scene: index, error: errorText(error) })),
    repair: repairCommands(cli, status.job_id, notes),
    search_url: searchUrl(`http://${config.host}:${config.port}`),
    timings,
  };
}

export function searchUrl(server: string): string {
  return `${server}/stac/search?collections=${collection}`;
}

/** With nothing else running; while a server runs, the second is a call of its API. */
export function repairCommands(cli: Cli, job_id: string, { broken }: DemoNotes): string[] {
  return [mendCommand(cli, broken), `npx fanfold resume ${shortId(job_id)} --wait${whereOf(cli)}`];
}

/** Needs no database, and so works beside a server too. */
export function mendCommand(cli: Cli, { mended, source }: DemoNotes["broken"]): string {
  return `npx fanfold files put --force ${typed(cli, mended)} ${source}${whereOf(cli)}`;
}

function whereOf(cli: Cli): string {
  return ` --data-dir ${typed(cli, demoFolder(cli))}`;
}

function* resultLines(cli: Cli, told: DemoResult): Generator<string> {
  const { usable, broken, repair, scenes, timings } = told;
  const { database_s, scenes_s, job_s } = timings;
  yield "";
  yield `Partial success, as planned: ${usable.items} of ${scenes} scenes are usable now, ${broken.length} can be repaired.`;
  yield `  usable   ${usable.cogs} COGs in ${usable.cogs_in} (${typed(cli, usable.cogs_folder)})`;
  yield `           ${usable.items} items in the STAC collection ${usable.collection}`;
  for (const { scene, error } of broken) yield `  broken   ${printable(scene)}: ${error}`;
  yield "  repair   mend the file, then resume: only what it adds is run";
  for (const command of repair) yield `           ${command}`;
  yield "  search   start the server with: npm start (or: npx fanfold demo up), then";
  yield `           ${told.search_url}`;
  yield `  took     ${seconds(database_s + scenes_s + job_s)}: database ${seconds(database_s)}, scenes ${seconds(scenes_s)}, job ${seconds(job_s)}`;
}
