// fanfold schedules set: everything that is wrong is found before the database is opened, as far as it can be, and told together.
import { schedule_options } from "../../../core/api/schedules.js";
import { deadline_moments } from "../../../core/declare/deadline.js";
import { issueProblems } from "../../../core/declare/parameters.js";
import type { Problem } from "../../../core/errors/problems.js";
import { cronProblems } from "../../../core/time/cron.js";
import { missed_policies } from "../../../core/time/schedule.js";
import { answer, type Cli, type CliCommand } from "../../terminal/command.js";
import { usage } from "../../terminal/failure.js";
import { collect, deadlineOf, labelsOf, oneOf, priorityOf, retryOf } from "../../terminal/options.js";
import { gatherParameters } from "../../terminal/parameters.js";
import { registryOf, withSession } from "../../terminal/session.js";
import { momentIn } from "../../terminal/summary.js";
import { verbOptions } from "../../terminal/verb.js";

interface SetFlags {
  cron?: string;
  timeZone?: string;
  missed?: string;
  description?: string;
  parameters?: string;
  priority?: string;
  label?: string[];
  /** false: --no-deadline. */
  deadline?: string | false;
  deadlineFrom?: string;
  correlationId?: string;
  group?: string;
  retry?: string;
  by?: string;
}

export function addSet(cli: Cli, schedules: CliCommand): void {
  schedules
    .command("set")
    .summary("make a schedule, or replace it")
    .description(
      'Makes a schedule, or replaces the one of that name. A parameter that is exactly "{{tick_at}}" becomes the time the job is for.',
    )
    .argument("<name>", "name of the schedule")
    .argument("<type>", "job type, for example hello_world")
    .argument("[pairs...]", "parameters as key=value")
    .option("--cron <pattern>", "minute, hour, day of month, month, day of week; a sixth field in front is seconds")
    .option("--time-zone <name>", "for example Europe/Zurich (default UTC)")
    .option(
      "--missed <policy>",
      "times that passed while no scheduler ran: skip them, submit one job for all (one, the default), or one each (all)",
    )
    .option("--description <text>", "what it is for")
    .option("--parameters <json>", "parameters as JSON text, @file.json, or - for standard input")
    .option("--priority <number>", "of its jobs")
    .option("--label <key=value>", "of its jobs; may be repeated", collect)
    .option("--deadline <seconds>", "of its jobs (default: their type's, else 7200)")
    .option("--deadline-from <moment>", "start (of a job's work, usual) or submit: what it waits counts too")
    .option("--no-deadline", "its jobs take however long they take")
    .option("--correlation-id <text>", "an id of yours, to find its jobs in logs and traces")
    .option("--group <group>", "its jobs belong to this group")
    .option("--retry <settings>", "how failed tasks of its jobs are tried again: attempts=5,within_s=900")
    .actorOption()
    .examples(
      'fanfold schedules set morning hello_world n=3 --cron "30 6 * * 1-5" --time-zone Europe/Zurich',
      'fanfold schedules set hourly file_digest folder=/data --cron "0 * * * *" --missed skip',
    )
    .action((name: string, type: string, pairs: string[], flags: SetFlags) =>
      setSchedule(cli, name, type, pairs, flags),
    );
}

async function setSchedule(cli: Cli, name: string, job_type: string, pairs: string[], flags: SetFlags): Promise<void> {
  const problems: Problem[] = [];
  const { cron = "", timeZone: time_zone = "UTC", description = null } = flags;
  for (const { path, ...rest } of cronProblems(cron, time_zone)) {
    problems.push({ path: path === "$.cron" ? "--cron" : "--time-zone", ...rest });
  }
  const missed = oneOf("--missed", flags.missed, missed_policies, problems) ?? "one";
  const options = {
    priority: priorityOf(flags.priority, problems),
    labels: labelsOf(flags.label, problems),
    deadline_s: deadlineOf(flags.deadline, problems),
    deadline_from: oneOf("--deadline-from", flags.deadlineFrom, deadline_moments, problems),
    ...textsOf(flags, problems),
    retry: retryOf(flags.retry, problems),
  };
  const parameters = await gatherParameters(cli.io, pairs, flags.parameters, problems);
  if (problems.length > 0) throw usage("this schedule is not right", { problems });
  const actor = verbOptions(cli, { by: flags.by }).actor;
  await withSession(
    cli,
    async ({ engine }) => {
      const given = { cron, time_zone, job_type, parameters, options, missed, description };
      const { created, schedule } = await engine.schedules.put(name, given, { actor });
      answer(cli, { created, schedule }, () => [
        `${created ? "made" : "changed"}  ${schedule.name}: ${schedule.words}`,
        `  next: ${schedule.paused_at === null ? momentIn(schedule.next_at, schedule.time_zone) : "it is paused"}`,
      ]);
    },
    { registry: await registryOf(cli) },
  );
}

const texts = schedule_options.pick({ correlation_id: true, group_id: true });

/** The database looks at them only when the first time comes: the operator who types them learns it here. */
function textsOf({ correlationId, group }: SetFlags, problems: Problem[]) {
  const given = { correlation_id: correlationId, group_id: group };
  for (const { path, ...rest } of issueProblems(texts.safeParse(given).error?.issues ?? [], given)) {
    problems.push({ path: path === "$.group_id" ? "--group" : "--correlation-id", ...rest });
  }
  return given;
}
