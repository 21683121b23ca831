// The one reader of events in a server, for all who follow them: it asks for the tenants that somebody follows, only while
// somebody does, and hands each event to the followers of its tenant.
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../../engine/database/database.js";
import {
  type FollowedEvent,
  followEvents,
  runningProgress,
  type Span,
  type StageProgress,
} from "../../engine/verbs/events.js";
import { EventGaps, type EventGapTimes, positionText } from "./event_gaps.js";

export interface Follower {
  tenant_id: string;
  /** `position`: where the follower stands when it has been told. */
  onEvent(event: FollowedEvent, position: string): void;
  /** Stages whose numbers changed; for a new follower all that run. */
  onProgress(stages: StageProgress[]): void;
}

export interface FeedOptions extends EventGapTimes {
  period_ms?: number;
}

const PAGE = 1_000;
const LATEST = 100;
const PROGRESS_MS = 250;
const MOST_STAGES = 1_000;

export class EventFeed {
  readonly #followers = new Set<Follower>();
  readonly #new = new Set<Follower>();
  readonly #stages = new Map<number, { record: StageProgress; text: string }>();
  #gaps: EventGaps;
  #head: number | null = null;
  #beginning: Promise<void> | null = null;
  #running: Promise<void> | null = null;
  #progress_at = 0;
  #stopped = new AbortController();

  constructor(
    private readonly db: Database,
    private readonly log: Logger,
    private readonly options: FeedOptions = {},
  ) {
    this.#gaps = new EventGaps(options);
  }

  /** From now on the follower is told of all that becomes visible. Resolves with where it stands. */
  async follow(follower: Follower): Promise<{ head: number; gaps: Span[]; leave(): void }> {
    this.#followers.add(follower);
    this.#new.add(follower);
    const leave = () => {
      this.#followers.delete(follower);
      this.#new.delete(follower);
    };
    try {
      if (this.#head === null) {
        this.#beginning ??= this.#begin().finally(() => {
          this.#beginning = null;
        });
        await this.#beginning;
      }
      this.#running ??= this.#run().finally(() => {
        this.#running = null;
      });
      return { head: this.#head ?? 0, gaps: this.#gaps.spans, leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  get is_running(): boolean {
    return this.#running !== null;
  }

  /** Where a reader who has seen all up to this event stands. */
  positionAt(event_id: number): string {
    return positionText(Math.min(event_id, this.#head ?? event_id), this.#gaps.spans);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #begin(): Promise<void> {
    const begun = await followEvents(this.db, { after: null, watched: [], tenants: [], most: PAGE });
    const { last, xmin, xmax } = begun;
    // With no transaction under way, what is missing was rolled back; only the latest may have been taken this very moment.
    const missing = begun.missing.filter(([, to]) => xmin < xmax || to > last - LATEST);
    this.#gaps = new EventGaps(this.options);
    this.#gaps.add(missing, xmax, performance.now());
    this.#head = last;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    let failures = 0;
    while (this.#followers.size > 0 && !signal.aborted) {
      let more = false;
      try {
        more = await this.#look();
        if (performance.now() - this.#progress_at >= PROGRESS_MS) await this.#lookAtProgress();
        failures = 0;
      } catch (error) {
        failures++;
        if (!signal.aborted) this.log.warn({ err: error, failures }, "events could not be read, trying again");
      }
      const pause_ms = more ? 0 : (this.options.period_ms ?? 250) * Math.min(1 + failures, 20);
      await sleep(pause_ms, undefined, { signal }).catch(() => {});
    }
    // The next reader begins where events are then.
    if (this.#followers.size === 0) {
      this.#head = null;
      this.#stages.clear();
    }
  }

  async #look(): Promise<boolean> {
    const before = this.#head ?? 0;
    const tenants = this.#tenants();
    const watched = this.#gaps.spans;
    const reply = await followEvents(this.db, { after: before, watched, tenants, most: PAGE });
    const now = performance.now();
    this.#gaps.fill(reply.found);
    this.#gaps.giveUp(reply.xmin, now);
    this.#gaps.add(reply.missing, reply.xmax, now);
    this.#head = reply.last;
    const gaps = this.#gaps.spans;
    for (const event of reply.events) {
      // Events that came late and are not sent yet are still missing for a reader who is cut off in between.
      const untold = reply.found
        .filter((number) => number > event.event_id)
        .map((number) => [number, number + 1] as const);
      const position =
        event.event_id <= before
          ? positionText(
              before,
              [...gaps, ...untold].sort((a, b) => a[0] - b[0]),
            )
          : positionText(event.event_id, gaps);
      for (const follower of this.#followers) {
        if (follower.tenant_id === event.tenant_id) follower.onEvent(event, position);
      }
    }
    return reply.more;
  }

  async #lookAtProgress(): Promise<void> {
    this.#progress_at = performance.now();
    const known = [...this.#stages.keys()];
    const found = await runningProgress(this.db, { tenants: this.#tenants(), known, most: MOST_STAGES });
    const changed: StageProgress[] = [];
    for (const record of found) {
      const text = JSON.stringify(record);
      if (this.#stages.get(record.stage_id)?.text === text) continue;
      changed.push(record);
      this.#stages.set(record.stage_id, { record, text });
    }
    const all = Array.from(this.#stages.values(), ({ record }) => record);
    for (const follower of [...this.#followers]) {
      const is_new = this.#new.delete(follower);
      const own = (is_new ? all : changed).filter(({ tenant_id }) => tenant_id === follower.tenant_id);
      if (own.length > 0) follower.onProgress(own);
    }
    const there = new Set(found.map(({ stage_id }) => stage_id));
    for (const [stage_id, { record }] of this.#stages) {
      const rests = record.processing === 0 && record.status !== "processing";
      if (rests || !there.has(stage_id)) this.#stages.delete(stage_id);
    }
    // Many stages may be open and waiting: those nobody works on are told again when somebody does.
    for (const [stage_id, { record }] of this.#stages) {
      if (this.#stages.size <= MOST_STAGES / 2) break;
      if (record.processing === 0) this.#stages.delete(stage_id);
    }
  }

  #tenants(): string[] {
    return [...new Set(Array.from(this.#followers, ({ tenant_id }) => tenant_id))];
  }
}
