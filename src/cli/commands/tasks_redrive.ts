// fanfold tasks redrive: failed tasks that fit a filter run again, now or later.
import type { Problem } from "../../core/errors/problems.js";
import { type RedriveReply, redrive } from "../../engine/verbs/redrive.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { tasks } from "../terminal/figures.js";
import { momentOf } from "../terminal/options.js";
import { withSession } from "../terminal/session.js";
import { type VerbFlags, verbOptions } from "../terminal/verb.js";

interface RedriveFlags extends VerbFlags {
  type?: string;
  jobType?: string;
  group?: string;
  since?: string;
  until?: string;
  at?: string;
}

export function addRedrive(cli: Cli, parent: CliCommand): void {
  parent
    .command("redrive")
    .summary("run failed tasks that fit a filter again")
    .description(
      "Runs failed tasks again: those that stand alone, and those of jobs that ended failed or as a partial success, " +
        "with what follows them. What fails again meanwhile is left alone.",
    )
    .option("--type <task type>", "of this task type")
    .option("--job-type <type>", "of jobs of this type")
    .option("--group <signature>", "of this error group, as fanfold errors shows it")
    .option("--since <time>", "that failed at this time or later")
    .option("--until <time>", "that failed before this time")
    .option("--at <time>", "not before this time; at once when left out")
    .verbOptions()
    .examples(
      "fanfold tasks redrive --type raster.cog_tile --dry-run",
      "fanfold tasks redrive --group 5be0a1c2d3e4 --since 2030-01-31T08:00:00Z",
      "fanfold tasks redrive --job-type process_raster --at 2030-02-01T02:00:00Z",
    )
    .action((flags: RedriveFlags) => run(cli, flags));
}

async function run(cli: Cli, flags: RedriveFlags): Promise<void> {
  const problems: Problem[] = [];
  const filter = {
    task_type: flags.type,
    job_type: flags.jobType,
    signature: flags.group,
    failed_after: momentOf("--since", flags.since, problems),
    failed_before: momentOf("--until", flags.until, problems),
  };
  const run_at = momentOf("--at", flags.at, problems);
  if (Object.values(filter).every((one) => one === undefined))
    problems.push({
      path: "redrive",
      problem: "has no filter",
      fix: "--type, --job-type, --group, --since or --until",
    });
  if (problems.length > 0) throw usage("these tasks cannot be run again", { problems });
  const { reason, dry_run, actor } = verbOptions(cli, flags);
  await withSession(cli, async ({ engine }) => {
    const asked = { filter, run_at, reason: reason ?? undefined, dry_run, actor: actor ?? undefined };
    let sum = await redrive(engine, asked);
    for (let { next } = sum; next !== null; ) {
      const page = await redrive(engine, { ...asked, before: sum.before, cursor: next });
      sum = added(sum, page);
      next = page.next;
    }
    answer(cli, sum, () => lines(sum, run_at));
  });
}

function added(sum: RedriveReply, page: RedriveReply): RedriveReply {
  return {
    ...sum,
    tasks: sum.tasks + page.tasks,
    jobs: sum.jobs + page.jobs,
    skipped: [...sum.skipped, ...page.skipped],
    failed: [...sum.failed, ...page.failed],
    next: page.next,
  };
}

function* lines({ tasks: count, jobs, dry_run, skipped, failed }: RedriveReply, run_at: string | undefined) {
  const when = run_at === undefined ? "" : `, not before ${run_at}`;
  yield `${tasks(count)} ${dry_run ? "would run" : count === 1 ? "runs" : "run"} again, of ${jobs} ${jobs === 1 ? "job" : "jobs"} and alone${when}`;
  for (const { jobs: left, message } of [...skipped, ...failed]) yield `  left alone: ${left} (${message})`;
}
