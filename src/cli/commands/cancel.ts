// fanfold cancel: stops a job, or all that fit a filter. Tasks that run are told to stop; what is done stays.
import type { CancelReply } from "../../engine/verbs/records.js";
import { type FilterFlags, onAllThatFit } from "../terminal/bulk.js";
import { answer, type Cli } from "../terminal/command.js";
import { count, tasks } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";
import { exactlyOne, type VerbFlags, verbOptions } from "../terminal/verb.js";
import { shortId } from "../terminal/view.js";

export function addCancel(cli: Cli): void {
  cli.program
    .command("cancel")
    .summary("cancel a job, or all that fit a filter")
    .description(
      "Cancels a job: waiting tasks are dropped, running ones are asked to stop, finished ones stay as they are.",
    )
    .argument("[job]", "job id, or the first characters of it")
    .filterOption()
    .verbOptions()
    .examples(
      'fanfold cancel 3f2a9c --reason "wrong folder"',
      "fanfold cancel 3f2a9c --dry-run",
      "fanfold cancel --filter 'type:process_raster label:team=hydro' --dry-run",
    )
    .action(async (job: string | undefined, flags: VerbFlags & FilterFlags) => {
      exactlyOne("cancel", { "<job>": job, "--filter": flags.filter }, "fanfold cancel <job>; fanfold jobs lists them");
      if (job === undefined) return onAllThatFit(cli, "cancel", flags);
      const { reason, ...options } = verbOptions(cli, flags);
      await withSession(cli, async ({ engine }) => {
        const { job_id } = await engine.status(job);
        const reply = await engine.cancelJob(job_id, reason, options);
        answer(cli, reply, () => cancelLines(reply, job_id));
      });
    });
}

function* cancelLines(reply: CancelReply, job_id: string): Generator<string> {
  const queued = tasks(reply.queued ?? 0);
  const running = count(reply.running ?? 0);
  if (reply.changed) yield `cancelled  ${job_id}: ${queued} dropped, ${running} told to stop`;
  else if (reply.status === "cancelled") yield `nothing to cancel: ${job_id} is ${reply.status} already`;
  else yield `would cancel ${job_id}: ${queued} dropped, ${running} told to stop; nothing was changed`;
  yield `  look at it: fanfold status ${shortId(job_id)}`;
}
