// fanfold tasks: lone tasks (enqueue, cancel, reschedule), and the tasks of jobs (list).
import { retry_limits } from "../../core/declare/retry.js";
import { type Problem, suggestion } from "../../core/errors/problems.js";
import { task_statuses } from "../../core/shown/statuses.js";
import type { TaskPage } from "../../engine/verbs/records.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { checked, momentOf, oneOf, positiveSeconds, priorityOf, retryOf, wholeNumber } from "../terminal/options.js";
import { gatherParameters } from "../terminal/parameters.js";
import { registryOf, withSession } from "../terminal/session.js";
import { errorText, moment, table } from "../terminal/summary.js";
import { addShow } from "./task.js";
import { addRedrive } from "./tasks_redrive.js";

export function addTasks(cli: Cli): void {
  const tasks = cli.program
    .command("tasks")
    .summary("list and show tasks; enqueue, cancel and reschedule lone ones; run failed ones again")
    .description("The tasks of jobs, and tasks that stand alone.");
  addList(cli, tasks);
  addShow(cli, tasks);
  addEnqueue(cli, tasks);
  addCancelTask(cli, tasks);
  addReschedule(cli, tasks);
  addRedrive(cli, tasks);
}

interface ListOptions {
  job?: string;
  stage?: string;
  type?: string;
  status?: string;
  limit?: string;
  cursor?: string;
}

function addList(cli: Cli, tasks: CliCommand): void {
  tasks
    .command("list")
    .summary("list tasks")
    .description("Lists tasks: those of a job with --job, or lone ones of a task type with --type.")
    .option("--job <job>", "of this job (id or its first characters)")
    .option("--stage <name>", "of this stage of the job")
    .option("--type <task type>", "of this task type")
    .option("--status <status>", `only these: ${task_statuses.join(", ")}`)
    .pageOptions()
    .examples("fanfold tasks list --job 3f2a9c --status failed", "fanfold tasks list --type hello.greet --json")
    .action((options: ListOptions) => listTasks(cli, options));
}

async function listTasks(cli: Cli, options: ListOptions): Promise<void> {
  const problems: Problem[] = [];
  const limit = wholeNumber("--limit", options.limit, 1, 1000, problems) ?? 20;
  const status = oneOf("--status", options.status, task_statuses, problems);
  if (options.stage !== undefined && options.job === undefined) {
    problems.push({ path: "--stage", problem: "names a stage of a job", fix: "add --job <job>" });
  }
  if (problems.length > 0) throw usage("these tasks cannot be listed", { problems });
  await withSession(cli, async ({ engine }) => {
    const job_id = options.job === undefined ? undefined : (await engine.status(options.job)).job_id;
    const filter = { job_id, stage: options.stage, task_type: options.type, status, limit, cursor: options.cursor };
    const page = await engine.tasks(filter);
    answer(cli, { tasks: page.tasks, next: page.next }, () => pageLines(page, cli.io.width()));
  });
}

function* pageLines({ tasks, next }: TaskPage, width: number): Generator<string> {
  if (tasks.length === 0) yield "no tasks";
  const rows = tasks.map((task) => [
    task.task_id,
    task.job_id ? task.stage : task.task_type,
    task.index,
    task.status,
    String(task.attempt ?? ""),
    task.error ? errorText(task.error) : moment(task.finished_at ?? task.run_at),
  ]);
  if (rows.length > 0) yield* table(["TASK", "STAGE", "INDEX", "STATUS", "TRY", ""], rows, width);
  if (next !== null) yield `more: add --cursor ${next}`;
}

interface EnqueueOptions {
  key?: string;
  at?: string;
  delay?: string;
  priority?: string;
  maxAttempts?: string;
  retry?: string;
  parameters?: string;
}

function addEnqueue(cli: Cli, tasks: CliCommand): void {
  tasks
    .command("enqueue")
    .summary("enqueue a task without a job")
    .description("Enqueues a task that stands alone.")
    .argument("<task type>", "the name of a handler, for example hello.greet")
    .argument("[pairs...]", "parameters as key=value")
    .option("--key <text>", "idempotency key: the same key and body is the same task, another body is refused")
    .option("--at <moment>", "not before, for example 2030-12-31T18:00:00Z")
    .option("--delay <seconds>", "start it this many seconds from now, or later")
    .option("--priority <number>", "higher runs first (default 0)")
    .option("--max-attempts <number>", "how often it is tried; short for --retry attempts=<number>")
    .option(
      "--retry <settings>",
      "how it is tried again when it fails: attempts=5,base_s=1,cap_s=60,within_s=900, any of them",
    )
    .option("--parameters <json>", "parameters as JSON text, @file.json, or - for standard input")
    .examples(
      "fanfold tasks enqueue hello.greet number=7 --key greeting-7",
      "fanfold tasks enqueue hello.greet number=1 --delay 60",
    )
    .action((type: string, pairs: string[], options: EnqueueOptions) => enqueue(cli, type, pairs, options));
}

async function enqueue(cli: Cli, type: string, pairs: string[], options: EnqueueOptions): Promise<void> {
  const problems: Problem[] = [];
  const registry = await registryOf(cli);
  if (!registry.handlers.has(type)) {
    problems.push({
      path: "",
      problem: `there is no handler "${type}"`,
      fix: suggestion(type, registry.handlers.keys()),
    });
  }
  if (options.at !== undefined && options.delay !== undefined) {
    problems.push({ path: "--at", problem: "and --delay exclude each other", fix: "give one of them" });
  }
  const task_options = {
    idempotency_key: options.key,
    run_at: momentOf("--at", options.at, problems),
    delay_s: positiveSeconds("--delay", options.delay, problems),
    priority: priorityOf(options.priority, problems),
    max_attempts: wholeNumber("--max-attempts", options.maxAttempts, 1, retry_limits.attempts.most, problems),
    retry: retryOf(options.retry, problems),
  };
  const parameters = await gatherParameters(cli.io, pairs, options.parameters, problems);
  if (problems.length > 0) throw usage("this task cannot be enqueued", { problems });
  await withSession(
    cli,
    async ({ engine }) => {
      const reply = await engine.enqueue(type, parameters, task_options);
      answer(cli, reply, () => [
        `${reply.created ? "enqueued" : "exists already"}  ${reply.task_id}`,
        ...(engine.db.kind === "embedded" ? ["  stored; nothing runs until: fanfold up"] : []),
      ]);
    },
    { registry },
  );
}

function addCancelTask(cli: Cli, tasks: CliCommand): void {
  tasks
    .command("cancel")
    .summary("cancel a lone task")
    .description("Cancels a task that stands alone. A task of a job is cancelled with its job: fanfold cancel.")
    .argument("<task>", "task id, as tasks list shows it")
    .option("--reason <text>", "kept with the task")
    .examples("fanfold tasks cancel 17-0")
    .action(async (task_id: string, options: { reason?: string }) => {
      await withSession(cli, async ({ engine }) => {
        const reply = await engine.cancelTask(task_id, options.reason);
        answer(cli, reply, () => [
          reply.changed ? `cancelled  ${task_id}` : `nothing to cancel: ${task_id} is ${reply.status} already`,
        ]);
      });
    });
}

function addReschedule(cli: Cli, tasks: CliCommand): void {
  tasks
    .command("reschedule")
    .summary("move a waiting lone task to another time")
    .description("Moves a lone task that waits to another time.")
    .argument("<task>", "task id, as tasks list shows it")
    .argument("<moment>", "when, for example 2030-12-31T18:00:00Z")
    .examples("fanfold tasks reschedule 17-0 2030-12-31T18:00:00Z")
    .action(async (task_id: string, when: string) => {
      const run_at = checked("this task cannot be rescheduled", (problems) => momentOf("moment", when, problems));
      await withSession(cli, async ({ engine }) => {
        const reply = await engine.rescheduleTask(task_id, run_at!);
        answer(cli, reply, () => [`rescheduled  ${task_id}  to ${moment(run_at!)}`]);
      });
    });
}
