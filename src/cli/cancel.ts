// fanfold cancel: stops a job. Tasks that run are told to stop; what is done stays.
import { answer, type Cli, examples } from "./command.js";
import { withSession } from "./session.js";
import { shortId } from "./view.js";

export function addCancel(cli: Cli): void {
  cli.program
    .command("cancel")
    .summary("cancel a job")
    .description(
      "Cancels a job: waiting tasks are dropped, running ones are told to stop, finished ones stay as they are.",
    )
    .argument("<job>", "job id, or the first characters of it")
    .option("--reason <text>", "kept in the job's history")
    .addHelpText("after", examples('fanfold cancel 3f2a9c --reason "wrong folder"'))
    .action(async (job: string, options: { reason?: string }) => {
      await withSession(cli, async ({ engine }) => {
        const { job_id } = await engine.status(job);
        const reply = await engine.cancelJob(job_id, options.reason);
        answer(cli, reply, () => [
          reply.changed ? `cancelled  ${job_id}` : `nothing to cancel: ${job_id} is ${reply.status} already`,
          `  look at it: fanfold status ${shortId(job_id)}`,
        ]);
      });
    });
}
