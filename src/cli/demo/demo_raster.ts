// The raster demo itself: scenes into the bronze zone, and one job over them, followed to its end.
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import type { RasterEngineChoice } from "../../core/task/raster_settings.js";
import type { Engine } from "../../engine/engine.js";
import { answer, type Cli, globals } from "../terminal/command.js";
import { exit_codes } from "../terminal/failure.js";
import { bytes, count } from "../terminal/figures.js";
import { note } from "../terminal/io.js";
import { withSession } from "../terminal/session.js";
import { shortId } from "../terminal/view.js";
import { sayEnd, workAndFollow } from "../terminal/wait.js";
import { type DemoNotes, demoFolder, freshFolder, typed, writeNotes } from "./demo_folder.js";
import { loadLayers } from "./demo_layers.js";
import { resultLines, resultOf } from "./demo_result.js";
import { demoScenes, type SceneSettings } from "./demo_scenes.js";

export interface DemoSettings extends SceneSettings {
  engine?: RasterEngineChoice | undefined;
}

export const default_settings: DemoSettings = { scenes: 9, size: 640 };

const prefix = "demo/";
const parameters = {
  sources: { prefix: `bronze:${prefix}` },
  collection: "demo-terrain",
  title: "Terrain of the demo",
  // The scenes show no real day.
  datetime: "2024-06-21T10:30:00Z",
};

/** Gives the exit code. `part_of_more`: what follows has a JSON document of its own. */
export async function rasterDemo(
  cli: Cli,
  wanted: DemoSettings,
  options: { part_of_more?: boolean } = {},
): Promise<number> {
  const { json: as_json } = globals(cli);
  const { cwd } = cli.io;
  const folder = demoFolder(cli);
  const say = (text: string) => (as_json ? undefined : note(cli.io, text));
  await freshFolder(cli, folder);
  const began = performance.now();
  return withSession(
    cli,
    async (session) => {
      const opened = performance.now();
      say(
        `making ${count(wanted.scenes)} scenes of ${wanted.size} × ${wanted.size} pixels, one of them broken on purpose`,
      );
      const { broken, total_bytes } = await putScenes(session.engine, folder, wanted);
      const name = path.basename(broken.mended);
      say(`bronze:${prefix} holds ${bytes(total_bytes)}; ${name} is cut short, as by an upload that broke off`);
      const put = performance.now();
      const reply = await session.engine.submit("process_raster_collection", parameters);
      const followed = await workAndFollow(cli, session, reply.job_id, { reply });
      const { status, ended } = followed;
      if (ended !== "done" && !as_json) {
        const id = shortId(status.job_id);
        say(
          `stopped; to let it go on: npx fanfold watch ${id} --data-dir ${typed(cwd, folder)}, or afresh: npm run demo`,
        );
        return exit_codes.detached;
      }
      if (status.status !== "partial_success") return sayEnd(cli, session, followed, { reply });
      const { collection } = parameters;
      const notes: DemoNotes = { job_id: status.job_id, collection, scene_count: wanted.scenes, broken };
      writeNotes(folder, notes);
      const job_s = (performance.now() - put) / 1000;
      const vector = await loadLayers(cli, session);
      const told = {
        ...(await resultOf(session, { cwd, folder }, notes, {
          database_s: (opened - began) / 1000,
          scenes_s: (put - opened) / 1000,
          job_s,
        })),
        vector,
      };
      if (!(options.part_of_more && as_json)) answer(cli, told, () => resultLines(told, cwd));
      return exit_codes.done;
    },
    {
      embedded_dir: folder,
      settings: {
        FANFOLD_CATALOG: "stac",
        ...(wanted.engine === undefined ? {} : { FANFOLD_RASTER_ENGINE: wanted.engine }),
      },
      // Each task loads GDAL into a process of its own: more of them than cores would only take turns.
      slots: Math.max(2, availableParallelism()),
    },
  );
}

async function putScenes(engine: Engine, folder: string, wanted: SceneSettings) {
  const bronze = engine.zones.store("bronze", engine.tenant);
  const broken = { source: "", mended: "" };
  let total_bytes = 0;
  for (const { name, content, mended } of demoScenes(wanted)) {
    const key = `${prefix}${name}`;
    await bronze.write(key, pieces(content), { media_type: "image/tiff" });
    total_bytes += content.byteLength;
    if (mended === null) continue;
    broken.source = `bronze:${key}`;
    broken.mended = path.join(folder, "mended", name);
    mkdirSync(path.dirname(broken.mended), { recursive: true });
    writeFileSync(broken.mended, mended);
  }
  return { broken, total_bytes };
}

async function* pieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
