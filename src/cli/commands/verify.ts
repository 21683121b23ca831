// fanfold verify: proves a job from its rows and its files.

import { printable } from "../../core/values/printable.js";
import type { VerifyReport } from "../../engine/verbs/operator.js";
import { answer, type Cli } from "../terminal/command.js";
import { exit_codes } from "../terminal/failure.js";
import { count } from "../terminal/figures.js";
import type { Io } from "../terminal/io.js";
import { withSession } from "../terminal/session.js";
import { table } from "../terminal/summary.js";
import { colours, shortId } from "../terminal/view.js";

export function addVerify(cli: Cli): void {
  cli.program
    .command("verify")
    .summary("prove that nothing of a job is lost")
    .description(
      "Proves a job from its rows: every task is in exactly one place, the counters agree, every result that was put into storage is\n" +
        "there and is what was written, and every file it delivered into a zone is there and has its size. Changes nothing. Exits with 0\n" +
        "when all holds, with 1 on any difference.",
    )
    .argument("<job>", "job id, or the first characters of it")
    .option("--checksum", "also read every file in a zone and compare its SHA-256")
    .examples(
      "fanfold verify 3f2a9c",
      "fanfold verify 3f2a9c --checksum",
      "fanfold verify 3f2a9c --json | jq .problems",
    )
    .action((job: string, options: { checksum?: boolean }) => verify(cli, job, options));
}

async function verify(cli: Cli, job: string, options: { checksum?: boolean }): Promise<void> {
  await withSession(cli, async ({ engine }) => {
    const bar = fileBar(cli.io);
    const report = await engine.operate.verify(job, bar.checked, options);
    bar.end();
    if (!report.ok) cli.exit_code = exit_codes.failed;
    answer(cli, report, () => reportLines(report, cli.io));
  });
}

const draw_every_ms = 200;
const bar_width = 30;

/** Drawn when there are so many files that the first glance at them takes a while, and only on a terminal. */
export function fileBar(
  io: Pick<Io, "live" | "colour" | "draw" | "drawn">,
  now: () => number = () => performance.now(),
) {
  const c = colours(io.colour);
  let draw_at = now() + draw_every_ms;
  let drawn = false;
  return {
    checked: (files: number, of: number) => {
      if (!io.live || (now() < draw_at && !(drawn && files === of))) return;
      draw_at = now() + draw_every_ms;
      drawn = true;
      const filled = Math.floor((Math.min(files, of) / of) * bar_width);
      const bar = c.green("█".repeat(filled)) + c.dim("░".repeat(bar_width - filled));
      io.draw(`${bar}  ${count(files)}/${count(of)} files checked`);
    },
    end: () => {
      if (drawn) io.drawn();
    },
  };
}

const columns = ["total", "ready", "claims", "completed", "failed", "skipped", "absent"] as const;

function* reportLines(report: VerifyReport, { colour, width }: Io): Generator<string> {
  const c = colours(colour);
  yield `${printable(report.job_type, 63)} ${shortId(report.job_id)} ${report.status}`;
  const rows = report.stages.map((stage) => [
    stage.stage,
    stage.status,
    ...columns.map((column) => count(stage[column])),
  ]);
  yield* table(["STAGE", "STATUS", ...columns.map((column) => column.toUpperCase())], rows, width());
  const unread = report.file_count - report.files;
  const left = unread > 0 ? `; the other ${count(unread)} were replaced by later runs of their tasks` : "";
  yield `${count(report.files)} of ${count(report.file_count)} files checked${left}`;
  for (const problem of report.problems) yield `${c.red("✘")} ${printable(problem)}`;
  yield report.ok
    ? `${c.green("✔")} every task is in exactly one place, and every count and checked file agrees`
    : `problems: ${count(report.problems.length)}; what keeps a job from going on is mended by: fanfold sweep`;
}
