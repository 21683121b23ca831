// Waits for a job's end in this process, working on it where nobody else can, and words the end.
import { isTerminal } from "../core/statuses.js";
import type { SubmitReply } from "../engine/records.js";
import { type Cli, globals } from "./command.js";
import { exit_codes } from "./failure.js";
import { json, line, note } from "./io.js";
import type { Session } from "./session.js";
import { endLines, exitCodeOf, type FailedTask } from "./summary.js";
import { shortId } from "./view.js";
import { type Followed, follow } from "./watching.js";

export interface WaitOptions {
  timeout_s?: number | undefined;
  /** After a submit: its reply is part of the one JSON document. Absent for watch, which writes a document per change. */
  reply?: SubmitReply;
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
  const forget = cli.io.onSignal(() => {
    if (stopping.signal.aborted) worker?.kill();
    else if (worker) note(cli.io, "finishing or handing back what runs; Ctrl-C again ends at once");
    stopping.abort();
  });
  try {
    return await follow(cli, engine, first.job_id, { ...options, stream: !options.reply, signal: stopping.signal });
  } finally {
    await worker?.stop();
    forget();
  }
}

export async function sayEnd(cli: Cli, session: Session, followed: Followed, options: WaitOptions): Promise<number> {
  const { status, ended } = followed;
  if (globals(cli).json && options.reply) json(cli.io, { ...options.reply, status: status.status, ended, job: status });
  if (ended !== "done") {
    const why = ended === "timeout" ? `not done within ${options.timeout_s} s` : "detached";
    note(
      cli.io,
      `${why}; the job ${session.engine.db.kind === "embedded" ? "is stored and goes on" : "goes on; look again"} with: fanfold watch ${shortId(status.job_id)}`,
    );
    return ended === "timeout" ? exit_codes.timeout : exit_codes.detached;
  }
  if (!globals(cli).json) {
    const failed = await failedTasks(session, status.job_id, status.status);
    for (const text of endLines(status, failed, cli.io.colour)) line(cli.io, text);
    if (failed.length > 0)
      line(cli.io, `  all of them: fanfold tasks list --job ${shortId(status.job_id)} --status failed`);
  }
  return exitCodeOf(status.status);
}

export async function failedTasks(session: Session, job_id: string, status: string): Promise<FailedTask[]> {
  if (status !== "failed" && status !== "partial_success") return [];
  const page = await session.engine.tasks({ job_id, status: "failed", limit: 5 });
  return page.tasks;
}
