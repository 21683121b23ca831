// fanfold retention: how long history is kept, what would go now, and letting it go at once.

import { retention_kinds } from "../../core/api/retention.js";
import { type Problem, quoted, suggestion } from "../../core/errors/problems.js";
import { Retention } from "../../engine/upkeep/retention.js";
import type { RetentionChange, RetentionRecord } from "../../engine/verbs/retention.js";
import { answer, type Cli } from "../terminal/command.js";
import { count } from "../terminal/figures.js";
import { checked, wholeNumber } from "../terminal/options.js";
import { answering, withSession } from "../terminal/session.js";
import { table } from "../terminal/summary.js";

interface RuleFlags {
  type?: string;
  status?: string;
  keep?: string;
  newest?: string;
  everybody?: boolean;
}

export function addRetention(cli: Cli): void {
  const retention = cli.program
    .command("retention")
    .summary("show and set how long history is kept")
    .description(
      "Shows how long what has ended is kept, and what would go now. Workers and servers let it go by themselves, a little at a time.\n" +
        "A tenant's own rule comes before everybody's, one for a type before one for all, one for a status before one for any.",
    )
    .examples(
      "fanfold retention",
      "fanfold retention set jobs --status completed --keep 30d",
      "fanfold retention set jobs --type nightly --newest 500",
      "fanfold retention set audit --keep forever --everybody",
      "fanfold retention unset jobs --status completed",
      "fanfold retention run --dry-run",
    )
    .action(() => show(cli));
  const rule = (name: string) =>
    retention
      .command(name)
      .argument("<kind>", `one of ${retention_kinds.join(", ")}`)
      .option("--type <type>", "only of this job type or task type")
      .option("--status <status>", "only those that ended so: completed, failed, …")
      .option("--everybody", "the rule of all tenants that have none of their own");
  rule("set")
    .summary("set how long it is kept")
    .option("--keep <age>", "30d, 12h, 2y, or forever")
    .option("--newest <n>", "of jobs: only the newest of each type")
    .examples("fanfold retention set jobs --status failed --keep 1y")
    .action((kind: string, flags: RuleFlags) => change(cli, kind, flags, false));
  rule("unset")
    .summary("a wider rule holds again")
    .examples("fanfold retention unset jobs --status failed")
    .action((kind: string, flags: RuleFlags) => change(cli, kind, flags, true));
  retention
    .command("run")
    .summary("let go now what no rule keeps")
    .option("--dry-run", "only show what would go")
    .examples("fanfold retention run --dry-run", "fanfold retention run")
    .action((flags: { dryRun?: boolean }) => run(cli, flags.dryRun === true));
}

async function show(cli: Cli): Promise<void> {
  await answering(cli, ({ engine }) => engine.retention.get(), lines);
}

async function change(cli: Cli, kind: string, flags: RuleFlags, remove: boolean): Promise<void> {
  const rule = checked("this rule cannot be set", (problems) => ruleOf(kind, flags, remove, problems));
  await withSession(cli, async ({ engine }) => {
    const record = await engine.retention.change([rule], {
      everybody: flags.everybody === true,
      actor: cli.io.user(),
    });
    answer(cli, record, () => lines(record, cli.io.width()));
  });
}

async function run(cli: Cli, dry_run: boolean): Promise<void> {
  await withSession(cli, async ({ engine }) => {
    if (dry_run) {
      const record = await engine.retention.get();
      return answer(cli, record, () => goingLines(record, cli.io.width()));
    }
    const so_far = { removed: 0, rows: 0 };
    const done = await Retention.now(engine.db, ({ removed, rows }) => {
      so_far.removed += removed;
      so_far.rows += rows;
      if (cli.io.live) cli.io.draw(`${count(so_far.removed)} removed, ${count(so_far.rows)} rows of theirs`);
    });
    if (cli.io.live) cli.io.drawn();
    answer(cli, done, () => [
      done.removed + done.rows === 0
        ? "nothing to let go: every rule keeps what there is"
        : `${count(done.removed)} jobs, tasks, events and the like removed, and ${count(done.rows)} rows of tasks`,
    ]);
  });
}

function ruleOf(kind: string, flags: RuleFlags, remove: boolean, problems: Problem[]): RetentionChange {
  const known = retention_kinds.find((one) => one === kind);
  if (known === undefined) {
    problems.push({
      path: "<kind>",
      problem: `there is no kind ${quoted(kind)}`,
      fix: suggestion(kind, retention_kinds),
    });
  }
  const about = { kind: known ?? "jobs", type: flags.type, status: flags.status };
  if (remove) return { ...about, remove: true };
  if (flags.keep === undefined && flags.newest === undefined) {
    problems.push({
      path: "--keep",
      problem: "says neither how long nor how many",
      fix: "--keep 30d, --newest 500, or both",
    });
  }
  return {
    ...about,
    keep_s: flags.keep === undefined ? null : ageOf(flags.keep, problems),
    keep_count: wholeNumber("--newest", flags.newest, 1, 1_000_000, problems) ?? null,
  };
}

const units: Readonly<Record<string, number>> = { h: 3600, d: 86_400, w: 604_800, y: 31_536_000 };

function ageOf(text: string, problems: Problem[]): number | null {
  if (text === "forever") return null;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([hdwy])$/.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) return Number(amount) * units[unit]!;
  problems.push({
    path: "--keep",
    problem: `${quoted(text)} is not an age`,
    fix: "--keep 30d (h, d, w, y), or --keep forever",
  });
  return null;
}

/** 30d, 1y: as `--keep` takes it. */
function age(seconds: number | null): string {
  if (seconds === null) return "forever";
  const [unit, length] = Object.entries(units).findLast(([, one]) => seconds >= one && seconds % one === 0) ?? [
    "h",
    3600,
  ];
  return `${Number((seconds / length).toFixed(2))}${unit}`;
}

function* lines(record: RetentionRecord, width: number): Generator<string> {
  const rows = record.rules.map(({ kind, type, status, keep_s, keep_count, set_for }) => [
    kind,
    type ?? "any",
    status ?? "any",
    keep_count !== null && keep_s === null ? "" : age(keep_s),
    keep_count === null ? "" : `the newest ${count(keep_count)}`,
    set_for === "tenant" ? record.tenant_id : (set_for ?? "built in"),
  ]);
  yield* table(["KEPT", "TYPE", "STATUS", "FOR", "AT MOST", "RULE OF"], rows, width);
  yield "";
  yield* goingLines(record, width);
}

function* goingLines({ going, rows_left }: RetentionRecord, width: number): Generator<string> {
  if (going.length === 0) yield "nothing goes now";
  else {
    yield* table(
      ["GOES NOW", "TYPE", "STATUS", "HOW MANY", "OLDEST"],
      going.map((one) => [
        one.kind,
        one.type ?? "",
        one.status,
        `${one.at_least ? "at least " : ""}${count(one.count)}`,
        one.oldest_at.slice(0, 10),
      ]),
      width,
    );
  }
  if (rows_left > 0) yield `rows of ${count(rows_left)} tasks, whose jobs are gone, are still being removed`;
}
