// fanfold resume: a job that did not end well goes on, under its id.
import { type Cli, examples } from "./command.js";
import { type RepairFlags, repairTimeout, sayRepair } from "./repair.js";
import { withSession } from "./session.js";
import { addVerbOptions, verbOptions } from "./verb.js";
import { addWaitOptions } from "./wait.js";

export function addResume(cli: Cli): void {
  const command = cli.program
    .command("resume")
    .summary("let a job that did not end well go on")
    .description(
      "Lets a failed, cancelled or partial job go on, under the same id: what completed is kept, what failed or never ran " +
        "runs again, and so does what follows from it. Each resume opens an epoch of the job; two at once open one.",
    )
    .argument("<job>", "job id, or the first characters of it");
  addWaitOptions(addVerbOptions(command))
    .addHelpText(
      "after",
      `${examples(
        "fanfold resume 3f2a9c --dry-run",
        'fanfold resume 3f2a9c --reason "the server is back" --wait',
        "fanfold resume 3f2a9c --json | jq .stages",
      )}
AGAIN runs in any case, AT MOST counts what may follow from it, KEPT stays as it is.
`,
    )
    .action((job: string, flags: RepairFlags) => resume(cli, job, flags));
}

async function resume(cli: Cli, job: string, flags: RepairFlags): Promise<void> {
  const options = verbOptions(cli, flags);
  const timeout_s = repairTimeout("this cannot be resumed", flags);
  await withSession(cli, async (session) => {
    const reply = await session.engine.recovery.resume(job, options);
    const verb = { done: "resumed", would: "would resume" };
    await sayRepair(cli, session, reply, verb, { wait: flags.wait ?? false, timeout_s });
  });
}
