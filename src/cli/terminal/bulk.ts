// A verb with --filter: all jobs that fit, each in a transaction of its own, newest first. Jobs submitted meanwhile are left alone.
import type { Problem } from "../../core/errors/problems.js";
import { type BulkSum, type Refused, withPage } from "../../core/shown/bulk_sum.js";
import { printable } from "../../core/values/printable.js";
import { type BulkAction, type BulkReply, countBulk, runBulk } from "../../engine/verbs/job_bulk.js";
import { answer, type Cli, globals } from "./command.js";
import { exit_codes, usage } from "./failure.js";
import { count } from "./figures.js";
import { note } from "./io.js";
import { readFilter } from "./job_filter.js";
import { withSession } from "./session.js";
import { type VerbFlags, verbOptions } from "./verb.js";

export interface FilterFlags {
  filter?: string;
}

export interface BulkTold extends BulkSum {
  action: BulkAction;
  dry_run: boolean;
  before: string;
  at_least: boolean;
}

const done_words: Record<BulkAction, string> = {
  cancel: "cancelled",
  pause: "paused",
  continue: "continued",
  resume: "resumed",
};
/** What an action is for at all: the filter of somebody who means every job. */
const everything: Record<BulkAction, string> = {
  cancel: "status:queued,processing",
  pause: "status:queued,processing",
  continue: "is:paused",
  resume: "status:failed,partial_success,cancelled",
};

export async function onAllThatFit(
  cli: Cli,
  action: BulkAction,
  { filter: text = "", ...flags }: FilterFlags & VerbFlags,
): Promise<void> {
  // Nobody cancels everything because a variable of a script was empty.
  if (text.trim() === "") {
    throw usage("--filter names no jobs", { next: `every job: fanfold ${action} --filter ${everything[action]}` });
  }
  const problems: Problem[] = [];
  const filter = readFilter(text, problems);
  if (problems.length > 0) throw usage("this filter cannot be read", { problems, next: "fanfold jobs --help" });
  const { dry_run, ...options } = verbOptions(cli, flags);
  await withSession(cli, async ({ engine }) => {
    const request = { action, filter, ...options };
    const counted = await countBulk(engine, request);
    const { before, touched, skipped, failed, at_least } = counted;
    let sum: BulkSum = { touched: dry_run ? touched : 0, skipped, failed };
    if (!dry_run) {
      let cursor: string | null = null;
      do {
        const page: BulkReply = await runBulk(engine, { ...request, before, cursor });
        sum = withPage(sum, page);
        cursor = page.next;
        if (cursor !== null && !globals(cli).json) note(cli.io, `${jobs(sum.touched)} ${done_words[action]} so far`);
      } while (cursor !== null);
    }
    if (sum.failed.length > 0) cli.exit_code = exit_codes.partial_success;
    const told: BulkTold = { action, dry_run, before, ...sum, at_least: dry_run && at_least };
    answer(cli, told, () => bulkLines(told));
  });
}

export function* bulkLines({ action, dry_run, touched, at_least, skipped, failed }: BulkTold): Generator<string> {
  if (dry_run) {
    const amount = `${at_least ? "at least " : ""}${jobs(touched)}`;
    yield `${touched === 0 ? "no job fits: nothing" : amount} would be ${done_words[action]}; nothing was changed`;
  } else {
    yield `${done_words[action]}  ${jobs(touched)}`;
  }
  for (const one of skipped) yield `  left as they are: ${refusal(one)}`;
  for (const one of failed) yield `  went wrong: ${refusal(one)}; try again`;
}

function refusal({ jobs: n, message, job_id }: Refused): string {
  return `${jobs(n)}, such as ${job_id.slice(0, 12)}: ${printable(message, 200)}`;
}

function jobs(n: number): string {
  return n === 1 ? "1 job" : `${count(n)} jobs`;
}
