// A request on the screen: a headline and a line per job; and how it is followed to its end.
import { setTimeout as pause } from "node:timers/promises";
import { printable, truncate } from "../../core/values/printable.js";
import type { RequestRecord } from "../../engine/verbs/requests.js";
import { type Cli, globals } from "./command.js";
import { exit_codes } from "./failure.js";
import { count } from "./figures.js";
import { json, line } from "./io.js";
import type { Session } from "./session.js";
import { colours, statusPaint } from "./view.js";

interface Look {
  width: number;
  colour: boolean;
}

type ShownJob = RequestRecord["jobs"][number];

export function requestLines(request: RequestRecord, { width, colour }: Look): string[] {
  const c = colours(colour);
  const name = Math.max(4, ...request.jobs.map((job) => job.name.length));
  const head = `${request.request_id.slice(0, 12)}  ${printable(`${request.dataset_id}/${request.resource_id}/${request.version_id}`)}  ${request.data_type}, run ${request.run}`;
  const services = request.result_data?.services ?? [];
  return [
    `${c.bold(truncate(head, Math.max(20, width - request.status.length - 2)))}  ${statusPaint(request.status, c)(request.status)}`,
    ...request.jobs.map(
      (job) =>
        `  ${job.sequence}  ${job.name.padEnd(name)}  ${statusPaint(job.status, c)(truncate(jobWords(job), width - name - 8))}`,
    ),
    ...(request.error === null
      ? []
      : [`  ${c.red(truncate(printable(String(request.error.message ?? "")), width - 2))}`]),
    ...services.map((service) => `  ${service.name}  ${service.href}`),
    ...(request.status === "completed" ? [] : [`  ${c.dim(truncate(nextStep(request), width - 2))}`]),
  ];
}

function jobWords(job: ShownJob): string {
  const made =
    job.total === null
      ? ""
      : `  ${count((job.completed ?? 0) + (job.failed ?? 0) + (job.skipped ?? 0))} of ${count(job.total)} tasks`;
  const failed = job.failed !== null && job.failed > 0 ? `, ${count(job.failed)} failed` : "";
  const stage = job.stage === null ? "" : `, at ${job.stage}`;
  const gate = job.status === "waiting_approval" ? `  ${printable(job.gate ?? "")}` : "";
  const id = job.job_id === null ? "" : `  ${job.job_id.slice(0, 12)}`;
  return `${job.status}${made}${failed}${stage}${gate}${id}`;
}

function nextStep({ request_id, waits_for_approval, resumable, hint }: RequestRecord): string {
  const id = request_id.slice(0, 12);
  if (waits_for_approval !== null) return `${hint}: fanfold requests decide ${id} --approve`;
  return resumable ? `${hint}: fanfold requests resubmit ${id}` : hint;
}

interface FollowOptions {
  timeout_s?: number | undefined;
  /** With --json: every change as a line of its own, or only the end. */
  stream: boolean;
}

/** Follows a request to its end, working on it where nobody else can. Gives the exit code. */
export async function followRequest(cli: Cli, session: Session, id: string, options: FollowOptions): Promise<number> {
  const { engine } = session;
  const first = await engine.requests.get(id);
  const open = first.finished_at === null;
  // The embedded database belongs to this process alone: if it does not work on the request, nobody does.
  const worker = open && engine.db.kind === "embedded" ? await session.startWorker() : null;
  if (open && worker === null) await session.warnWithoutWorkers();
  const stopping = new AbortController();
  const forget = cli.io.onSignal(() => stopping.abort());
  const until =
    options.timeout_s === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.timeout_s * 1_000;
  try {
    let before = "";
    for (;;) {
      const request = await engine.requests.get(first.request_id);
      const ended = request.finished_at !== null;
      before = show(cli, request, before, options.stream || ended);
      if (ended) {
        if (cli.io.live) cli.io.drawn();
        return exitCodeOf(request.status);
      }
      if (stopping.signal.aborted) return exit_codes.detached;
      if (performance.now() >= until) return exit_codes.timeout;
      await pause(cli.io.live ? 200 : 500, null, { signal: stopping.signal }).catch(() => null);
    }
  } finally {
    await worker?.stop();
    forget();
  }
}

function show(cli: Cli, request: RequestRecord, before: string, tell_json: boolean): string {
  const look = { width: cli.io.screen_width(), colour: cli.io.colour };
  if (globals(cli).json) {
    // The clock alone is no change.
    const now = JSON.stringify({ ...request, now: "", ask_again_s: null });
    if (tell_json && now !== before) json(cli.io, request);
    return now;
  }
  const lines = requestLines(request, { ...look, colour: look.colour && cli.io.live });
  if (cli.io.live) cli.io.draw(lines.join("\n"));
  else {
    const told = new Set(before.split("\n"));
    for (const text of lines) if (!told.has(text)) line(cli.io, text);
  }
  return lines.join("\n");
}

function exitCodeOf(status: string): number {
  if (status === "completed") return exit_codes.done;
  return status === "partial_success" ? exit_codes.partial_success : exit_codes.failed;
}
