// fanfold status: one job, once.
import { isTerminal } from "../core/statuses.js";
import type { JobRecord } from "../engine/records.js";
import type { Why } from "../engine/recovery_records.js";
import { answer, type Cli, examples } from "./command.js";
import type { Io } from "./io.js";
import { printable } from "./printable.js";
import { withSession } from "./session.js";
import { errorText, type FailedTask, moment, resultText } from "./summary.js";
import { renderStages } from "./view.js";
import { failedTasks } from "./wait.js";

export function addStatus(cli: Cli): void {
  cli.program
    .command("status")
    .summary("show a job")
    .description(
      "Shows a job as it is now: its stages, its parameters, its error or its result. Exits with 0 whatever it shows.",
    )
    .argument("<job>", "job id, or the first characters of it")
    .addHelpText("after", examples("fanfold status 3f2a9c", "fanfold status 3f2a9c --json | jq .stages"))
    .action((job: string) => showStatus(cli, job));
}

async function showStatus(cli: Cli, job: string): Promise<void> {
  await withSession(cli, async (session) => {
    const status = await session.engine.status(job);
    const failed = await failedTasks(session, status.job_id, status.status);
    const why = isTerminal(status.status) ? null : await session.engine.recovery.why(status.job_id);
    answer(cli, status, () => statusLines(status, why, failed, cli.io));
  });
}

function* statusLines(
  status: JobRecord,
  why: Why | null,
  failed: readonly FailedTask[],
  { width, colour }: Io,
): Generator<string> {
  yield* renderStages(status, { width: width(), colour, paces: new Map() });
  yield `job         ${status.job_id}`;
  yield `parameters  ${resultText(status.parameters)}`;
  const labels = Object.entries(status.labels).map(([key, value]) => `${printable(key)}=${printable(value)}`);
  if (labels.length > 0) yield `labels      ${labels.join(" ")}`;
  yield `created     ${moment(status.created_at)}`;
  if (status.error) yield `error       ${errorText(status.error)}`;
  for (const stage of status.stages) {
    if (stage.skip_reason) yield `skipped     ${printable(stage.name)}: ${printable(stage.skip_reason)}`;
  }
  for (const { stage, index, error } of failed) {
    yield `failed      ${printable(stage)}/${printable(index, 100)}: ${errorText(error)}`;
  }
  if (status.result_spill) yield `result      in storage: ${printable(status.result_spill.key)}`;
  else if (status.result !== null) yield `result      ${resultText(status.result)}`;
  // What runs needs no explanation.
  if (why && why.code !== "RUNNING") yield `why         ${printable(why.reason, 500)}`;
  if (status.hint) yield `next        ${printable(status.hint)}`;
}
