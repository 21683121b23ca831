// fanfold work: a worker alone, for machines that do nothing else. It serves no HTTP and leaves the schema to `fanfold migrate`.
import type { Cli } from "../terminal/command.js";
import { addWaitOption, on_alert_words, type UpOptions, up } from "./up.js";

interface WorkFlags
  extends Pick<UpOptions, "slots" | "lease" | "onAlert" | "memory" | "logTasks" | "waitForDatabase" | "once"> {
  types?: string;
}

export function addWork(cli: Cli): void {
  const command = cli.program
    .command("work")
    .summary("run a worker alone, of all task types or of some")
    .description(
      "Runs tasks until it is stopped, or with --once until nothing is left to run: for cron, Kubernetes Jobs and serverless. It serves no\n" +
        "HTTP and changes no schema. SIGTERM or Ctrl-C: running tasks are finished or handed back; a second one: at once.",
    )
    .option("--types <types>", "only these task types, separated by commas; raster.* is all that begin so")
    .option("--slots <number>", "how many tasks run at the same time (default 8); also of one type: 8,raster.warp=2")
    .option("--lease <seconds>", "for how long a worker that is not heard of keeps its tasks (default 30)")
    .option("--memory <MB>", "what its isolated tasks may declare together (default: 75 % of this machine's memory)")
    .option("--on-alert <url>", on_alert_words)
    .option("--log-tasks", "one line of the log for each task that ends, also for those that simply complete")
    .option("--once", "end when there is nothing left to run");
  addWaitOption(command)
    .examples("fanfold work", "fanfold work --types 'raster.*' --slots 4,raster.mosaic=1", "fanfold work --once")
    .action(({ types, ...flags }: WorkFlags) =>
      up(cli, {
        ...flags,
        http: false,
        migrate: false,
        types: types?.split(",").map((type) => type.trim()),
      }),
    );
}
