// What happens, as it happens: the event stream, opened again when it breaks, going on after the last event that was read.
import {
  type StreamedEvent,
  type StreamedProgress,
  stream_api,
  streamed_event,
  streamed_progress,
  streamed_ready,
} from "../core/api/stream.js";
import { BadRequest, ContractViolation } from "../core/errors/errors.js";
import { shorten } from "../core/errors/problems.js";
import { terminal_job_statuses } from "../core/shown/statuses.js";
import { pause } from "./abort.js";
import { waitMs } from "./retries.js";
import { EventReader, type ServerEvent } from "./sse.js";
import type { Transport } from "./transport.js";
import { isPassing } from "./wait.js";

export interface StreamOptions {
  /** Only what happens to this job. */
  job_id?: string;
  /** With job_id: stay after the job has ended. Without it the stream ends with the job. */
  follow?: boolean;
  /** Go on after this `position`; when left out, from now on. */
  last_event_id?: string;
  signal?: AbortSignal;
  /** Called each time the line is open, with where it stands: from then on nothing is missed. */
  on_open?: (position: string) => void;
  /** How long the service may be away before that is an error. Default: 60,000. */
  patience_ms?: number;
  /** A line that says nothing for so long is dead. Default: 45,000, three heartbeats. */
  silence_ms?: number;
}

/** `position` is what to give as last_event_id to go on behind it. */
export type Streamed =
  | { type: "event"; position: string; event: StreamedEvent }
  | { type: "progress"; position: string; stages: StreamedProgress["stages"] };

const terminal_kinds: ReadonlySet<string> = new Set(terminal_job_statuses.map((status) => `job.${status}`));

const most_remembered = 10_000;

/** That of one job ends with the job, unless it is told to follow; any other only by `break`, by its signal, or by an error that will not pass. */
export async function* streamEvents(transport: Transport, options: StreamOptions): AsyncGenerator<Streamed, void> {
  const { signal, patience_ms = 60_000, last_event_id = "" } = options;
  if (!/^[\x20-\x7e]{0,2000}$/.test(last_event_id)) {
    throw new BadRequest("last_event_id is not a position this service gave", { hint: "give one unchanged, or none" });
  }
  const ends = options.job_id !== undefined && options.follow !== true;
  const seen = new Seen();
  let position = last_event_id;
  let failures = 0;
  let away_since: number | null = null;
  for (;;) {
    signal?.throwIfAborted();
    const line = new Line(options);
    const resumes = position;
    try {
      for await (const { id, event, data } of line.read(transport, position)) {
        failures = 0;
        away_since = null;
        if (id !== "") position = id;
        if (event === "ready") {
          options.on_open?.(position);
          // From a position on, what was missed comes first: its last event ends the stream.
          if (ends && resumes === "" && hasEnded(data)) return;
        }
        const told = streamed(event, data, position);
        if (told !== null && !(told.type === "event" && seen.has(told.event.event_id))) {
          yield told;
          if (ends && told.type === "event" && terminal_kinds.has(told.event.kind)) return;
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error) && !isBroken(error)) throw error;
      away_since ??= performance.now();
      if (performance.now() - away_since > patience_ms) throw error;
    } finally {
      line.close();
    }
    const asked_ms = failures === 0 ? (line.retry_ms ?? 0) : 0;
    const backoff = waitMs(
      { kind: "network", sent: false },
      failures++,
      { retries: 0, longest_wait_ms: 0 },
      Math.random(),
    );
    await pause(asked_ms * Math.random() + (backoff ?? 0), signal);
  }
}

/** One connection, until it breaks, is silent for too long, or the server says goodbye. */
class Line {
  readonly #reader = new EventReader();
  readonly #closed = new AbortController();
  readonly #follow = () => this.#closed.abort(this.options.signal?.reason);
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: StreamOptions) {
    options.signal?.addEventListener("abort", this.#follow, { once: true });
  }

  get retry_ms(): number | null {
    return this.#reader.retry_ms;
  }

  async *read(transport: Transport, position: string): AsyncGenerator<ServerEvent> {
    const { job_id } = this.options;
    const response = await transport.open(stream_api.stream, {
      query: job_id === undefined ? {} : { job_id },
      headers: position === "" ? {} : { "last-event-id": position },
      signal: this.#closed.signal,
    });
    const body = response.body?.getReader();
    if (body === undefined) return;
    const decoder = new TextDecoder();
    for (;;) {
      this.#heard();
      const { done, value } = await body.read();
      if (done) return;
      yield* this.#reader.push(decoder.decode(value, { stream: true }));
    }
  }

  #heard(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#closed.abort(new BrokenLine()), this.options.silence_ms ?? 45_000);
  }

  close(): void {
    clearTimeout(this.#silence);
    this.options.signal?.removeEventListener("abort", this.#follow);
    this.#closed.abort(new BrokenLine());
  }
}

class BrokenLine extends Error {}

/** What reading a body throws when the line breaks: fetch's own TypeError, or our own silence. */
function isBroken(error: unknown): boolean {
  return error instanceof BrokenLine || error instanceof TypeError;
}

/** An older service tells nothing here: then events alone end it. */
function hasEnded(data: string): boolean {
  try {
    return streamed_ready.parse(JSON.parse(data)).ended === true;
  } catch {
    return false;
  }
}

function streamed(kind: string, data: string, position: string): Streamed | null {
  if (kind === "ready" || kind === "end" || kind === "message") return null;
  try {
    const json: unknown = JSON.parse(data);
    if (kind === "progress") return { type: "progress", position, stages: streamed_progress.parse(json).stages };
    return { type: "event", position, event: streamed_event.parse(json) };
  } catch (cause) {
    throw new ContractViolation(`the stream told ${shorten(kind)} in a way this client does not know`, { cause });
  }
}

/** Event ids that were told: what comes again after a new connection is not told twice. */
class Seen {
  readonly #ids = new Set<number>();

  has(event_id: number): boolean {
    if (this.#ids.has(event_id)) return true;
    this.#ids.add(event_id);
    if (this.#ids.size > most_remembered) this.#ids.delete(this.#ids.values().next().value as number);
    return false;
  }
}
