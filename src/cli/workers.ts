// fanfold workers: who works for this tenant, on what, and when it was last heard of.

import { printable } from "../core/printable.js";
import type { WorkerRecord } from "../engine/queries.js";
import { answer, type Cli, examples } from "./command.js";
import { count, seconds } from "./figures.js";
import { withSession } from "./session.js";
import { table } from "./summary.js";

export function addWorkers(cli: Cli): void {
  cli.program
    .command("workers")
    .summary("list the workers that are there")
    .description(
      "Lists the workers that serve this tenant: what they run, how much of it, and when they were last heard of. One that serves\n" +
        "every tenant does not say on which machine it runs.",
    )
    .addHelpText("after", examples("fanfold workers", "fanfold workers --json | jq '.workers[].types'"))
    .action(() =>
      withSession(cli, async ({ engine }) => {
        const workers = await engine.queries.workers();
        answer(cli, { workers }, () => workerLines(workers, engine.db.kind, cli.io.width()));
      }),
    );
}

function* workerLines(workers: readonly WorkerRecord[], kind: "server" | "embedded", width: number): Generator<string> {
  if (workers.length === 0) {
    yield kind === "server"
      ? "no worker is there: what is submitted waits; start one: fanfold up"
      : "no worker is there: this command holds the embedded database itself; start one: fanfold up";
    return;
  }
  const rows = workers.map((one) => [
    one.worker_id,
    one.status,
    one.shared ? "(shared)" : `${printable(one.host ?? "", 60)}:${one.pid ?? ""}`,
    printable(one.version ?? "", 20),
    count(one.slots),
    count(one.held),
    `${seconds(Math.max(0, (Date.now() - Date.parse(one.heartbeat_at)) / 1000))} ago`,
    one.types.map((type) => printable(type, 63)).join(","),
  ]);
  yield* table(["WORKER", "STATUS", "HOST", "VERSION", "SLOTS", "RUNNING", "HEARD OF", "TYPES"], rows, width);
}
