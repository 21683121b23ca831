// fanfold demo world: from public-domain land and invented terrain to a small gold set, one job after the other on the embedded database of
// the demo. A second run finds everything done; one that was stopped goes on.
import { availableParallelism } from "node:os";
import { layers_api } from "../../core/api/layers.js";
import type { Engine } from "../../engine/engine.js";
import { landArea } from "../../handlers/h3/area_of.js";
import { answer, type Cli, type CliCommand, globals } from "../terminal/command.js";
import { exit_codes } from "../terminal/failure.js";
import { note } from "../terminal/io.js";
import { withSession } from "../terminal/session.js";
import { sayEnd, workAndFollow } from "../terminal/wait.js";
import { demoFolder, keptFolder, noteWorld, typed } from "./demo_folder.js";
import { heights_style, world_prefix, world_steps } from "./demo_world_plan.js";
import { type WorldJob, worldLines, worldResult } from "./demo_world_result.js";
import { worldTiles } from "./demo_world_tiles.js";

export function addDemoWorld(cli: Cli, demo: CliCommand): void {
  demo
    .command("world")
    .summary("a small gold set of the whole earth: COGs, H3, GeoParquet, PMTiles, STAC")
    .description(
      "Makes invented terrain for the land of Natural Earth (public domain), and of it, job by job,\n" +
        "COGs, H3 cells with heights, GeoParquet, PMTiles and a static STAC catalogue in zone gold, on the\n" +
        "embedded database of the demo (.fanfold-demo, or --data-dir). What is done is not done again, and\n" +
        "a run that was stopped goes on. fanfold demo starts afresh there.",
    )
    .examples("fanfold demo world", "fanfold demo world --json", "fanfold demo up                      to look at it")
    .action(async () => {
      cli.exit_code = await makeWorld(cli);
    });
}

async function makeWorld(cli: Cli): Promise<number> {
  const folder = demoFolder(cli);
  const say = (text: string) => (globals(cli).json ? undefined : note(cli.io, text));
  keptFolder(cli, folder, "demo world");
  const began = performance.now();
  return withSession(
    cli,
    async (session) => {
      const { engine } = session;
      say("making the terrain of the earth, eight tiles of 90 × 90 degrees");
      await putTiles(engine);
      const jobs: WorldJob[] = [];
      for (const [at, { title, job_type, parameters }] of world_steps.entries()) {
        say(`${at + 1} of ${world_steps.length}: ${title} (${job_type})`);
        const reply = await engine.submit(job_type, parameters, { mode: "resume" });
        const followed = await workAndFollow(cli, session, reply.job_id, { reply });
        const { status, ended } = followed;
        if (ended !== "done" || status.status !== "completed") {
          const code = await sayEnd(cli, session, followed, { reply });
          say(`to go on from here: npx fanfold demo world --data-dir ${typed(cli.io.cwd, folder)}`);
          // The steps that follow need all of this one.
          return code === exit_codes.partial_success ? exit_codes.failed : code;
        }
        const { job_id, result } = status;
        jobs.push({ title, job_type, job_id, result, is_new: reply.created });
      }
      const { style } = await engine.call(layers_api.get, { layer_id: heights_style.layer_id });
      if (style === null) await engine.call(layers_api.set_style, heights_style);
      noteWorld(folder);
      const took_s = (performance.now() - began) / 1000;
      const told = await worldResult(session, { cwd: cli.io.cwd, folder }, jobs, took_s);
      answer(cli, told, () => worldLines(told));
      return exit_codes.done;
    },
    {
      embedded_dir: folder,
      settings: { FANFOLD_CATALOG: "stac" },
      slots: Math.max(2, availableParallelism()),
    },
  );
}

/** Those that are not there yet: a file is there whole or not at all. */
async function putTiles({ zones, tenant }: Engine): Promise<void> {
  const bronze = zones.store("bronze", tenant);
  for (const { name, content } of worldTiles(await landArea())) {
    const key = `${world_prefix}${name}`;
    if ((await bronze.stat(key)) === null) await bronze.write(key, pieces(content()), { media_type: "image/tiff" });
  }
}

async function* pieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
