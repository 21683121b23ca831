// fanfold events: the story of a job: what happened, who did it, and why.

import { printable } from "../../core/values/printable.js";
import type { EventRecord, JobRecord } from "../../engine/verbs/records.js";
import { answer, type Cli } from "../terminal/command.js";
import { withSession } from "../terminal/session.js";
import { dataText, moment, tableAndText } from "../terminal/summary.js";

export function addEvents(cli: Cli): void {
  cli.program
    .command("events")
    .summary("show what happened to a job")
    .description("Tells the story of a job, oldest first: what happened, who did it, and why.")
    .argument("<job>", "job id, or the first characters of it")
    .examples("fanfold events 3f2a9c", "fanfold events 3f2a9c --json | jq '.events[] | select(.reason)'")
    .action(async (job: string) => {
      await withSession(cli, async ({ engine }) => {
        const status = await engine.status(job);
        const events = await engine.events(status.job_id);
        answer(cli, { job_id: status.job_id, events }, () => eventLines(status, events, cli.io.width()));
      });
    });
}

function eventLines(job: JobRecord, events: readonly EventRecord[], width: number): string[] {
  const rows = events.map((event) => ({
    cells: [moment(event.at), event.kind, printable(event.actor, 30)],
    text: detailsOf(job, event),
  }));
  return tableAndText(["TIME", "WHAT", "WHO"], rows, width);
}

function detailsOf(job: JobRecord, { stage_id, reason, data }: EventRecord): string {
  const stage = stage_id === null ? null : job.stages.find((one) => one.stage_id === stage_id);
  // The name of the stage stands before its data, and need not be said twice.
  const { stage: _, ...rest } = data ?? {};
  const words = [stage?.name ?? "", reason === null ? "" : `"${reason}"`, dataText(stage ? rest : data)];
  return words.filter((text) => text !== "").join("  ");
}
