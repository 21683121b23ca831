// LISTEN on a server: one connection for all channels of a pool, opened at the first and closed after the last. After a
// connection loss it connects and listens again until it is stopped; what was notified in between is gone, so each
// listener is told when it listens again and may look for itself. Nothing is ever sent on a connection that only listens,
// so a loss that nobody told us of would stay unnoticed: every few seconds it is asked for an answer.
// Behind a pooler LISTEN may succeed and nothing ever arrive, so each connection is tried with a NOTIFY to oneself. One that is
// deaf is closed, and tried again later: listeners are told by `hears` to look for themselves meanwhile.
import { randomUUID } from "node:crypto";
import { closedError, DatabaseError, type Listening, quoteName } from "./database.js";
import type { Lane } from "./server_lane.js";

interface Listener {
  channel: string;
  on_message: (payload: string) => void;
  on_listening: (() => void) | undefined;
}

/** Whether a NOTIFY on this channel arrived at one lane. */
interface Proof {
  channel: string;
  heard(): void;
  hears: Promise<boolean>;
}

export interface Ear {
  open(on_lost: (lane: Lane) => void, on_notify: (channel: string, payload: string) => void): Lane;
  /** On another connection: on its own, a deaf one would hear itself. */
  notify(channel: string): Promise<void>;
  heard(hears: boolean): void;
}

const first_wait_ms = 100;
const longest_wait_ms = 5_000;
const check_ms = 5_000;
/** How long its own NOTIFY may take; behind a pooler the likely answer is none, and a worker's start waits for it. */
const proof_ms = { direct: 5_000, pooled: 300 };
const first_deaf_ms = 5_000;
const longest_deaf_ms = 600_000;

export class ServerListener {
  private readonly listeners = new Set<Listener>();
  private lane: Lane | null = null;
  private timer: NodeJS.Timeout | null = null;
  private check_timer: NodeJS.Timeout | undefined;
  private wait_ms = first_wait_ms;
  private deaf_ms = first_deaf_ms;
  private proof: Proof | null = null;
  private proven: Lane | null = null;
  private closed = false;

  constructor(private readonly ear: Ear) {}

  async listen(channel: string, on_message: (payload: string) => void, on_listening?: () => void): Promise<Listening> {
    const listener: Listener = { channel, on_message, on_listening };
    if (this.closed) throw closedError();
    this.listeners.add(listener);
    try {
      // Known to be deaf, and not yet to be tried again.
      if (this.timer === null && (await this.listenOn(this.currentLane(), [channel]))) this.tell(listener);
    } catch (error) {
      await this.forget(listener);
      throw error;
    }
    const hears = () => this.proven !== null && this.listeners.has(listener);
    return {
      get hears() {
        return hears();
      },
      stop: () => this.forget(listener),
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    this.listeners.clear();
    await this.hangUp();
  }

  private currentLane(): Lane {
    if (this.lane === null) {
      const lane = this.ear.open(
        (lost) => this.onLost(lost),
        (channel, payload) => this.onNotify(channel, payload),
      );
      this.lane = lane;
      this.checkLater(lane);
    }
    return this.lane;
  }

  private checkLater(lane: Lane): void {
    clearTimeout(this.check_timer);
    this.check_timer = setTimeout(() => void this.check(lane), check_ms);
  }

  /** An answer that takes as long as the time between two checks is taken for none. */
  private async check(lane: Lane): Promise<void> {
    const silence = new DatabaseError("08006", "the connection for LISTEN no longer answers");
    const timer = setTimeout(() => lane.lose(silence), check_ms);
    // A refusal is an answer; a lost lane has come back through onLost.
    await lane.script("select 1").catch(() => {});
    clearTimeout(timer);
    if (this.lane === lane && !lane.lost) this.checkLater(lane);
  }

  /** False: nothing would arrive. The lane is then closed. */
  private async listenOn(lane: Lane, channels: Iterable<string>): Promise<boolean> {
    if (this.proven !== lane) {
      this.proof ??= this.prove(lane);
      if (!(await this.proof.hears)) {
        this.deafOn(lane);
        return false;
      }
      this.proven = lane;
    }
    for (const channel of channels) await lane.script(`listen ${quoteName(channel)}`);
    return true;
  }

  private prove(lane: Lane): Proof {
    const channel = `fanfold_${randomUUID()}`;
    let heard = () => {};
    const arrived = new Promise<true>((resolve) => {
      heard = () => resolve(true);
    });
    const hears = async () => {
      await lane.script(`listen ${quoteName(channel)}`);
      await this.ear.notify(channel);
      let timer: NodeJS.Timeout | undefined;
      const silence = new Promise<false>((resolve) => {
        timer = setTimeout(resolve, lane.pooled ? proof_ms.pooled : proof_ms.direct, false);
      });
      const result = await Promise.race([arrived, silence]).finally(() => clearTimeout(timer));
      await lane.script(`unlisten ${quoteName(channel)}`);
      this.ear.heard(result);
      return result;
    };
    const known = lane.orLost(hears()).catch((error) => {
      lane.lose(error);
      throw error;
    });
    return { channel, heard, hears: known };
  }

  private deafOn(lane: Lane): void {
    if (this.lane !== lane) return;
    this.forgetLane();
    void lane.end(1);
    this.tryAfter(this.deaf_ms);
    this.deaf_ms = Math.min(this.deaf_ms * 2, longest_deaf_ms);
  }

  private onNotify(channel: string, payload: string): void {
    if (channel === this.proof?.channel) this.proof.heard();
    for (const listener of this.listeners) {
      // Not from within the driver: what a listener throws must not look like a broken connection.
      if (listener.channel === channel)
        queueMicrotask(() => this.listeners.has(listener) && listener.on_message(payload));
    }
  }

  private tell(listener: Listener): void {
    const { on_listening } = listener;
    if (on_listening) queueMicrotask(() => this.listeners.has(listener) && on_listening());
  }

  private onLost(lost: Lane): void {
    if (lost !== this.lane) return;
    this.forgetLane();
    this.tryAfter(this.wait_ms);
    this.wait_ms = Math.min(this.wait_ms * 2, longest_wait_ms);
  }

  private forgetLane(): void {
    this.lane = null;
    this.proof = null;
    this.proven = null;
    clearTimeout(this.check_timer);
  }

  private tryAfter(ms: number): void {
    if (this.listeners.size === 0 || this.timer) return;
    this.timer = setTimeout(() => void this.listenAgain(), ms * (0.5 + Math.random() / 2));
  }

  private async listenAgain(): Promise<void> {
    this.timer = null;
    if (this.listeners.size === 0) return;
    const lane = this.currentLane();
    const again = [...this.listeners];
    try {
      if (!(await this.listenOn(lane, new Set(again.map((listener) => listener.channel))))) return;
      this.wait_ms = first_wait_ms;
      this.deaf_ms = first_deaf_ms;
      for (const listener of again) this.tell(listener);
    } catch (error) {
      // A lost lane has come back through onLost; any other refusal is met by asking again on a new one.
      lane.lose(error instanceof DatabaseError ? error : new DatabaseError("08006", String(error)));
    }
  }

  private async forget(listener: Listener): Promise<void> {
    if (!this.listeners.delete(listener)) return;
    if (this.listeners.size === 0) return this.hangUp();
    const { channel } = listener;
    if ([...this.listeners].some((other) => other.channel === channel)) return;
    // A connection lost meanwhile listens to nothing.
    await this.lane?.script(`unlisten ${quoteName(channel)}`).catch(() => {});
  }

  private async hangUp(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const { lane } = this;
    this.forgetLane();
    await lane?.end(1);
  }
}
