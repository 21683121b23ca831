// fanfold sweep: one round of the janitor's duties, now. Workers do the same every few seconds.

import { printable } from "../../core/values/printable.js";
import { Janitor, type Sweep } from "../../engine/upkeep/janitor.js";
import { createLog } from "../../log.js";
import { answer, type Cli } from "../terminal/command.js";
import { exit_codes } from "../terminal/failure.js";
import { count } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";
import { colours } from "../terminal/view.js";

export function addSweep(cli: Cli): void {
  cli.program
    .command("sweep")
    .summary("do the janitor's duties once, now")
    .description(
      "Takes back the tasks of workers whose lease is over, ends what is past its deadline or time-out, and mends what is stuck.\n" +
        "Every worker does this every few seconds. Exits with 1 when a duty could not be done.",
    )
    .examples("fanfold sweep", "fanfold sweep --json")
    .action(() => sweep(cli));
}

async function sweep(cli: Cli): Promise<void> {
  await withSession(cli, async ({ engine }) => {
    const reasons = new Map<string, string>();
    // The janitor tells its log why a duty failed, and goes on with the next.
    const log = createLog({ level: "warn", stream: { write: (text: string) => remember(reasons, text) } });
    const done = await new Janitor({ db: engine.db, log }).sweep({ thorough: true });
    if (done.failed.length > 0) cli.exit_code = exit_codes.failed;
    answer(cli, { ...done, reasons: Object.fromEntries(reasons) }, () => sweepLines(done, reasons, cli.io.colour));
  });
}

function remember(reasons: Map<string, string>, text: string): void {
  const { duty, err } = JSON.parse(text) as { duty?: string; err?: { message?: string } };
  if (duty !== undefined) reasons.set(duty, err?.message ?? "");
}

function* sweepLines(done: Sweep, reasons: ReadonlyMap<string, string>, colour: boolean): Generator<string> {
  const c = colours(colour);
  const actions: [action: string, count: number][] = [
    ["workers declared lost, their leases being over", done.lost_workers],
    ["tasks of theirs taken back", done.tasks],
    ["jobs failed, being past their deadline", done.expired_jobs],
    ["attempts failed, being past their time-out", done.expired_tasks],
    ["stuck states mended", done.mended],
    ["leftovers of ended or paused work put right", done.swept],
    ["closed stages checked", done.checked],
  ];
  for (const [action, n] of actions) if (n > 0) yield `${action}: ${count(n)}`;
  for (const { alert, reason } of done.alerts) yield `${c.yellow("alert")} ${printable(alert)}: ${printable(reason)}`;
  for (const duty of done.failed) {
    yield `${c.red("✘")} ${duty} could not be done: ${printable(reasons.get(duty) ?? "no reason was given")}`;
  }
  if (done.failed.length === 0 && actions.every(([, n]) => n === 0)) yield "nothing to do";
}
