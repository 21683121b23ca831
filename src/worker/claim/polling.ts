// When an idle worker looks for work: at its next poll, because a hint may be lost and the poll is not; and several times a
// second where no hints arrive (behind a pooler), but then only whether anything has come.
import { pollDelayMs } from "../../core/task/notify_payload.js";
import type { Registration } from "../life/registration.js";
import type { Fetcher } from "./fetch.js";

export interface PollingParts extends Registration {
  types: readonly string[];
  /** Whether hints arrive. */
  hears(): boolean;
}

export class Polling {
  private timer: NodeJS.Timeout | undefined;
  /** Where the next look begins, for one that hears no hints. */
  private seen = 0;
  private closed = false;

  constructor(
    private readonly parts: PollingParts,
    private readonly sleeper: Pick<Fetcher, "is_waiting" | "wake" | "hint">,
  ) {}

  /** Until the next poll, or until something is seen by one that hears nothing. */
  rest(until: number): void {
    const left_ms = until - performance.now();
    const look_ms = pollDelayMs(Math.random());
    if (this.parts.hears() || left_ms <= look_ms) this.after(Math.max(0, left_ms));
    else this.after(look_ms, () => void this.look(until));
  }

  after(ms: number, then: () => void = this.sleeper.wake): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(then, ms);
  }

  pause(): void {
    clearTimeout(this.timer);
  }

  close(): void {
    this.closed = true;
    this.pause();
  }

  private async look(until: number): Promise<void> {
    const { parts, sleeper } = this;
    // A claim finds out what the matter is when this fails.
    const found = await parts.commands.new_work(parts.db, { types: parts.types, after: this.seen }).catch(() => null);
    if (found !== null) this.seen = found.last;
    if (this.closed || !sleeper.is_waiting) return;
    if (found?.types.length === 0) this.rest(until);
    else if (found?.types.length === 1) sleeper.hint(found.types[0]!);
    else sleeper.wake();
  }
}
