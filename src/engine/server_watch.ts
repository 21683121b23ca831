// Every statement ends. Postgres's own time limits never see a statement that did not arrive, and TCP goes on sending for a quarter
// of an hour, so a connection that owes an answer and is silent is asked about over a new one: the server knows whether it works on
// something there. If it does not, or nobody answers at all, the connection is lost. One coarse look at all connections of a pool
// is all that it costs while they talk.
import { DatabaseError } from "./database.js";
import { NoAnswer } from "./server_errors.js";
import type { Lane } from "./server_lane.js";

const usual_tick_ms = 500;
/** So long may an answer take before the server is asked about it. */
const silence_ticks = 6;
/** Of what takes long it is asked less and less often, but at least this often. */
const longest_ticks = 30;
/** How long that question may take, the new connection included. */
const probe_ticks = 8;
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
  /** Nobody answers: whoever asks for a connection is told at once, until somebody does. */
  away: DatabaseError | null = null;
  private timer: NodeJS.Timeout | undefined;
  private ticked_at = 0;
  private is_asking = false;

  private readonly tick_ms: number;

  constructor(private readonly pool: Watched) {
    this.tick_ms = pool.tick_ms ?? usual_tick_ms;
  }

  start(): void {
    if (this.timer !== undefined) return;
    this.ticked_at = performance.now();
    this.timer = setInterval(() => this.tick(), this.tick_ms).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.away = null;
  }

  /** It looks at nothing any more, though it should: whoever waits would wait for ever. */
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
      if (silence >= limit) lane.lose(lostBy("no answer came within the time that the server may take"));
      else if (silence >= Math.min(silence_ticks * 2 ** lane.asked_about, longest_ticks)) silent.push(lane);
      if (limit !== Number.POSITIVE_INFINITY) lane.refuseBehind(this.ticks - limit);
    }
    if (pool.wait_s !== undefined) {
      const words = `no connection to the database became free within ${pool.wait_s} s`;
      pool.refuseWaiting(this.ticks - this.ticksOf(pool.wait_s), new DatabaseError("53000", words));
    }
    if (silent.length > 0 || this.away !== null) void this.ask(silent);
    else if (pool.lanes.size === 0) this.stop();
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
      const working = await probe(this.pool.open(), silent, probe_ticks * this.tick_ms);
      this.away = null;
      for (const lane of silent) {
        // It may have been answered meanwhile, and something else been sent. Of what a pooler gives out nobody can tell.
        if (lane.lost || lane.pooled || lane.silence() < silence_ticks) continue;
        if (working.has(lane.pid)) lane.vouch();
        else lane.lose(lostBy("the server waits for a statement that was sent"));
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
      if (lane.silence() >= silence_ticks) lane.lose(lostBy("the database does not answer"));
    }
    this.pool.refuseWaiting(this.ticks, this.away);
    this.start();
  }
}

function lostBy(why: string): DatabaseError {
  return new DatabaseError("08006", `the connection to the database fell silent: ${why}`);
}

/** Those of their sessions that have something to do. */
async function probe(lane: Lane, silent: readonly Lane[], ms: number): Promise<ReadonlySet<number | null>> {
  const timer = setTimeout(() => lane.lose(new NoAnswer(`no answer within ${ms / 1000} s`)), ms);
  try {
    const [row] = await lane.statement(working_sessions, [`{${silent.map(({ pid }) => pid).join(",")}}`]);
    return new Set((row as { working: number[] }).working);
  } finally {
    clearTimeout(timer);
    void lane.end(1);
  }
}

/** One that has just become idle may have sent an answer that is on its way; what may not be seen is taken to be at work. */
const working_sessions = `
  select coalesce(json_agg(pid), '[]') as working
    from pg_stat_activity
   where pid = any ($1::text::integer[])
     and not (coalesce(state, '') like 'idle%' and clock_timestamp() - state_change > interval '1 second')`;
