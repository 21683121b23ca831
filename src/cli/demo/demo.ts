// fanfold demo: from raw rasters to a searchable catalogue on the embedded database, with one scene broken on purpose. `demo up` serves
// what it left, `demo files` is the small one without rasters.
import type { Problem } from "../../core/errors/problems.js";
import { raster_engines } from "../../core/task/raster_settings.js";
import { addHttpOptions, type UpOptions } from "../commands/up.js";
import type { Cli, CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { oneOf, wholeNumber } from "../terminal/options.js";
import { addDemoFiles } from "./demo_files.js";
import { demoFolder, hasWorld, readNotes } from "./demo_folder.js";
import { type DemoSettings, default_settings, rasterDemo } from "./demo_raster.js";
import { demoUp } from "./demo_up.js";
import { addDemoWorld } from "./demo_world.js";

interface DemoFlags {
  engine?: string;
  scenes?: string;
  size?: string;
}

export function addDemo(cli: Cli): void {
  const demo = cli.program
    .command("demo")
    .summary("rasters to COGs to a STAC catalogue, live")
    .description(
      "Makes synthetic terrain, one scene of it broken on purpose, puts it into the bronze zone of an embedded database's folder\n" +
        "(.fanfold-demo, or --data-dir), runs process_raster_collection over it, and says what is usable and how to repair the rest.\n" +
        "A second run starts afresh. Exits with 0 when it ends as it should: in partial success.",
    )
    .argument("[word]", "files, up or world: see below")
    .option("--engine <name>", `which GDAL: ${raster_engines.join(", ")} (default: FANFOLD_RASTER_ENGINE or auto)`)
    .option("--scenes <number>", `how many scenes, 2 to 100 (default ${default_settings.scenes})`)
    .option("--size <pixels>", `a side of each, 64 to 4096 (default ${default_settings.size})`)
    .examples(
      "fanfold demo",
      "fanfold demo up                      the server on the same data",
      "fanfold demo --scenes 36 --engine wasm",
      "fanfold demo files ~/pictures        digests a folder instead: no rasters, no PostGIS",
    )
    .action(async (word: string | undefined, flags: DemoFlags) => {
      if (word !== undefined) {
        throw usage(`fanfold demo takes no folder`, { next: `to digest the files of one: fanfold demo files ${word}` });
      }
      cli.exit_code = await rasterDemo(cli, settingsOf(flags));
    });
  addDemoUp(cli, demo);
  addDemoFiles(cli, demo);
  addDemoWorld(cli, demo);
}

function settingsOf({ engine, scenes, size }: DemoFlags): DemoSettings {
  const problems: Problem[] = [];
  const wanted = {
    scenes: wholeNumber("--scenes", scenes, 2, 100, problems) ?? default_settings.scenes,
    size: wholeNumber("--size", size, 64, 4096, problems) ?? default_settings.size,
    engine: oneOf("--engine", engine, raster_engines, problems),
  };
  if (problems.length > 0) throw usage("the demo cannot start", { problems });
  return wanted;
}

function addDemoUp(cli: Cli, demo: CliCommand): void {
  const command = demo
    .command("up")
    .summary("a worker and the HTTP API on the demo's data")
    .description(
      "Serves what the demo, or demo world, left: the STAC API, the layers, the files, the jobs, and a worker that repairs. Runs the\n" +
        "demo first where neither has been run. Each start makes a key of its own, which takes the place of the one before.",
    );
  addHttpOptions(command)
    .examples("fanfold demo up", "fanfold demo up --port 8081")
    .action(async (options: UpOptions) => {
      const folder = demoFolder(cli);
      if (readNotes(folder) === null && !hasWorld(folder))
        cli.exit_code = await rasterDemo(cli, default_settings, { part_of_more: true });
      const notes = readNotes(folder);
      if (notes !== null || hasWorld(folder)) await demoUp(cli, options, notes);
    });
}
