// fanfold skip: one task, or some of a stage, count as done, without a result and for a reason.

import { printable } from "../../core/values/printable.js";
import type { SkippedTasks, SkipReply } from "../../engine/verbs/operator.js";
import type { JobRecord, TaskRecord } from "../../engine/verbs/records.js";
import { answer, type Cli } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { tasks as tasksText } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";
import { leftLines, ordinalsOf } from "../terminal/task_ranges.js";
import { reasonOf, type VerbFlags, verbOptions } from "../terminal/verb.js";
import { shortId } from "../terminal/view.js";

interface SkipFlags extends VerbFlags {
  stage?: string;
  tasks?: string;
}

export function addSkip(cli: Cli): void {
  cli.program
    .command("skip")
    .summary("skip tasks, for a reason")
    .description(
      "Skips a task: it counts as done without a result. One that waits or runs is skipped at once; of an ended job, " +
        "a failed one is marked, and resume goes on without it. Several of a stage at once: those that wait, failed or never ran.",
    )
    .argument("<task>", "task id, as fanfold tasks list shows it; with --tasks the id of the job")
    .option("--stage <stage>", "with --tasks: the stage, by name or number")
    .option("--tasks <ordinals>", "these tasks of the stage, e.g. 0-99,200")
    .verbOptions()
    .examples(
      'fanfold skip 17-3 --reason "the source is lost for good"',
      "fanfold skip 17-3 --reason lost --dry-run",
      'fanfold skip 3f2a9c --stage tile --tasks 0-99,200 --reason "outside the area"',
    )
    .action((named: string, flags: SkipFlags) =>
      flags.tasks === undefined && flags.stage === undefined ? skip(cli, named, flags) : skipSome(cli, named, flags),
    );
}

async function skipSome(cli: Cli, job: string, flags: SkipFlags): Promise<void> {
  const { stage, tasks } = flags;
  const next = `fanfold skip ${printable(job, 40)} --stage <stage> --tasks 0-99,200 --reason "…"`;
  if (stage === undefined || tasks === undefined) throw usage("--stage and --tasks go together", { next });
  const reason = reasonOf(flags, "tasks are skipped for a reason", next);
  const ranges = ordinalsOf(tasks);
  const options = verbOptions(cli, flags);
  await withSession(cli, async ({ engine }) => {
    const reply = await engine.operate.skipTasks(job, stage, { ...options, ranges, reason });
    answer(cli, reply, () => someLines(reply));
  });
}

function* someLines(reply: SkippedTasks): Generator<string> {
  const of = `of ${printable(reply.stage)}`;
  if (reply.tasks === 0) yield "nothing changed";
  else if (reply.dry_run) yield `would skip ${tasksText(reply.tasks)} ${of}; nothing was changed`;
  else yield `skipped  ${tasksText(reply.tasks)} ${of}`;
  yield* leftLines(reply.left);
}

async function skip(cli: Cli, task_id: string, flags: VerbFlags): Promise<void> {
  const next = `fanfold skip ${printable(task_id, 40)} --reason "…"`;
  const reason = reasonOf(flags, "a task is skipped for a reason", next);
  const options = verbOptions(cli, flags);
  await withSession(cli, async ({ engine }) => {
    const before = await engine.task(task_id);
    const reply = await engine.operate.skipTask(task_id, { ...options, reason });
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
