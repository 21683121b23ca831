// fanfold verify: proves a job from its rows and its spilled files.
import type { VerifyReport } from "../engine/recovery_records.js";
import { answer, type Cli, examples } from "./command.js";
import { exit_codes } from "./failure.js";
import { count } from "./figures.js";
import type { Io } from "./io.js";
import { printable } from "./printable.js";
import { withSession } from "./session.js";
import { table } from "./summary.js";
import { colours, shortId } from "./view.js";

export function addVerify(cli: Cli): void {
  cli.program
    .command("verify")
    .summary("prove that nothing of a job is lost")
    .description(
      "Proves a job from its rows: every task is in exactly one place, the counters agree, and every result that was put into\n" +
        "storage is there and is what was written. Changes nothing. Exits with 0 when all holds, with 1 on any difference.",
    )
    .argument("<job>", "job id, or the first characters of it")
    .addHelpText("after", examples("fanfold verify 3f2a9c", "fanfold verify 3f2a9c --json | jq .problems"))
    .action((job: string) => verify(cli, job));
}

async function verify(cli: Cli, job: string): Promise<void> {
  await withSession(cli, async ({ engine }) => {
    const bar = fileBar(cli.io);
    const report = await engine.recovery.verify(job, bar.checked);
    bar.end();
    if (!report.ok) cli.exit_code = exit_codes.failed;
    answer(cli, report, () => reportLines(report, cli.io));
  });
}

const draw_every_ms = 200;

/** How many files there are is known only at the end: the pages are read as they come. So the bar counts, and does not promise. */
function fileBar(io: Io) {
  let drawn_at = performance.now();
  let drawn = false;
  return {
    checked: (files: number) => {
      if (!io.live || performance.now() - drawn_at < draw_every_ms) return;
      drawn_at = performance.now();
      drawn = true;
      io.draw(`${count(files)} files checked`);
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
  yield `${count(report.files)} files in storage checked`;
  for (const problem of report.problems) yield `${c.red("✘")} ${printable(problem)}`;
  yield report.ok
    ? `${c.green("✔")} every task is in exactly one place, and every count and file agrees`
    : `${count(report.problems.length)} problems; a stuck state is mended by: fanfold sweep`;
}
