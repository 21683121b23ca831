// fanfold change: the priority of a job, the attempts of its tasks, or when it starts.
import { moment } from "../../core/api/fields.js";
import type { Problem } from "../../core/errors/problems.js";
import { answer, type Cli } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { tasks } from "../terminal/figures.js";
import { priorityOf, wholeNumber } from "../terminal/options.js";
import { withSession } from "../terminal/session.js";
import { type VerbFlags, verbOptions } from "../terminal/verb.js";
import { shortId } from "../terminal/view.js";

interface ChangeFlags extends VerbFlags {
  priority?: string;
  attempts?: string;
  runAt?: string;
}

export function addChange(cli: Cli): void {
  cli.program
    .command("change")
    .summary("change the priority of a job, its attempts, or when it starts")
    .description("Changes what was said at submit of a job that has not ended. What is in hand goes on as it is.")
    .argument("<job>", "job id, or the first characters of it")
    .option("--priority <number>", "higher runs first")
    .option("--attempts <number>", "of each of its tasks, at most")
    .option("--run-at <time>", "of a job that waits for its time: not before this one")
    .verbOptions()
    .examples("fanfold change 3f2a9c --priority 10", "fanfold change 3f2a9c --run-at 2030-01-31T08:00:00Z --attempts 3")
    .action((job: string, flags: ChangeFlags) => change(cli, job, flags));
}

async function change(cli: Cli, job: string, flags: ChangeFlags): Promise<void> {
  const problems: Problem[] = [];
  const run_at = moment.safeParse(flags.runAt);
  if (flags.runAt !== undefined && !run_at.success) {
    problems.push({ path: "--run-at", problem: "is not a time with its offset", fix: "--run-at 2030-01-31T08:00:00Z" });
  }
  const wanted = {
    priority: priorityOf(flags.priority, problems),
    attempts: wholeNumber("--attempts", flags.attempts, 1, 10_000, problems),
    run_at: flags.runAt === undefined ? undefined : run_at.data,
  };
  if (problems.length === 0 && Object.values(wanted).every((one) => one === undefined)) {
    problems.push({ path: "change", problem: "has nothing to change", fix: "--priority, --attempts or --run-at" });
  }
  if (problems.length > 0) throw usage("the job cannot be changed so", { problems });
  await withSession(cli, async ({ engine }) => {
    const reply = await engine.operate.change(job, { ...wanted, ...verbOptions(cli, flags) });
    answer(cli, reply, () => [
      `job ${shortId(reply.job_id)} ${reply.dry_run ? "would have" : reply.changed ? "has" : "had already"} priority ${reply.priority}${reply.run_at === null ? "" : `, starts at ${reply.run_at}`}; ${tasks(reply.queued)} waiting`,
    ]);
  });
}
