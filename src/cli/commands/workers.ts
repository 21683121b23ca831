// fanfold workers: who works for this tenant, on what, and when it was last heard of.

import { printable, truncate } from "../../core/values/printable.js";
import type { GoneWorker, WorkerRecord } from "../../engine/verbs/queries.js";
import { answer, type Cli } from "../terminal/command.js";
import { count, seconds } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";
import { table } from "../terminal/summary.js";

export function addWorkers(cli: Cli): void {
  cli.program
    .command("workers")
    .summary("list the workers that are there")
    .description(
      "Lists the workers that serve this tenant: what they run, how much of it, and when they were last heard of. One that serves\n" +
        "every tenant does not say on which machine it runs.",
    )
    .examples("fanfold workers", "fanfold workers --json | jq '.workers[].types'")
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
    shortWorker(one.worker_id),
    one.status === "live" && one.draining_at !== null ? "draining" : one.status,
    one.host === null ? "(shared)" : printable(`${truncate(one.host, 24)}:${one.pid ?? ""}`),
    printable(one.version ?? "", 20),
    count(one.slots),
    count(one.running),
    count(one.held),
    `${seconds(Math.max(0, (Date.now() - Date.parse(one.heartbeat_at)) / 1000))} ago`,
  ]);
  const head = ["WORKER", "STATUS", "HOST", "VERSION", "SLOTS", "RUNNING", "HELD", "HEARD OF"];
  const [first = "", ...lines] = table(head, rows, width);
  yield first;
  for (const [at, one] of workers.entries()) {
    yield lines[at] ?? "";
    const memory = memoryText(one);
    if (memory !== "") yield truncate(`  memory  ${memory}`, width);
    yield* wordLines("  types   ", shownTypes(one.types), Math.min(width, widest));
  }
}

/** Those of ours, for planning, begin with a mark that no handler's name has. */
function shownTypes(types: readonly string[]): string[] {
  return types
    .filter((type) => !type.startsWith("#"))
    .sort()
    .map((type) => printable(type, 63));
}

/** Also in a pipe: a worker may serve a hundred types, and a line is read by people all the same. */
const widest = 100;
const most_lines = 4;

/** Words side by side in lines of a width, the first behind a heading; what is more than a few lines is counted. */
export function wordLines(heading: string, words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = heading;
  for (const [at, word] of words.entries()) {
    const text = at === words.length - 1 ? word : `${word},`;
    const fits = [...line].length + 1 + [...text].length <= width || line.trim() === "" || line === heading;
    if (fits) line += line.endsWith(" ") ? text : ` ${text}`;
    else if (lines.length === most_lines - 1) {
      const more = ` and ${count(words.length - at)} more (--json shows all)`;
      return [...lines, truncate(line, width - more.length) + more];
    } else {
      lines.push(truncate(line, width));
      line = " ".repeat(heading.length) + text;
    }
  }
  return [...lines, truncate(line, width)];
}

/** Enough to tell them apart; --json has the whole. */
function shortWorker(worker_id: string): string {
  return worker_id.slice(0, 8);
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
    shortWorker(one.worker_id),
    one.status,
    `${seconds(Math.max(0, (Date.now() - Date.parse(one.ended_at)) / 1000))} ago`,
    count(one.went_back),
  ]);
  yield* table(["GONE WITHIN THE HOUR", "HOW", "WHEN", "TASKS THAT WENT BACK"], rows, width);
}
