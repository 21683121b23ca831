// fanfold retry: part of an ended job runs again: a stage or some of its tasks, those of one error group, or one task. Also a lone
// task. fanfold redo: one task that completed.
import { NotFound } from "../../core/errors/errors.js";
import { printable } from "../../core/values/printable.js";
import type { RepairReply, RetriedTasks, SkipReply } from "../../engine/verbs/operator.js";
import { answer, type Cli, globals } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { note } from "../terminal/io.js";
import { type RepairFlags, repairTimeout, sayRepair } from "../terminal/repair.js";
import { type Session, withSession } from "../terminal/session.js";
import { leftLines, ordinalsOf } from "../terminal/task_ranges.js";
import { exactlyOne, verbOptions } from "../terminal/verb.js";
import { shortId } from "../terminal/view.js";

interface RetryFlags extends RepairFlags {
  stage?: string;
  group?: string;
  task?: string;
  tasks?: string;
}

export function addRetry(cli: Cli): void {
  cli.program
    .command("retry")
    .summary("run a stage, an error group or a task again")
    .description(
      "Runs part of an ended job again, and what follows from it: a whole stage, the tasks that failed with one error, " +
        "or one task. The job keeps its id and gets a new epoch. A task that stands alone is queued again.",
    )
    .argument("[job]", "job id, or the first characters of it; may be left out with --task")
    .option("--stage <stage>", "every task of this stage, by name or number")
    .option(
      "--tasks <ordinals>",
      "with --stage: only these of its tasks that failed, were skipped or never ran, e.g. 0-99,200",
    )
    .option("--group <signature>", "the failed tasks of this error group, as fanfold errors shows it")
    .option("--task <task>", "this task, as fanfold tasks list shows it")
    .verbOptions()
    .waitOptions()
    .examples(
      "fanfold retry 3f2a9c --stage publish --dry-run",
      "fanfold retry 3f2a9c --stage tile --tasks 0-99,200",
      "fanfold retry 3f2a9c --group 5be0a1c2d3e4 --wait",
      'fanfold retry --task 17-0 --reason "the file was repaired"',
    )
    .action((job: string | undefined, flags: RetryFlags) => retry(cli, job, flags));
  addRedo(cli);
}

function addRedo(cli: Cli): void {
  cli.program
    .command("redo")
    .summary("run a completed task again")
    .description(
      "Runs a completed task again, because what it delivered may be gone. A task of an ended job opens the job again, and " +
        "what follows the task runs too. A task that stands alone is queued again.",
    )
    .argument("<task>", "task id, as fanfold tasks list shows it")
    .verbOptions()
    .waitOptions()
    .examples("fanfold redo 17-0 --dry-run", 'fanfold redo 17-0 --reason "the file is gone" --wait')
    .action(async (task: string, flags: RepairFlags) => {
      const options = verbOptions(cli, flags);
      const timeout_s = repairTimeout("this cannot be run again", flags);
      await withSession(cli, async (session) => {
        await checkTask(session, "redo", undefined, task, flags.wait ?? false);
        await sayAgain(cli, session, await session.engine.operate.redoTask(task, options), flags, timeout_s);
      });
    });
}

async function retry(cli: Cli, job: string | undefined, flags: RetryFlags): Promise<void> {
  const { stage, group, task, tasks } = flags;
  const next = "fanfold retry <job> --stage <stage>; what failed, by error: fanfold errors <job>";
  exactlyOne("retry", { "--stage": stage, "--group": group, "--task": task }, next);
  if (job === undefined && task === undefined) {
    throw usage("retry needs the job whose stage or group it is", {
      next: "fanfold retry <job> …; fanfold jobs lists them",
    });
  }
  if (tasks !== undefined && stage === undefined) {
    throw usage("--tasks are of a stage", { next: "fanfold retry <job> --stage <stage> --tasks 0-99,200" });
  }
  const ranges = tasks === undefined ? null : ordinalsOf(tasks);
  const options = verbOptions(cli, flags);
  const timeout_s = repairTimeout("this cannot be run again", flags);
  await withSession(cli, async (session) => {
    const { operate } = session.engine;
    if (task !== undefined) await checkTask(session, "retry --task", job, task, flags.wait ?? false);
    const reply =
      task !== undefined
        ? await operate.retryTask(task, options)
        : stage !== undefined && ranges !== null
          ? await operate.retryTasks(job as string, stage, { ...options, ranges })
          : stage !== undefined
            ? await operate.retryStage(job as string, stage, options)
            : await operate.retryGroup(job as string, group as string, options);
    await sayAgain(cli, session, reply, flags, timeout_s);
  });
}

async function sayAgain(
  cli: Cli,
  session: Session,
  reply: RepairReply | SkipReply,
  { wait = false }: RepairFlags,
  timeout_s: number | undefined,
): Promise<void> {
  if (!isRepair(reply)) return answer(cli, reply, () => loneLines(session, reply));
  if (isSelected(reply) && !globals(cli).json) for (const line of leftLines(reply.left)) note(cli.io, line);
  await sayRepair(cli, session, reply, { done: "runs again", would: "would run again" }, { wait, timeout_s });
}

/** A task named beside a job must be that job's: one of the two is a slip of the hand. */
async function checkTask(
  { engine }: Session,
  verb: string,
  job: string | undefined,
  task: string,
  wait: boolean,
): Promise<void> {
  const { job_id } = await engine.task(task);
  if (job !== undefined && job_id !== (await engine.status(job)).job_id) {
    throw new NotFound(`job ${printable(job, 80)} has no task "${printable(task, 80)}"`, {
      hint: job_id ? `it is of job ${shortId(job_id)}` : `it stands alone: fanfold ${verb} ${task}`,
    });
  }
  if (wait && job_id === null) {
    throw usage("a task that stands alone has no job to follow", {
      next: `leave out --wait: fanfold ${verb} ${task}`,
    });
  }
}

function isRepair(reply: RepairReply | SkipReply): reply is RepairReply {
  return "stages" in reply;
}

function isSelected(reply: RepairReply): reply is RetriedTasks {
  return "left" in reply;
}

function* loneLines({ engine }: Session, reply: SkipReply): Generator<string> {
  const id = printable(reply.task_id);
  if (reply.dry_run) {
    yield `would queue ${id} again, which is ${reply.status}; nothing was changed`;
    return;
  }
  yield `queued again  ${id}`;
  if (engine.db.kind === "embedded") yield "  stored; nothing runs until: fanfold up";
}
