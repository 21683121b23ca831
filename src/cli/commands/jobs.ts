import { job_statuses } from "../../core/shown/statuses.js";
import type { ListedJobs } from "../../engine/verbs/records.js";
import { answer, type Cli } from "../terminal/command.js";
import { filter_help, readFilter } from "../terminal/job_filter.js";
import { checked, oneOf, pageOf } from "../terminal/options.js";
import { withSession } from "../terminal/session.js";
import { moment, table } from "../terminal/summary.js";
import { shortId } from "../terminal/view.js";

interface JobsOptions {
  status?: string;
  type?: string;
  limit?: string;
  cursor?: string;
}

export function addJobs(cli: Cli): void {
  cli.program
    .command("jobs")
    .summary("list jobs, newest first")
    .description(`Lists jobs, newest first. The filter is that of the dashboard: words, and\n${filter_help}`)
    .argument("[filter...]", "such as status:failed created:>-1d")
    .option("--status <status>", `only these: ${job_statuses.join(", ")}`)
    .option("--type <type>", "only this job type")
    .pageOptions()
    .examples(
      "fanfold jobs --status failed",
      "fanfold jobs --type file_digest --limit 100 --json",
      `fanfold jobs 'status:failed,partial_success error:"timed out" created:>-1d'`,
    )
    .action((filter: string[], options: JobsOptions) => listJobs(cli, filter, options));
}

async function listJobs(cli: Cli, filter: string[], options: JobsOptions): Promise<void> {
  const { status, type } = options;
  const asked = checked("these jobs cannot be listed", (problems) => ({
    ...readFilter(filter.join(" "), problems),
    ...(status === undefined ? {} : { status: oneOf("--status", status, job_statuses, problems) }),
    ...(type === undefined ? {} : { type }),
    ...pageOf(options, problems),
  }));
  await withSession(cli, async ({ engine }) => {
    const page = await engine.jobs(asked);
    answer(cli, { jobs: page.jobs, next: page.next }, () => pageLines(page, cli.io.width()));
  });
}

function* pageLines({ jobs, next }: ListedJobs, width: number): Generator<string> {
  if (jobs.length === 0 && next === null) yield "no jobs; submit one: fanfold submit hello_world --wait";
  if (jobs.length === 0 && next !== null) yield "none among the jobs looked at so far";
  const rows = jobs.map((job) => [
    shortId(job.job_id),
    job.job_type,
    job.status,
    String(job.run),
    moment(job.created_at),
    labelText(job.labels),
  ]);
  if (rows.length > 0) yield* table(["JOB", "TYPE", "STATUS", "RUN", "CREATED", "LABELS"], rows, width);
  if (next !== null) yield `more: add --cursor ${next}`;
}

function labelText(labels: Record<string, unknown> | null | undefined): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}
