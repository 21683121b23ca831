// The database's replies with their actions in words: commands for those who use the engine or the command line, calls of the API
// for those who came over HTTP. Pure.
import { type Action, asCommand, sentence, type Words } from "../../core/shown/action.js";

interface Hinted {
  hint: string;
  action: Action | null;
}

export function wordedHint<R extends Hinted>(record: R, words: Words): R {
  return { ...record, hint: sentence(record.hint, record.action, words) };
}

const ofGroup = <R extends { group: Hinted }>(reply: R, words: Words) => ({
  ...reply,
  group: wordedHint(reply.group, words),
});

/** By the SQL function that gives the reply; no other names an action. */
const replies: Readonly<Record<string, (reply: never, words: Words) => unknown>> = {
  get_group: wordedHint,
  create_group: ofGroup,
  seal_group: ofGroup,
  list_groups: ({ groups, ...page }: { groups: Hinted[] }, words) => ({
    ...page,
    groups: groups.map((group) => wordedHint(group, words)),
  }),
  get_job: (job: Hinted & { job_id: string; resumable: boolean; outcomes: { action: Action | null }[] }, words) => ({
    ...wordedHint(job, words),
    resume_hint: job.resumable ? words({ verb: "resume", job_id: job.job_id }) : null,
    outcomes: job.outcomes.map((outcome) => ({ ...outcome, recovery: outcome.action && words(outcome.action) })),
  }),
  // `command` is what one types, whoever asked.
  why: ({ instead, ...why }: { heals: string | null; action: Action | null; instead: Action | null }, words) => ({
    ...why,
    heals: why.heals && sentence(why.heals, instead, words),
    command: why.action && asCommand(why.action),
  }),
  error_groups: (report: { groups: { action: Action }[] }, words) => ({
    ...report,
    groups: report.groups.map((group) => ({ ...group, retry: words(group.action) })),
  }),
  list_queues: (reply: { queues: { problem: { action: Action } | null }[] }) => ({
    ...reply,
    queues: reply.queues.map(({ problem, ...queue }) => ({
      ...queue,
      problem: problem && { ...problem, command: asCommand(problem.action) },
    })),
  }),
};

export function worded<R>(sql_function: string, reply: unknown, words: Words): R {
  const say = Object.hasOwn(replies, sql_function) ? replies[sql_function] : undefined;
  return (say === undefined ? reply : say(reply as never, words)) as R;
}
