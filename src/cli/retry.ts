// fanfold retry: part of an ended job runs again: a stage, the tasks of one error group, or one task. Also a lone task.
import { NotFound } from "../core/errors.js";
import { printable } from "../core/printable.js";
import type { RepairReply, SkipReply } from "../engine/recovery_records.js";
import { answer, type Cli, examples } from "./command.js";
import { usage } from "./failure.js";
import { type RepairFlags, repairTimeout, sayRepair } from "./repair.js";
import { type Session, withSession } from "./session.js";
import { addVerbOptions, exactlyOne, verbOptions } from "./verb.js";
import { shortId } from "./view.js";
import { addWaitOptions } from "./wait.js";

interface RetryFlags extends RepairFlags {
  stage?: string;
  group?: string;
  task?: string;
}

export function addRetry(cli: Cli): void {
  const command = cli.program
    .command("retry")
    .summary("run a stage, an error group or a task again")
    .description(
      "Runs part of an ended job again, and what follows from it: a whole stage, the tasks that failed with one error, " +
        "or one task. The job keeps its id and gets a new epoch. A task that stands alone is queued again.",
    )
    .argument("[job]", "job id, or the first characters of it; may be left out with --task")
    .option("--stage <stage>", "every task of this stage, by name or number")
    .option("--group <signature>", "the failed tasks of this error group, as fanfold errors shows it")
    .option("--task <task>", "this task, as fanfold tasks list shows it");
  addWaitOptions(addVerbOptions(command))
    .addHelpText(
      "after",
      examples(
        "fanfold retry 3f2a9c --stage publish --dry-run",
        "fanfold retry 3f2a9c --group 5be0a1c2d3e4 --wait",
        'fanfold retry --task 17-0 --reason "the file was repaired"',
      ),
    )
    .action((job: string | undefined, flags: RetryFlags) => retry(cli, job, flags));
}

async function retry(cli: Cli, job: string | undefined, flags: RetryFlags): Promise<void> {
  const { stage, group, task } = flags;
  const next = "fanfold retry <job> --stage <stage>; what failed, by error: fanfold errors <job>";
  exactlyOne("retry", { "--stage": stage, "--group": group, "--task": task }, next);
  if (job === undefined && task === undefined) {
    throw usage("retry needs the job whose stage or group it is", {
      next: "fanfold retry <job> …; fanfold jobs lists them",
    });
  }
  const options = verbOptions(cli, flags);
  const timeout_s = repairTimeout("this cannot be run again", flags);
  await withSession(cli, async (session) => {
    const { recovery } = session.engine;
    if (task !== undefined) await checkTask(session, job, task, flags.wait ?? false);
    const reply =
      task !== undefined
        ? await recovery.retryTask(task, options)
        : stage !== undefined
          ? await recovery.retryStage(job as string, stage, options)
          : await recovery.retryGroup(job as string, group as string, options);
    if (!isRepair(reply)) return answer(cli, reply, () => loneLines(session, reply));
    const verb = { done: "runs again", would: "would run again" };
    await sayRepair(cli, session, reply, verb, { wait: flags.wait ?? false, timeout_s });
  });
}

/** A task named beside a job must be that job's: one of the two is a slip of the hand. */
async function checkTask({ engine }: Session, job: string | undefined, task: string, wait: boolean): Promise<void> {
  const { job_id } = await engine.task(task);
  if (job !== undefined && job_id !== (await engine.status(job)).job_id) {
    throw new NotFound(`job ${printable(job, 80)} has no task "${printable(task, 80)}"`, {
      hint: job_id ? `it is of job ${shortId(job_id)}` : `it stands alone: fanfold retry --task ${task}`,
    });
  }
  if (wait && job_id === null) {
    throw usage("a task that stands alone has no job to follow", {
      next: `leave out --wait: fanfold retry --task ${task}`,
    });
  }
}

function isRepair(reply: RepairReply | SkipReply): reply is RepairReply {
  return "stages" in reply;
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
