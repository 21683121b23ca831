// fanfold status: one job, once.

import { isTerminal } from "../../core/shown/statuses.js";
import { verdictOf } from "../../core/shown/verdict.js";
import { printable, truncate } from "../../core/values/printable.js";
import type { Why } from "../../engine/verbs/operator.js";
import type { DeliverableRecord, JobRecord, OutcomeRecord } from "../../engine/verbs/records.js";
import { answer, type Cli } from "../terminal/command.js";
import { count } from "../terminal/figures.js";
import type { Io } from "../terminal/io.js";
import { withSession } from "../terminal/session.js";
import { errorText, type FailedTask, moment, resultText, resumeText, table } from "../terminal/summary.js";
import { isPaused, renderStages, shortId, waitingForPeople } from "../terminal/view.js";
import { failedTasks } from "../terminal/wait.js";

export function addStatus(cli: Cli): void {
  cli.program
    .command("status")
    .summary("show a job")
    .description(
      "Shows a job as it is now: its stages, what it waits for, what it delivered, its error or its result, and what can be " +
        "done next. Exits with 0 whatever it shows.",
    )
    .argument("<job>", "job id, or the first characters of it")
    .examples("fanfold status 3f2a9c", "fanfold status 3f2a9c --json | jq .stages")
    .action((job: string) => showStatus(cli, job));
}

async function showStatus(cli: Cli, job: string): Promise<void> {
  await withSession(cli, async (session) => {
    const status = await session.engine.status(job);
    const failed = await failedTasks(session, status.job_id, status.status);
    const why = isTerminal(status.status) ? null : await session.engine.operate.why(status.job_id);
    answer(cli, status, () => statusLines(status, why, failed, cli.io));
  });
}

function* statusLines(status: JobRecord, why: Why | null, failed: readonly FailedTask[], io: Io): Generator<string> {
  const people = waitingForPeople(status).length > 0;
  const width = io.width();
  yield* renderStages(status, { width: io.screen_width(), colour: io.colour, paces: new Map() });
  yield `now         ${truncate(printable(verdictOf(status, { now_ms: Date.parse(status.now) }).text), width - 12)}`;
  yield `job         ${status.job_id}`;
  yield `parameters  ${resultText(status.parameters)}`;
  const labels = Object.entries(status.labels).map(([key, value]) => `${printable(key)}=${printable(value)}`);
  if (labels.length > 0) yield `labels      ${labels.join(" ")}`;
  yield `created     ${moment(status.created_at)}`;
  if (status.epoch > 1) yield `epoch       ${status.epoch}: it was opened again ${times(status.resume_count)}`;
  if (isPaused(status)) yield `paused      ${moment(status.paused_at)}`;
  if (status.error) yield `error       ${errorText(status.error)}`;
  yield* labelled("outcomes", outcomeLines(status, width - 12));
  yield* labelled("delivered", deliverableLines(status.deliverables, width - 12));
  for (const stage of status.stages) {
    if (stage.skip_reason) yield `skipped     ${printable(stage.name)}: ${printable(stage.skip_reason)}`;
  }
  for (const { stage, index, error } of failed) {
    yield `failed      ${printable(stage)}/${printable(index, 100)}: ${errorText(error)}`;
  }
  if (failed.length > 0) yield `            by kind of error: fanfold errors ${shortId(status.job_id)}`;
  if (status.result_spill) yield `result      in storage: ${printable(status.result_spill.key)}`;
  else if (status.result !== null) yield `result      ${resultText(status.result)}`;
  // What runs needs no explanation, and what waits for people is told above.
  if (why && why.code !== "RUNNING" && !people) yield `why         ${printable(why.reason, 500)}`;
  if (status.resumable) yield `next        ${resumeText(status)}`;
  else if (status.hint && !people) yield `next        ${printable(status.hint)}`;
}

/** Several lines under one word: it stands before the first. */
function* labelled(word: string, lines: readonly string[]): Generator<string> {
  for (const [at, text] of lines.entries()) yield `${(at === 0 ? word : "").padEnd(12)}${text}`;
}

const bad: ReadonlySet<OutcomeRecord["status"]> = new Set(["partly_succeeded", "failed", "cancelled"]);

/** Once it has ended, and only if something did not go well: what succeeded, what failed, how to recover. */
function outcomeLines(status: JobRecord, width: number): string[] {
  const { outcomes, resume_hint } = status;
  if (!isTerminal(status.status) || !outcomes.some((outcome) => bad.has(outcome.status))) return [];
  const rows = outcomes.map((outcome) => [outcome.status.replace("_", " "), outcome.objective, outcomeText(outcome)]);
  const lines = table(["", "", ""], rows, width).slice(1);
  // That it can be resumed is said once for the whole job.
  return lines.flatMap((text, at) => {
    const recovery = outcomes[at]?.recovery;
    return recovery && recovery !== resume_hint ? [text, `  again: ${printable(recovery)}`] : [text];
  });
}

function outcomeText({ status, importance, total, completed, failed, skipped, error }: OutcomeRecord): string {
  const words = [total > 0 ? `${count(completed)} of ${count(total)}` : ""];
  if (failed > 0) words.push(`${count(failed)} failed`);
  if (skipped > 0) words.push(`${count(skipped)} skipped`);
  if (bad.has(status) && importance !== "critical") words.push(importance);
  // Failed tasks are listed by themselves; a stage may also fail as a whole.
  if (error && failed === 0) words.push(errorText(error));
  return words.filter((word) => word !== "").join(", ");
}

function deliverableLines(deliverables: readonly DeliverableRecord[], width: number): string[] {
  return deliverables.map(({ name, count: n, location, locations, usable }) => {
    const several = locations && locations.length > 0 ? `${locations[0]} and others` : "";
    const words = [`${count(Number(n))} ${printable(name, 60)}`, printable(location ?? several, 300)];
    const text = words.filter((word) => word !== "").join("  ");
    // What cannot be used must not be lost behind a long location.
    return usable ? truncate(text, width) : `${truncate(text, width - 12)}  not usable`;
  });
}

function times(n: number): string {
  return n === 1 ? "once" : `${count(n)} times`;
}
