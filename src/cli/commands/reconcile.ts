// fanfold reconcile: what rows say against what lies in zones and storage.
import type { Problem } from "../../core/errors/problems.js";
import { printable } from "../../core/values/printable.js";
import { type Finding, reconcile } from "../../engine/upkeep/reconcile.js";
import { answer, type Cli } from "../terminal/command.js";
import { exit_codes } from "../terminal/failure.js";
import { count } from "../terminal/figures.js";
import { checked, wholeNumber } from "../terminal/options.js";
import { withSession } from "../terminal/session.js";
import { table } from "../terminal/summary.js";

interface Flags {
  mend?: boolean;
  redo?: boolean;
  checksum?: boolean;
  olderThan?: string;
}

const words = {
  row_without_file: "row without file",
  file_without_row: "file without row",
  not_running: "does not run",
} as const;
const remedies = {
  retract: "--mend takes the record back",
  remove: "--mend removes it",
  redo: "--redo runs the task again",
  take_back: "--mend takes its tasks back",
  by_hand: "see to it",
} as const;

export function addReconcile(cli: Cli): void {
  cli.program
    .command("reconcile")
    .summary("compare rows with files, after a restore")
    .description(
      "Compares what the database says with what lies in zones and storage: rows without files, files without rows, and workers that hold\n" +
        "tasks and are gone. Only looks. With --mend leftovers are removed, records of replaced files taken back and tasks given to others;\n" +
        "with --redo tasks whose files are gone run again. Exits with 1 while anything is left.",
    )
    .option("--mend", "remove leftovers, take back records and tasks")
    .option("--redo", "run the tasks again whose files are gone")
    .option("--checksum", "also read every file that a row names and compare its SHA-256")
    .option("--older-than <hours>", "files without rows only if they are at least so old (default 1)")
    .examples(
      "fanfold reconcile",
      "fanfold reconcile --mend --redo",
      "fanfold reconcile --json | jq '.findings[].what'",
    )
    .action((flags: Flags) => run(cli, flags));
}

async function run(cli: Cli, { olderThan, ...flags }: Flags): Promise<void> {
  const older_than_h = checked("nothing can be compared", (problems: Problem[]) =>
    wholeNumber("--older-than", olderThan, 0, 24 * 365, problems),
  );
  await withSession(cli, async ({ engine }) => {
    const { io } = cli;
    const on_look = (looked: number) => {
      if (io.live && looked % 500 === 0) io.draw(`${count(looked)} looked at`);
    };
    const given = older_than_h === undefined ? flags : { ...flags, older_than_h };
    const findings = await reconcile(engine, { ...given, on_look });
    if (io.live) io.drawn();
    const left = findings.filter(({ mended }) => !mended).length;
    if (left > 0) cli.exit_code = exit_codes.failed;
    answer(cli, { findings, left }, () => lines(findings, left, io.width()));
  });
}

function* lines(findings: readonly Finding[], left: number, width: number): Generator<string> {
  if (findings.length === 0) return yield "rows and files agree, and what is said to run may run";
  const rows = findings.map(({ kind, what, why, remedy, mended }) => [
    words[kind],
    mended ? "mended" : remedies[remedy],
    printable(why),
    printable(what),
  ]);
  yield* table(["FOUND", "REMEDY", "WHY", "WHAT"], rows, width);
  yield `${count(findings.length)} found, ${count(findings.length - left)} mended, ${count(left)} left`;
}
