// fanfold tasks show: one task, its attempts and what it said.
import { printable } from "../../core/values/printable.js";
import type { AttemptRecord, TaskRecord } from "../../engine/verbs/records.js";
import type { Cli, CliCommand } from "../terminal/command.js";
import { answering } from "../terminal/session.js";
import { errorText, moment, resultText } from "../terminal/summary.js";

export function addShow(cli: Cli, tasks: CliCommand): void {
  tasks
    .command("show")
    .summary("one task: parameters, result, attempts and logs")
    .description(
      "Shows a task with its parameters, its result or error, every attempt that did not simply succeed (of a crashed process\n" +
        "its signal, memory and last lines too) and the last lines it logged.",
    )
    .argument("<task>", "task id, as tasks list shows it")
    .examples("fanfold tasks show 17-0", "fanfold tasks show 17-0 --json | jq .attempts")
    .action(async (task_id: string) => {
      await answering(cli, ({ engine }) => engine.task(task_id), taskLines);
    });
}

function* taskLines(task: TaskRecord): Generator<string> {
  const place = task.job_id === null ? task.task_type : `${task.stage}/${task.index}`;
  yield `${task.task_id}  ${printable(place, 200)}  ${task.status}`;
  if (task.job_id !== null) yield `job         ${task.job_id}`;
  if (task.parameters !== null) yield `parameters  ${resultText(task.parameters)}`;
  if (task.worker_id !== null) yield `worker      ${task.worker_id}`;
  if (task.run_at !== null) yield `not before  ${moment(task.run_at)}`;
  if (task.finished_at !== null) yield `finished    ${moment(task.finished_at)}`;
  if (task.error !== null) yield `error       ${errorText(task.error)}`;
  if (task.spill !== null) yield `result      in storage: ${printable(task.spill.key)}`;
  else if (task.result !== null) yield `result      ${resultText(task.result)}`;
  for (const attempt of task.attempts) yield* attemptLines(attempt);
  for (const { at, level, message } of task.logs) {
    yield `log         ${moment(at)} ${level.padEnd(5)} ${printable(message, 500)}`;
  }
  yield `why         fanfold why ${task.task_id}`;
}

function* attemptLines(told: AttemptRecord): Generator<string> {
  const { attempt, epoch, outcome, code, message, ended_at, detail, retry_at, gives_up_at } = told;
  const number = epoch > 1 ? `${attempt} of epoch ${epoch}` : String(attempt);
  const words = [code === null ? "" : printable(code, 100), message === null ? "" : printable(message, 500)];
  yield `attempt     ${number} ${outcome} ${moment(ended_at)} ${words.filter((word) => word !== "").join(": ")}`;
  if (retry_at !== null) {
    const end = gives_up_at === null ? "" : `; given up ${moment(gives_up_at)} if it goes on failing`;
    yield `            tried again ${moment(retry_at)}${end}`;
  }
  const process = (detail as { process?: unknown } | null)?.process;
  if (process !== undefined) yield `            its process: ${resultText(process)}`;
}
