// fanfold schedules: jobs that the clock submits.
import type { Problem } from "../../../core/errors/problems.js";
import { printable } from "../../../core/values/printable.js";
import type { ScheduleRecord, TickRecord } from "../../../engine/verbs/schedule_records.js";
import { answer, type Cli, type CliCommand } from "../../terminal/command.js";
import { usage } from "../../terminal/failure.js";
import { checked, type PageFlags, pageOf, wholeNumber } from "../../terminal/options.js";
import { answering, withSession } from "../../terminal/session.js";
import { howToFollow, moment, momentIn, table } from "../../terminal/summary.js";
import { type VerbFlags, verbOptions } from "../../terminal/verb.js";
import { shortId } from "../../terminal/view.js";
import { addSet } from "./set.js";

export function addSchedules(cli: Cli): void {
  const schedules = cli.program
    .command("schedules")
    .summary("list, set, pause and run schedules: jobs that the clock submits")
    .description(
      "Schedules: jobs that the clock submits. Workers look after them; each time gets its job exactly once.",
    )
    .examples(
      'fanfold schedules set morning hello_world --cron "30 6 * * 1-5" --time-zone Europe/Zurich',
      "fanfold schedules",
      "fanfold schedules run morning",
    );
  addList(cli, schedules);
  addShow(cli, schedules);
  addSet(cli, schedules);
  addPreview(cli, schedules);
  addTicks(cli, schedules);
  addHolding(cli, schedules, "pause");
  addHolding(cli, schedules, "continue");
  addRun(cli, schedules);
  addDelete(cli, schedules);
}

function addList(cli: Cli, schedules: CliCommand): void {
  schedules
    .command("list", { isDefault: true })
    .summary("list schedules by name")
    .pageOptions()
    .examples("fanfold schedules list", "fanfold schedules --json | jq '.schedules[].next_at'")
    .action(async (flags: PageFlags) => {
      const asked = checked("schedules cannot be listed", (problems) => pageOf(flags, problems));
      await answering(cli, ({ engine }) => engine.schedules.list(asked), listLines);
    });
}

function* listLines({ schedules, next }: { schedules: ScheduleRecord[]; next: string | null }, width: number) {
  if (schedules.length === 0) yield 'no schedules; make one: fanfold schedules set <name> <type> --cron "0 6 * * *"';
  const rows = schedules.map((one) => [
    one.name,
    one.paused_at === null ? moment(one.next_at) : "paused",
    one.last === null ? "" : one.last.outcome,
    one.job_type,
    one.words,
  ]);
  if (rows.length > 0) yield* table(["SCHEDULE", "NEXT", "LAST", "JOB TYPE", "WHEN"], rows, width);
  if (next !== null) yield `more: add --cursor ${next}`;
}

function addShow(cli: Cli, schedules: CliCommand): void {
  schedules
    .command("show")
    .summary("show a schedule")
    .argument("<name>", "name of the schedule")
    .examples("fanfold schedules show morning", "fanfold schedules show morning --json")
    .action(async (name: string) => {
      await answering(cli, ({ engine }) => engine.schedules.get(name), showLines);
    });
}

function* showLines(schedule: ScheduleRecord): Generator<string> {
  const { name, job_type, words, cron, parameters, options, missed, paused_at, paused_by, pause_reason, last } =
    schedule;
  yield `${name}  ${job_type}  ${words}`;
  if (schedule.description !== null) yield `  ${printable(schedule.description)}`;
  yield `  cron        ${cron}`;
  yield `  parameters  ${printable(JSON.stringify(parameters), 1000)}`;
  if (Object.keys(options).length > 0) yield `  options     ${printable(JSON.stringify(options), 1000)}`;
  yield `  missed      ${missed}`;
  if (paused_at !== null) {
    yield `  paused by ${printable(paused_by ?? "")}${pause_reason === null ? "" : `: ${printable(pause_reason)}`}`;
    yield `  go on: fanfold schedules continue ${name}`;
  } else yield `  next        ${momentIn(schedule.next_at, schedule.time_zone) || "there is no further time"}`;
  if (last !== null) yield `  last        ${tickText(last)}`;
}

function tickText({ tick_at, outcome, job_id, missed, reason }: TickRecord): string {
  const more = [
    job_id === null ? "" : shortId(job_id),
    missed > 0 ? `for ${missed} earlier ones too` : "",
    printable(reason ?? "", 200),
  ];
  return [moment(tick_at), outcome, ...more.filter((text) => text !== "")].join("  ");
}

function addPreview(cli: Cli, schedules: CliCommand): void {
  schedules
    .command("preview")
    .summary("show the next times of a schedule, or of a pattern")
    .argument("[name]", "name of a schedule")
    .option("--cron <pattern>", "this pattern instead")
    .option("--time-zone <name>", "of the pattern (default UTC)")
    .option("--count <number>", "how many, 1 to 100 (default 5)")
    .examples(
      "fanfold schedules preview morning",
      'fanfold schedules preview --cron "0 0 L * *" --time-zone Europe/Zurich',
    )
    .action(async (name: string | undefined, flags: { cron?: string; timeZone?: string; count?: string }) => {
      const problems: Problem[] = [];
      const count = wholeNumber("--count", flags.count, 1, 100, problems) ?? 5;
      if ((name === undefined) === (flags.cron === undefined)) {
        problems.push({ path: "", problem: "name a schedule, or give --cron", fix: "exactly one of them" });
      }
      if (problems.length > 0) throw usage("nothing to preview", { problems });
      await withSession(cli, async ({ engine: { schedules: all } }) => {
        const { cron, time_zone } =
          name === undefined ? { cron: flags.cron ?? "", time_zone: flags.timeZone } : await all.get(name);
        const preview = await all.preview(cron, time_zone, count);
        answer(cli, preview, () => [
          preview.words,
          ...preview.next.map((at) => `  ${momentIn(at, time_zone ?? "UTC")}  ${at}`),
        ]);
      });
    });
}

function addTicks(cli: Cli, schedules: CliCommand): void {
  schedules
    .command("ticks")
    .summary("list the times of a schedule and what became of them")
    .argument("<name>", "name of the schedule")
    .pageOptions()
    .examples("fanfold schedules ticks morning")
    .action(async (name: string, flags: PageFlags) => {
      const asked = checked("these times cannot be listed", (problems) => pageOf(flags, problems));
      await withSession(cli, async ({ engine }) => {
        const page = await engine.schedules.ticks(name, asked);
        answer(cli, page, () => [
          ...(page.ticks.length === 0 ? ["no time has come yet"] : page.ticks.map(tickText)),
          ...(page.next === null ? [] : [`more: add --cursor ${page.next}`]),
        ]);
      });
    });
}

function addHolding(cli: Cli, schedules: CliCommand, verb: "pause" | "continue"): void {
  const pauses = verb === "pause";
  const command = schedules
    .command(verb)
    .summary(pauses ? "submit nothing until it is continued" : "go on with the first time after now")
    .argument("<name>", "name of the schedule")
    .reasonOption()
    .actorOption();
  command.examples(`fanfold schedules ${verb} morning`).action(async (name: string, flags: VerbFlags) => {
    const options = verbOptions(cli, flags);
    await withSession(cli, async ({ engine: { schedules: all } }) => {
      const reply = await (pauses ? all.pause(name, options) : all.continue(name, options));
      const { changed, schedule } = reply;
      const what = pauses ? "paused" : "goes on";
      answer(cli, reply, () => [
        changed ? `${what}  ${name}` : `nothing changed: ${name} is ${pauses ? "paused already" : "not paused"}`,
        ...(pauses
          ? [`  go on: fanfold schedules continue ${name}`]
          : [`  next: ${momentIn(schedule.next_at, schedule.time_zone)}`]),
      ]);
    });
  });
}

function addRun(cli: Cli, schedules: CliCommand): void {
  schedules
    .command("run")
    .summary("submit its job now, whatever the clock says")
    .argument("<name>", "name of the schedule")
    .reasonOption()
    .actorOption()
    .examples("fanfold schedules run morning")
    .action(async (name: string, flags: VerbFlags) => {
      const options = verbOptions(cli, flags);
      await withSession(cli, async ({ engine }) => {
        const reply = await engine.schedules.runNow(name, options);
        answer(cli, reply, () => [
          `submitted  ${reply.job_id}  ${reply.status}`,
          ...howToFollow(engine.db.kind, reply.status, reply.job_id),
        ]);
      });
    });
}

function addDelete(cli: Cli, schedules: CliCommand): void {
  schedules
    .command("delete")
    .summary("delete a schedule and its history; its jobs stay")
    .argument("<name>", "name of the schedule")
    .verbOptions()
    .examples('fanfold schedules delete morning --reason "replaced by evening"')
    .action(async (name: string, flags: VerbFlags) => {
      const options = verbOptions(cli, flags);
      await withSession(cli, async ({ engine: { schedules: all } }) => {
        await all.get(name);
        const reply = options.dry_run ? { name, deleted: false } : await all.delete(name, options);
        answer(cli, reply, () => [reply.deleted ? `deleted  ${name}` : `would delete ${name}; nothing was changed`]);
      });
    });
}
