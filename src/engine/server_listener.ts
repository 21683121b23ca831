// LISTEN on a server: one connection for all channels of a pool, opened at the first and closed after the last. After a
// connection loss it connects and listens again until it is stopped; what was notified in between is gone, so each
// listener is told when it listens again and may look for itself. Nothing is ever sent on a connection that only listens,
// so a loss that nobody told us of would stay unnoticed: every few seconds it is asked for an answer.
import { closedError, DatabaseError, quoteName, type Stoppable } from "./database.js";
import type { Lane } from "./server_lane.js";

interface Listener {
  channel: string;
  on_message: (payload: string) => void;
  on_listening: (() => void) | undefined;
}

type OpenLane = (on_lost: () => void, on_notify: (channel: string, payload: string) => void) => Lane;

const first_wait_ms = 100;
const longest_wait_ms = 5_000;
const check_ms = 5_000;

export class ServerListener {
  private readonly listeners = new Set<Listener>();
  private lane: Lane | null = null;
  private timer: NodeJS.Timeout | null = null;
  private check_timer: NodeJS.Timeout | undefined;
  private wait_ms = first_wait_ms;
  private closed = false;

  constructor(private readonly open: OpenLane) {}

  async listen(channel: string, on_message: (payload: string) => void, on_listening?: () => void): Promise<Stoppable> {
    const listener: Listener = { channel, on_message, on_listening };
    if (this.closed) throw closedError();
    this.listeners.add(listener);
    try {
      await this.listenOn(this.currentLane(), channel);
    } catch (error) {
      await this.forget(listener);
      throw error;
    }
    this.tell(listener);
    return { stop: () => this.forget(listener) };
  }

  async close(): Promise<void> {
    this.closed = true;
    this.listeners.clear();
    await this.hangUp();
  }

  private currentLane(): Lane {
    if (this.lane === null) {
      const lane = this.open(
        () => this.onLost(),
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

  private async listenOn(lane: Lane, channel: string): Promise<void> {
    await lane.script(`listen ${quoteName(channel)}`);
  }

  private onNotify(channel: string, payload: string): void {
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

  private onLost(): void {
    this.lane = null;
    clearTimeout(this.check_timer);
    if (this.listeners.size === 0 || this.timer) return;
    this.timer = setTimeout(() => void this.listenAgain(), this.wait_ms * (0.5 + Math.random() / 2));
    this.wait_ms = Math.min(this.wait_ms * 2, longest_wait_ms);
  }

  private async listenAgain(): Promise<void> {
    this.timer = null;
    if (this.listeners.size === 0) return;
    const lane = this.currentLane();
    const again = [...this.listeners];
    try {
      for (const channel of new Set(again.map((listener) => listener.channel))) await this.listenOn(lane, channel);
      this.wait_ms = first_wait_ms;
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
    clearTimeout(this.check_timer);
    const { lane } = this;
    this.lane = null;
    await lane?.end(1);
  }
}
