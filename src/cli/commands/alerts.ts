import type { AlertRecord } from "../../engine/verbs/operator.js";
import { answer, type Cli } from "../terminal/command.js";
import { checked, wholeNumber } from "../terminal/options.js";
import { withSession } from "../terminal/session.js";
import { moment, tableAndText } from "../terminal/summary.js";
import { shortId } from "../terminal/view.js";

export function addAlerts(cli: Cli): void {
  cli.program
    .command("alerts")
    .summary("list what the janitor raised the alarm about")
    .description(
      "Lists alerts, newest first: missed deadlines, tasks that overran, states that should be impossible. " +
        "The same alert about the same thing is repeated at most once an hour.",
    )
    .option("--limit <number>", "rows of a page, 1 to 1000 (default 20)")
    .examples("fanfold alerts", "fanfold alerts --limit 100 --json | jq '.alerts[].alert'")
    .action(async (options: { limit?: string }) => {
      const limit = checked(
        "these alerts cannot be listed",
        (problems) => wholeNumber("--limit", options.limit, 1, 1000, problems) ?? 20,
      );
      await withSession(cli, async ({ engine }) => {
        const { alerts } = await engine.operate.alerts({ limit });
        answer(cli, { alerts }, () => alertLines(alerts, cli.io.width()));
      });
    });
}

function* alertLines(alerts: readonly AlertRecord[], width: number): Generator<string> {
  if (alerts.length === 0) {
    yield "no alerts";
    return;
  }
  const rows = alerts.map(({ at, alert, job_id, reason }) => ({
    cells: [moment(at), alert, job_id === null ? "" : shortId(job_id)],
    text: reason ?? "",
  }));
  yield* tableAndText(["TIME", "ALERT", "JOB"], rows, width);
}
