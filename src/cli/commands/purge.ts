// fanfold purge: takes an ended job away for good.

import { answer, type Cli } from "../terminal/command.js";
import { tasks } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";
import { type VerbFlags, verbOptions } from "../terminal/verb.js";

export function addPurge(cli: Cli): void {
  cli.program
    .command("purge")
    .summary("remove an ended job for good")
    .description(
      "Removes an ended job with its tasks, results, attempts, logs and events. Files that it delivered stay, and so does what people\n" +
        "did to it, in the audit. Refused while something alive refers to it. `fanfold retention` does the same by rule.",
    )
    .argument("<job>", "job id, or the first characters of it")
    .verbOptions()
    .examples("fanfold purge 3f2a9c --dry-run", 'fanfold purge 3f2a9c --reason "a test"')
    .action(async (job: string, flags: VerbFlags) => {
      await withSession(cli, async ({ engine }) => {
        const reply = await engine.operate.purge(job, verbOptions(cli, flags));
        const what = `${reply.job_id} (${reply.status}, ${tasks(reply.tasks)})`;
        answer(cli, reply, () => [
          reply.changed ? `removed ${what}` : `would remove ${what} for good; nothing was changed`,
        ]);
      });
    });
}
