// fanfold errors: what went wrong in a job, by kind of error.

import { isTerminal } from "../../core/shown/statuses.js";
import { printable } from "../../core/values/printable.js";
import type { ErrorReport } from "../../engine/verbs/operator.js";
import type { JobRecord } from "../../engine/verbs/records.js";
import { answer, type Cli } from "../terminal/command.js";
import { count } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";
import { errorText, table } from "../terminal/summary.js";
import { nextRetries, shortId } from "../terminal/view.js";

export function addErrors(cli: Cli): void {
  cli.program
    .command("errors")
    .summary("group a job's failures by error")
    .description(
      "Groups the failed tasks of a job by error, the largest group first. Paths, ids and numbers in messages are masked, " +
        "so that failures of one kind are one group, which can be run again alone.",
    )
    .argument("<job>", "job id, or the first characters of it")
    .examples("fanfold errors 3f2a9c", "fanfold errors 3f2a9c --json | jq '.groups[].task_ids'")
    .action(async (job: string) => {
      await withSession(cli, async ({ engine }) => {
        const status = await engine.status(job);
        const report = await engine.operate.errors(status.job_id);
        const document = { job_id: status.job_id, status: status.status, ...report };
        answer(cli, document, () => groupLines(status, report, cli.io.width()));
      });
    });
}

function* groupLines(job: JobRecord, report: ErrorReport, width: number): Generator<string> {
  const { groups, failed, looked_at, group_count } = report;
  const [largest] = groups;
  if (!largest) {
    yield `no task of job ${shortId(job.job_id)} has failed; the job is ${job.status}`;
    if (job.error) yield `  its error: ${errorText(job.error)}`;
    yield* nextRetries(job);
    return;
  }
  // The message comes last: it is what a narrow screen may cut. The signature is what people copy.
  const rows = groups.map((group) => [
    count(group.tasks),
    group.signature,
    (group.category ?? "") + (group.quarantined ? ", quarantined" : ""),
    printable(group.code ?? "", 40),
    group.stages.join(","),
    group.message ?? "",
  ]);
  yield* table(["TASKS", "SIGNATURE", "CATEGORY", "CODE", "STAGES", "MESSAGE"], rows, width);
  if (looked_at < failed) yield `of ${count(failed)} failures ${count(looked_at)} were looked at`;
  if (groups.length < group_count) yield `${count(group_count - groups.length)} smaller groups are not shown`;
  const more = largest.tasks > largest.task_ids.length ? ", …" : "";
  yield `${groups.length > 1 ? "the largest" : "it"}, for example: ${printable(largest.sample, 500)}`;
  yield `  its tasks: ${largest.task_ids.map((id) => printable(id)).join(", ")}${more}`;
  const when = isTerminal(job.status) ? "" : ", once the job has ended";
  yield `  run them again${when}: ${printable(largest.retry)}`;
  yield* nextRetries(job);
}
