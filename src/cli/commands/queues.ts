// fanfold queues: what waits of each task type, who serves it, and how quickly it is worked off.

import { queues_api } from "../../core/api/queues.js";
import { printable } from "../../core/values/printable.js";
import type { QueueRecord } from "../../engine/verbs/queries.js";
import { answer, type Cli } from "../terminal/command.js";
import { count, seconds } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";
import { tableAndText } from "../terminal/summary.js";

export function addQueues(cli: Cli): void {
  cli.program
    .command("queues")
    .summary("list what waits, by task type")
    .description(
      "Lists the task types of which something waits, runs, is paused, or ran within the last 24 hours: what is due, what runs\n" +
        "later, how long the oldest waits, who serves it, and what ended per minute. Those that nothing is taken of come first.",
    )
    .examples("fanfold queues", "fanfold queues --json | jq '.queues[] | select(.problem)'")
    .action(() =>
      withSession(cli, async ({ engine }) => {
        const { queues } = await engine.call(queues_api.list, {});
        answer(cli, { queues }, () => queueLines(queues, cli.io.width()));
      }),
    );
}

function* queueLines(queues: readonly QueueRecord[], width: number): Generator<string> {
  if (queues.length === 0) {
    yield "nothing waits, runs, or ran within the last 24 hours; submit a job: fanfold submit <type>";
    return;
  }
  const rows = queues.map((one) => ({
    cells: [
      printable(one.task_type, 63),
      count(one.due),
      count(one.later),
      count(one.retrying),
      count(one.running),
      one.oldest_at === null ? "" : seconds(Math.max(0, (Date.now() - Date.parse(one.oldest_at)) / 1000)),
      count(one.workers),
      perMinute(one.per_minute.completed),
      perMinute(one.per_minute.failed),
    ],
    text: one.problem === null ? "" : `${one.problem.reason}; ${one.problem.command}`,
  }));
  const head = ["TYPE", "DUE", "LATER", "RETRYING", "RUNNING", "OLDEST", "WORKERS", "DONE/MIN", "FAILED/MIN"];
  yield* tableAndText(head, rows, width);
}

function perMinute(rate: number): string {
  return rate === 0 ? "0" : rate < 10 ? rate.toFixed(1) : count(Math.round(rate));
}
