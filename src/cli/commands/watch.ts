import type { Cli } from "../terminal/command.js";
import { checked, positiveSeconds } from "../terminal/options.js";
import { withSession } from "../terminal/session.js";
import { waitForEnd } from "../terminal/wait.js";

export function addWatch(cli: Cli): void {
  cli.program
    .command("watch")
    .summary("follow a job to its end")
    .description(
      "Follows a job: a live line per stage on a terminal, plain lines in a pipe, one JSON document per change with --json.\n" +
        "Ctrl-C detaches and leaves the job alone. With the embedded database this process also works on the job.\n" +
        "Exit code: 0 completed, 1 failed or cancelled, 3 partial success, 124 --timeout, 130 detached.",
    )
    .argument("<job>", "job id, or the first characters of it")
    .option("--timeout <seconds>", "stop watching after that time (exit 124)")
    .examples("fanfold watch 3f2a9c", "fanfold watch 3f2a9c --json | jq .status", "fanfold watch 3f2a9c --timeout 600")
    .action(async (job: string, options: { timeout?: string }) => {
      const timeout_s = checked("this cannot be watched", (problems) =>
        positiveSeconds("--timeout", options.timeout, problems),
      );
      await withSession(cli, async (session) => {
        cli.exit_code = await waitForEnd(cli, session, job, { timeout_s });
      });
    });
}
