// fanfold status: one job, once.
import { type Cli, examples, globals } from "./command.js";
import { json, line } from "./io.js";
import { printable } from "./printable.js";
import { withSession } from "./session.js";
import { errorText, moment, resultText } from "./summary.js";
import { renderStages } from "./view.js";
import { failedTasks } from "./wait.js";

export function addStatus(cli: Cli): void {
  cli.program
    .command("status")
    .summary("show a job")
    .description("Shows a job as it is now: its stages, its parameters, its error or its result. Exits with 0 whatever it shows.")
    .argument("<job>", "job id, or the first characters of it")
    .addHelpText("after", examples("fanfold status 3f2a9c", "fanfold status 3f2a9c --json | jq .stages"))
    .action((job: string) => showStatus(cli, job));
}

async function showStatus(cli: Cli, job: string): Promise<void> {
  await withSession(cli, async (session) => {
    const status = await session.engine.status(job);
    if (globals(cli).json) return json(cli.io, status);
    const { io } = cli;
    const look = { width: io.width(), colour: io.colour, paces: new Map() };
    for (const text of renderStages(status, look)) line(io, text);
    line(io, `job         ${status.job_id}`);
    line(io, `parameters  ${resultText(status.parameters)}`);
    const labels = Object.entries(status.labels ?? {}).map(([key, value]) => `${printable(key)}=${printable(value)}`);
    if (labels.length > 0) line(io, `labels      ${labels.join(" ")}`);
    line(io, `created     ${moment(status.created_at)}`);
    for (const stage of status.stages) {
      if (stage.error) line(io, `stage       ${printable(stage.name)}: ${errorText(stage.error)}`);
    }
    if (status.error) line(io, `error       ${errorText(status.error)}`);
    for (const task of await failedTasks(session, status.job_id, status.status)) {
      line(io, `failed      ${printable(task.stage)}/${printable(task.index, 100)}: ${errorText(task.error)}`);
    }
    if (status.result !== null && status.result !== undefined) line(io, `result      ${resultText(status.result)}`);
    if (status.hint) line(io, `next        ${printable(status.hint)}`);
  });
}
