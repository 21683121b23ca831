// fanfold workers: who works for this tenant, on what, and when it was last heard of.

import { printable } from "../core/printable.js";
import type { GoneWorker, WorkerRecord } from "../engine/queries.js";
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
        const { workers, gone } = await engine.queries.workersAndGone({ everything: true });
        answer(cli, { workers, gone }, () => [
          ...workerLines(workers, engine.db.kind, cli.io.width()),
          ...goneLines(gone, cli.io.width()),
        ]);
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
    one.status === "live" && one.draining_at !== null ? "draining" : one.status,
    one.host === null ? "(shared)" : `${printable(one.host, 60)}:${one.pid ?? ""}`,
    printable(one.version ?? "", 20),
    count(one.slots),
    count(one.running),
    count(one.held),
    memoryText(one),
    `${seconds(Math.max(0, (Date.now() - Date.parse(one.heartbeat_at)) / 1000))} ago`,
    one.types.map((type) => printable(type, 63)).join(","),
  ]);
  yield* table(
    ["WORKER", "STATUS", "HOST", "VERSION", "SLOTS", "RUNNING", "HELD", "MEMORY", "HEARD OF", "TYPES"],
    rows,
    width,
  );
}

/** What isolated tasks have declared of what they may together, and what the process has. */
function memoryText({ memory_mb, memory_used_mb, rss_mb }: WorkerRecord): string {
  const declared =
    memory_mb === null || memory_mb === 0
      ? ""
      : `${memory_used_mb === null ? "" : `${count(memory_used_mb)} of `}${count(memory_mb)} MB`;
  return rss_mb === null ? declared : `${declared === "" ? "" : `${declared}, `}rss ${count(rss_mb)} MB`;
}

function* goneLines(gone: readonly GoneWorker[], width: number): Generator<string> {
  if (gone.length === 0) return;
  yield "";
  const rows = gone.map((one) => [
    one.worker_id,
    one.status,
    `${seconds(Math.max(0, (Date.now() - Date.parse(one.ended_at)) / 1000))} ago`,
    count(one.went_back),
  ]);
  yield* table(["GONE WITHIN THE HOUR", "HOW", "WHEN", "TASKS THAT WENT BACK"], rows, width);
}
