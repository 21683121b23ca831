// Every statement ends. Postgres's own time limits never see a statement that did not arrive, and TCP goes on sending for a quarter
// of an hour, so a connection that owes an answer and is silent is asked about over a new one: the server knows whether it works on
// something there. If it does not, or nobody answers at all, the connection is lost. One coarse look at all connections of a pool
// is all that it costs while they talk.
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseError } from "./database.js";
import { NoAnswer } from "./server_errors.js";
import type { Lane } from "./server_lane.js";

const usual_tick_ms = 500;
/** So long may an answer take before the server is asked about it. */
const silence_ticks = 6;
/** What takes long is asked less and less often, but at least this often. */
const longest_ticks = 30;
/** How long that question may take, the new connection included. */
const probe_ticks = 8;
/** Until a new connection has a session, in all. */
const opening_ticks = 16;
/** So long may an answer be on its way that the server has sent: who was told of it has another client's statement since. */
const passing_ticks = 2;
/** What the server gives up by itself, in so many ticks more. */
const grace_ticks = 10;

export interface Watched {
  readonly lanes: ReadonlySet<Lane>;
  /** A connection beside the pool's own. */
  open(): Lane;
  /** When the server gives a statement up, by what it was told; 0 or undefined: never. */
  timeout_s: number | undefined;
  /** Those who have waited for a connection since then are refused. */
  refuseWaiting(since: number, error: DatabaseError): void;
  wait_s: number | undefined;
  /** Tests have less time. */
  tick_ms?: number | undefined;
}

export class Watch {
  ticks = 0;
  /** No server answers: a caller that asks for a connection is refused at once, until one does. */
  away: DatabaseError | null = null;
  private timer: NodeJS.Timeout | undefined;
  private ticked_at = 0;
  private is_asking = false;
  private closed = false;
  /** Sessions of lost connections, which the server is yet to end. */
  private left: string[] = [];

  private readonly tick_ms: number;

  constructor(private readonly pool: Watched) {
    this.tick_ms = pool.tick_ms ?? usual_tick_ms;
  }

  start(): void {
    if (this.timer !== undefined || this.closed) return;
    this.ticked_at = performance.now();
    this.timer = setInterval(() => this.tick(), this.tick_ms).unref();
  }

  /** For good. */
  close(): void {
    this.closed = true;
    this.stop();
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** It looks at nothing any more, though it should: a caller that waits would wait for ever. */
  get is_stuck(): boolean {
    return this.timer !== undefined && performance.now() - this.ticked_at > 20 * this.tick_ms;
  }

  /** Longer than a moment it has owed an answer: what is sent behind it would wait for the verdict as well. */
  isQuiet(lane: Lane): boolean {
    return lane.silence() >= 2;
  }

  /** A connection could not be opened, because nobody answered. */
  unanswered(error: NoAnswer): void {
    if (!this.isHeard(this.ticks - silence_ticks)) this.giveUp(error);
  }

  private isHeard(since: number): boolean {
    for (const lane of this.pool.lanes) if (lane.heard_at >= since) return true;
    return false;
  }

  private tick(): void {
    const { pool } = this;
    this.ticks++;
    this.ticked_at = performance.now();
    const limit = pool.timeout_s ? this.ticksOf(pool.timeout_s) + grace_ticks : Number.POSITIVE_INFINITY;
    const silent: Lane[] = [];
    for (const lane of pool.lanes) {
      const silence = lane.silence();
      if (lane.opening() >= opening_ticks) lane.lose(new NoAnswer("the server did not answer in time"));
      else if (silence >= limit) this.lose(lane, "no answer came within the time that the server may take");
      else if (silence >= Math.min(silence_ticks * 2 ** lane.asked_about, longest_ticks)) silent.push(lane);
      if (limit !== Number.POSITIVE_INFINITY) lane.refuseBehind(this.ticks - limit);
    }
    if (pool.wait_s !== undefined) {
      const words = `no connection to the database became free within ${pool.wait_s} s`;
      pool.refuseWaiting(this.ticks - this.ticksOf(pool.wait_s), new DatabaseError("53000", words));
    }
    if (silent.length > 0 || this.away !== null || this.left.length > 0) void this.ask(silent);
    else if (pool.lanes.size === 0) this.stop();
  }

  /** The session that it leaves behind may hold locks, and learns of its end from nobody. */
  private lose(lane: Lane, why: string): void {
    if (lane.accounted && lane.session !== null) this.left.push(lane.session);
    lane.lose(new DatabaseError("08006", `the connection to the database fell silent: ${why}`));
  }

  private ticksOf(seconds: number): number {
    return Math.ceil((seconds * 1000) / this.tick_ms);
  }

  private async ask(silent: readonly Lane[]): Promise<void> {
    if (this.is_asking) return;
    this.is_asking = true;
    const since = this.ticks;
    try {
      for (const lane of silent) lane.asked_about++;
      const doing = await probe(this.pool.open(), silent, this.left, probe_ticks * this.tick_ms);
      this.away = null;
      this.left = [];
      // A pooler lends a session to the next as soon as it is free, and what it did for us is no longer to be seen there.
      if (silent.some((lane) => lane.pooled && !doing.has(lane.session))) await sleep(passing_ticks * this.tick_ms);
      for (const lane of silent) {
        // It may have been answered meanwhile, and something else been sent.
        if (lane.lost || !lane.accounted || lane.silence() < silence_ticks) continue;
        const what = doing.get(lane.session);
        if (what === "unknown") continue;
        // What the server is about to send us is on its way only if some of it arrives.
        if (what === "works" || (what === "sends" && lane.heard_at >= since)) lane.vouch();
        else this.lose(lane, "the server waits for us, as we do for it");
      }
    } catch (error) {
      // A server that is full, or starts, is there; where others are answered, it is only the way to it that is not.
      const is_there = !(error instanceof DatabaseError) || !error.code.startsWith("08") || this.isHeard(since);
      if (!is_there) this.giveUp(error, silent);
    } finally {
      this.is_asking = false;
    }
  }

  private giveUp(error: DatabaseError, silent: readonly Lane[] = []): void {
    this.away = new NoAnswer(`the database does not answer (${error.message})`);
    for (const lane of silent) {
      if (lane.silence() >= silence_ticks) this.lose(lane, "the database does not answer");
    }
    this.pool.refuseWaiting(this.ticks, this.away);
    this.start();
  }
}

/** Unknown: the server keeps no account of it, or does not tell this role. */
type Doing = "works" | "sends" | "unknown";

/** What the sessions of silent connections do, those that do nothing left out. What was left behind is ended. */
async function probe(
  lane: Lane,
  silent: readonly Lane[],
  left: readonly string[],
  ms: number,
): Promise<ReadonlyMap<string | null, Doing>> {
  const timer = setTimeout(() => lane.lose(new NoAnswer(`no answer within ${ms / 1000} s`)), ms);
  try {
    const sessions = silent.map(({ session }) => session);
    const [row] = await lane.statement(session_states, [JSON.stringify(sessions), JSON.stringify(left)]);
    const { doing, tells } = row as { doing: Record<string, Doing>; tells: boolean };
    return new Map(tells ? Object.entries(doing) : sessions.map((session) => [session, "unknown"]));
  } finally {
    clearTimeout(timer);
    void lane.end(1);
  }
}

/**
 * One that has just become idle may have sent an answer that is on its way. One that reads has got the first half of a statement. One
 * that a pooler lends is ours while it does something for us; idle, it may be another's in a moment.
 */
const session_states = `
  with sessions as (
    select pid, name, is_lent, coalesce(state, '') as state, state_change, wait_event
      from pg_stat_activity,
           lateral (values (pid || ' ' || extract(epoch from backend_start), false),
                           (substring(query from '^/[*]([0-9a-f]{16})[*]/'), true)) as names (name, is_lent)
  )
  select (select coalesce(json_object_agg(name, case
                   when state in ('', 'disabled') then 'unknown'
                   when wait_event = 'ClientWrite' then 'sends'
                   else 'works'
                 end), '{}')
            from sessions
           where name in (select json_array_elements_text($1::text::json))
             and not (state like 'idle%' and clock_timestamp() - state_change > interval '1 second')
             and not (state = 'active' and wait_event is not distinct from 'ClientRead')) as doing,
         (select count(pg_terminate_backend(pid))
            from sessions
           where name in (select json_array_elements_text($2::text::json))
             and not (is_lent and state = 'idle')) as ended,
         current_setting('track_activities')::boolean as tells`;
