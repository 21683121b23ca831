// fanfold resume: a job that did not end well goes on, under its id; or all of them that fit a filter.
import { type FilterFlags, onAllThatFit } from "../terminal/bulk.js";
import type { Cli } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { type RepairFlags, repairTimeout, sayRepair } from "../terminal/repair.js";
import { withSession } from "../terminal/session.js";
import { exactlyOne, verbOptions } from "../terminal/verb.js";

type ResumeFlags = RepairFlags & FilterFlags;

export function addResume(cli: Cli): void {
  cli.program
    .command("resume")
    .summary("let a job that did not end well go on, or all that fit a filter")
    .description(
      "Lets a failed, cancelled or partial job go on, under the same id: what completed is kept, what failed or never ran " +
        "runs again, and so does what follows from it. Each resume opens an epoch of the job; two at once open one.",
    )
    .argument("[job]", "job id, or the first characters of it")
    .filterOption()
    .verbOptions()
    .waitOptions()
    .examples(
      "fanfold resume 3f2a9c --dry-run",
      'fanfold resume 3f2a9c --reason "the server is back" --wait',
      "fanfold resume 3f2a9c --json | jq .stages",
      `fanfold resume --filter 'status:failed error:"timed out" created:>-1d' --dry-run`,
    )
    .addHelpText("after", "AGAIN runs in any case, AT MOST counts what may follow from it, KEPT stays as it is.\n")
    .action((job: string | undefined, flags: ResumeFlags) => resume(cli, job, flags));
}

async function resume(cli: Cli, job: string | undefined, flags: ResumeFlags): Promise<void> {
  exactlyOne("resume", { "<job>": job, "--filter": flags.filter }, "fanfold resume <job>; fanfold jobs lists them");
  if (job === undefined) {
    if (flags.wait) throw usage("--wait follows one job", { next: "leave it out, or name the job" });
    return onAllThatFit(cli, "resume", flags);
  }
  const options = verbOptions(cli, flags);
  const timeout_s = repairTimeout("this cannot be resumed", flags);
  await withSession(cli, async (session) => {
    const reply = await session.engine.operate.resume(job, options);
    const verb = { done: "resumed", would: "would resume" };
    await sayRepair(cli, session, reply, verb, { wait: flags.wait ?? false, timeout_s });
  });
}
