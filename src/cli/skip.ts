// fanfold skip: one task counts as done, without a result and for a reason.

import { printable } from "../core/printable.js";
import type { JobRecord, TaskRecord } from "../engine/records.js";
import type { SkipReply } from "../engine/recovery_records.js";
import { answer, type Cli, examples } from "./command.js";
import { withSession } from "./session.js";
import { addVerbOptions, reasonOf, type VerbFlags, verbOptions } from "./verb.js";
import { shortId } from "./view.js";

export function addSkip(cli: Cli): void {
  const command = cli.program
    .command("skip")
    .summary("skip a task, for a reason")
    .description(
      "Skips a task: it counts as done without a result. One that waits or runs is skipped at once; of an ended job, " +
        "a failed one is marked, and resume goes on without it.",
    )
    .argument("<task>", "task id, as fanfold tasks list shows it");
  addVerbOptions(command)
    .addHelpText(
      "after",
      examples('fanfold skip 17-3 --reason "the source is lost for good"', "fanfold skip 17-3 --reason lost --dry-run"),
    )
    .action((task: string, flags: VerbFlags) => skip(cli, task, flags));
}

async function skip(cli: Cli, task_id: string, flags: VerbFlags): Promise<void> {
  const next = `fanfold skip ${printable(task_id, 40)} --reason "…"`;
  const reason = reasonOf(flags, "a task is skipped for a reason", next);
  const options = verbOptions(cli, flags);
  await withSession(cli, async ({ engine }) => {
    const before = await engine.task(task_id);
    const reply = await engine.recovery.skipTask(task_id, reason, options);
    const job = before.job_id === null ? null : await engine.status(before.job_id);
    answer(cli, reply, () => skipLines(reply, before, job));
  });
}

function* skipLines(reply: SkipReply, before: TaskRecord, job: JobRecord | null): Generator<string> {
  const id = printable(reply.task_id);
  const what = `${id} (${printable(before.stage)}/${printable(before.index, 100)})`;
  if (reply.dry_run && reply.status !== "skipped") {
    yield `would skip ${what}, which is ${reply.status}; nothing was changed`;
    return;
  }
  if (reply.changed) yield `skipped  ${what}, which was ${before.status}`;
  else yield `nothing changed: ${what} is skipped already`;
  if (job?.resumable)
    yield `  the job is ${job.status}; it goes on without this task: fanfold resume ${shortId(job.job_id)}`;
  else if (job) yield `  look at its job: fanfold status ${shortId(job.job_id)}`;
}
