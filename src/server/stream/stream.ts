// One reader of the event stream. It is told what it missed, then what happens, in that order and each once; it is let go when
// its key is, when it does not read, and when the server stops.
import type { ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { StreamedEnd } from "../../core/api/stream.js";
import { BadRequest, Forbidden, Unauthenticated } from "../../core/errors/errors.js";
import type { Engine } from "../../engine/engine.js";
import { type FollowedEvent, missedEvents, type Span, type StageProgress } from "../../engine/verbs/events.js";
import { assertScope, type Principal } from "../access/auth.js";
import type { Service } from "../service.js";
import { readPosition } from "./event_gaps.js";

export interface StreamParts {
  service: Service;
  engine: Engine;
  principal: Principal;
  authorization: string | undefined;
  job_id: string | null;
  position: string | undefined;
  raw: ServerResponse;
  headers: Record<string, string>;
  /** Data of the first event; asked for once the feed is followed, so that nothing falls in between. */
  ready(): Promise<Record<string, unknown>>;
}

const PAGE = 500;
/** So much may wait to be sent before the next page is read. */
const PAGE_BYTES = 64 * 1024;
/** Held back while what was missed is told. */
const MOST_HELD = 20_000;
/** How long a credential counts that the database cannot be asked about. */
const UNCHECKED_MS = 30_000;
const FAREWELL_MS = 2_000;

const hints: Record<StreamedEnd["reason"], string> = {
  stopping: "come back with Last-Event-ID: another server, or this one again, goes on from there",
  revoked: "the key no longer allows to read: come back with another",
  slow: "too much waited to be read: come back with Last-Event-ID, and read faster",
  unavailable: "the key could not be looked at again: come back later with Last-Event-ID",
};

/** Resolves when the stream is open; it then lives on its own. */
export async function openStream(parts: StreamParts): Promise<void> {
  const { service, principal } = parts;
  const from = startOf(parts.position);
  const leave = service.places.take(principal);
  const stream = new Stream(parts, leave);
  try {
    await stream.open(from);
  } catch (error) {
    leave();
    throw error;
  }
}

function startOf(position: string | undefined): { head: number; gaps: Span[] } | null {
  if (position === undefined || position === "") return null;
  const read = readPosition(position);
  if (read !== null) return read;
  throw new BadRequest("Last-Event-ID is not one this service gave", {
    hint: "send the id of an event unchanged, or none",
  });
}

class Stream {
  /** Live events that came while what was missed is told. */
  #held: { event: FollowedEvent; position: string }[] | null = [];
  /** Told already, of what the feed will tell as well. */
  readonly #told = new Set<number>();
  #ended = false;
  #unfollow: () => void = () => {};
  #timers: NodeJS.Timeout[] = [];
  #checked_at = performance.now();
  #sees_keys: boolean;

  constructor(
    private readonly parts: StreamParts,
    private readonly leave: () => void,
  ) {
    this.#sees_keys = parts.principal.scopes.has("admin");
  }

  async open(from: { head: number; gaps: Span[] } | null): Promise<void> {
    const { service, principal, raw, headers } = this.parts;
    const { head, gaps, leave } = await service.feed.follow({
      tenant_id: principal.tenant_id,
      onEvent: (event, position) => this.#onEvent(event, position),
      onProgress: (stages) => this.#onProgress(stages),
    });
    this.#unfollow = leave;
    const ready = JSON.stringify(await this.parts.ready());
    raw.on("close", () => this.#close());
    raw.on("error", () => this.#close());
    if (raw.destroyed || raw.closed) {
      this.#close();
      return;
    }
    raw.writeHead(200, {
      ...headers,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // When it ends nothing follows: a caller who did not read would keep the connection.
      connection: "close",
      // A proxy that gathers would tell everything late.
      "x-accel-buffering": "no",
    });
    const id = from === null ? service.feed.positionAt(head) : this.parts.position;
    this.#write(`retry: 2000\n\nid: ${id}\nevent: ready\ndata: ${ready}\n\n`);
    service.stopping.addEventListener("abort", this.#onStop);
    this.#every(service.stream.heartbeat_ms, () => this.#write(": \n\n"));
    this.#every(service.stream.recheck_ms, () => void this.#recheck());
    if (service.stopping.aborted) this.#onStop();
    void this.#catchUp(from, head, gaps);
  }

  #every(ms: number, work: () => void): void {
    this.#timers.push(setInterval(work, ms));
  }

  readonly #onStop = (): void => this.#end("stopping");

  /** The feed is followed already: what it tells meanwhile is held back, and nothing falls in between. */
  async #catchUp(from: { head: number; gaps: Span[] } | null, head: number, gaps: readonly Span[]): Promise<void> {
    try {
      if (from !== null) await this.#tellMissed(from, head, gaps);
    } catch (error) {
      this.parts.engine.log.warn({ err: error }, "what a reader of events missed could not be read");
      this.#end("unavailable");
    }
    const held = this.#held ?? [];
    this.#held = null;
    for (const { event, position } of held) this.#onEvent(event, position);
  }

  async #tellMissed(from: { head: number; gaps: Span[] }, head: number, gaps: readonly Span[]): Promise<void> {
    const { engine, service, job_id } = this.parts;
    let after = from.head;
    let watched: readonly Span[] = from.gaps;
    for (let more = true; more && !this.#ended; ) {
      const page = await missedEvents(engine.db, { tenant: engine.tenant, after, watched, job_id, most: PAGE });
      for (const event of page.events) {
        const { event_id } = event;
        if (event_id > head || gaps.some(([first, end]) => event_id >= first && event_id < end))
          this.#told.add(event_id);
        // What came late lies before where the reader stands, and moves it nowhere.
        this.#tell(event, event_id <= from.head ? (this.parts.position as string) : service.feed.positionAt(event_id));
      }
      after = page.last ?? after;
      watched = [];
      more = page.more;
      await this.#drained();
    }
  }

  #onEvent(event: FollowedEvent, position: string): void {
    if (this.parts.job_id !== null && event.job_id !== this.parts.job_id) return;
    if (this.#held !== null) {
      if (this.#held.length >= MOST_HELD) this.#end("slow");
      else this.#held.push({ event, position });
    } else if (!this.#told.delete(event.event_id)) this.#tell(event, position);
  }

  #tell({ tenant_id, ...event }: FollowedEvent, position: string): void {
    // Keys are only for callers who may see to them.
    if (event.kind.startsWith("key.") && !this.#sees_keys) return;
    if (tenant_id !== this.parts.principal.tenant_id) return;
    this.#write(`id: ${position}\nevent: ${oneLine(event.kind)}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  #onProgress(all: StageProgress[]): void {
    const { job_id, principal } = this.parts;
    const stages = all
      .filter((stage) => stage.tenant_id === principal.tenant_id && (job_id === null || stage.job_id === job_id))
      .map(({ tenant_id: _, ...stage }) => stage);
    if (stages.length > 0) this.#write(`event: progress\ndata: ${JSON.stringify({ stages })}\n\n`);
  }

  #write(text: string): void {
    const { raw, service } = this.parts;
    if (this.#ended) return;
    // Looked at before: one that reads gets a large event too.
    if (raw.writableLength > service.stream.buffered_bytes) this.#end("slow");
    else raw.write(text);
  }

  /** Pages are read no faster than they are taken. */
  async #drained(): Promise<void> {
    const { raw } = this.parts;
    if (this.#ended || raw.writableLength < PAGE_BYTES) return;
    await new Promise<void>((resolve) => {
      raw.once("drain", resolve);
      raw.once("close", resolve);
    });
  }

  async #recheck(): Promise<void> {
    const { service, authorization, principal } = this.parts;
    try {
      const now = await service.authenticator.authenticate(authorization);
      assertScope(now, "read", false);
      if (now.tenant_id !== principal.tenant_id) throw new Unauthenticated("another tenant's");
      this.#sees_keys = now.scopes.has("admin");
      this.#checked_at = performance.now();
    } catch (error) {
      if (error instanceof Unauthenticated || error instanceof Forbidden) this.#end("revoked");
      else if (performance.now() - this.#checked_at > UNCHECKED_MS) this.#end("unavailable");
    }
  }

  #end(reason: StreamedEnd["reason"]): void {
    if (this.#ended) return;
    this.#ended = true;
    const { raw } = this.parts;
    raw.end(`event: end\ndata: ${JSON.stringify({ reason, hint: hints[reason] })}\n\n`);
    // A caller who does not read does not read this either.
    const patience = setTimeout(() => raw.destroy(), FAREWELL_MS);
    raw.once("close", () => clearTimeout(patience));
    this.#letGo();
  }

  #close(): void {
    this.#ended = true;
    this.#letGo();
  }

  #letGo(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    this.#unfollow();
    this.parts.service.stopping.removeEventListener("abort", this.#onStop);
    this.leave();
  }
}

/** A kind is ours and never has one; a line break would forge an event. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, " ");
}
