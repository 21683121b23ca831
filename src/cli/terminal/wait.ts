// Waits for a job's end in this process, working on it where nobody else can, and words the end.
import type { Problem } from "../../core/errors/problems.js";
import { isTerminal } from "../../core/shown/statuses.js";
import type { Worker } from "../../worker/worker.js";
import { type Cli, globals } from "./command.js";
import { exit_codes } from "./failure.js";
import { json, line, note } from "./io.js";
import { positiveSeconds } from "./options.js";
import type { Session } from "./session.js";
import { endLines, exitCodeOf, type FailedTask, resumeText } from "./summary.js";
import { shortId } from "./view.js";
import { type Followed, follow } from "./watching.js";

export interface WaitOptions {
  timeout_s?: number | undefined;
  /** The reply of the verb before it: part of the one JSON document. Absent for watch, which writes a document per change. */
  reply?: object;
}

export interface WaitFlags {
  wait?: boolean;
  timeout?: string;
}

export function timeoutOf({ wait, timeout }: WaitFlags, problems: Problem[], fix = "add --wait"): number | undefined {
  if (timeout !== undefined && !wait) problems.push({ path: "--timeout", problem: "only limits --wait", fix });
  return positiveSeconds("--timeout", timeout, problems);
}

/** Follows the job to its end, says how it ended, and gives the exit code. */
export async function waitForEnd(cli: Cli, session: Session, job_id: string, options: WaitOptions): Promise<number> {
  return sayEnd(cli, session, await workAndFollow(cli, session, job_id, options), options);
}

export async function workAndFollow(
  cli: Cli,
  session: Session,
  job_id: string,
  options: WaitOptions,
): Promise<Followed> {
  const { engine } = session;
  const first = await engine.status(job_id);
  const open = !isTerminal(first.status);
  // The embedded database belongs to this process alone: if it does not work on the job, nobody does.
  const worker = open && engine.db.kind === "embedded" ? await session.startWorker() : null;
  if (open && !worker) await session.warnWithoutWorkers();
  const stopping = new AbortController();
  let followed: Followed | null = null;
  const forget = cli.io.onSignal(() => {
    // A second signal, or one after the end while other jobs' tasks still run: no more waiting.
    if (stopping.signal.aborted || followed) handBack(worker);
    else if (worker) note(cli.io, "finishing or handing back what runs; Ctrl-C again ends at once");
    stopping.abort();
  });
  try {
    const { signal } = stopping;
    followed = await follow(cli, engine, first.job_id, { ...options, stream: !options.reply, signal });
    return followed;
  } finally {
    // Who set a time limit does not want to wait for the tasks that run; nothing is lost by handing them back.
    if (followed?.ended === "timeout") handBack(worker);
    const busy = worker?.stats().running ?? 0;
    if (followed?.ended === "done" && busy > 0)
      note(cli.io, `finishing ${busy} tasks of other jobs; Ctrl-C hands them back`);
    await worker?.stop();
    forget();
  }
}

/** Its failure shows in the stop() that follows. */
function handBack(worker: Worker | null): void {
  worker?.kill().catch(() => {});
}

export async function sayEnd(cli: Cli, session: Session, followed: Followed, options: WaitOptions): Promise<number> {
  const { status, ended } = followed;
  if (globals(cli).json && options.reply) json(cli.io, { ...options.reply, status: status.status, ended, job: status });
  if (ended !== "done") {
    const why = ended === "timeout" ? `not done within ${options.timeout_s} s` : "detached";
    const how =
      session.engine.db.kind === "embedded" ? "it is stored, and goes on with" : "it goes on; look again with";
    note(cli.io, `${why}: ${how}: fanfold watch ${shortId(status.job_id)}`);
    return ended === "timeout" ? exit_codes.timeout : exit_codes.detached;
  }
  if (!globals(cli).json) {
    const failed = await failedTasks(session, status.job_id, status.status);
    for (const text of endLines(status, failed, cli.io.colour)) line(cli.io, text);
    if (failed.length > 0) {
      line(cli.io, `  all of them: fanfold tasks list --job ${shortId(status.job_id)} --status failed`);
      line(cli.io, `  by kind of error: fanfold errors ${shortId(status.job_id)}`);
    }
    if (status.resumable) line(cli.io, `  ${resumeText(status)}`);
  }
  return exitCodeOf(status.status);
}

export async function failedTasks(session: Session, job_id: string, status: string): Promise<FailedTask[]> {
  if (status !== "failed" && status !== "partial_success") return [];
  const page = await session.engine.tasks({ job_id, status: "failed", limit: 5 });
  return page.tasks;
}
