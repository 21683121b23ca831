// One event stream for all tabs of a browser. It is read while at least one tab can be seen and nobody paused it; what is told
// goes to the tabs in batches, at most four a second. After a pause it goes on where it was, so that nothing is missed.

import { EventReader } from "../../../src/client/sse.js";
import type { StreamedEvent, StreamedProgress } from "../../../src/core/api/stream.js";

/** The last two end it: nobody is signed in, or who is may not read. */
export type LiveState = "connecting" | "live" | "stale" | "paused" | "signed_out" | "forbidden";
type Refused = Extract<LiveState, "signed_out" | "forbidden">;
export type StageCounts = StreamedProgress["stages"][number];

export type FromHub =
  | { type: "state"; state: LiveState; since: number }
  | { type: "batch"; events: StreamedEvent[]; stages: StageCounts[] };
export type ToHub = { type: "visible"; visible: boolean } | { type: "pause"; paused: boolean } | { type: "leave" };

const BATCH_MS = 250;
/** The server sends a sign of life every 15 s. */
const SILENT_MS = 40_000;
const LONGEST_PAUSE_MS = 15_000;
/** A tab that is hidden for a moment only, such as one that is being reloaded, ends nothing. */
const HIDDEN_MS = 3_000;

export class Hub {
  readonly #tabs = new Map<(message: FromHub) => void, boolean>();
  #paused = false;
  #state: LiveState = "connecting";
  #since = Date.now();
  #last_id = "";
  #open: AbortController | null = null;
  #events: StreamedEvent[] = [];
  #stages = new Map<number, StageCounts>();
  #batch: ReturnType<typeof setTimeout> | null = null;
  #hide: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly url: string) {}

  join(tell: (message: FromHub) => void): (message: ToHub) => void {
    this.#tabs.set(tell, true);
    // The page that comes has signed in again, or looks whether the key may now.
    if (this.#isRefused()) this.#become("connecting");
    tell({ type: "state", state: this.#state, since: this.#since });
    this.#settle();
    return (message) => {
      if (message.type === "leave") this.#tabs.delete(tell);
      else if (message.type === "visible") this.#tabs.set(tell, message.visible);
      else this.#paused = message.paused;
      this.#settle();
    };
  }

  #settle(): void {
    const is_seen = [...this.#tabs.values()].some(Boolean);
    if (this.#hide !== null) clearTimeout(this.#hide);
    this.#hide = null;
    if (this.#isRefused()) return;
    if (this.#paused) this.#close();
    else if (is_seen) this.#open ?? void this.#read();
    else if (this.#open !== null) this.#hide = setTimeout(() => this.#close(), HIDDEN_MS);
  }

  #isRefused(): boolean {
    return this.#state === "signed_out" || this.#state === "forbidden";
  }

  #close(): void {
    this.#open?.abort();
    this.#open = null;
    this.#become("paused");
  }

  async #read(): Promise<void> {
    const open = new AbortController();
    this.#open = open;
    for (let failures = 0; !open.signal.aborted; failures++) {
      if (failures > 0) await pause(Math.min(500 * 2 ** failures, LONGEST_PAUSE_MS), open.signal);
      if (open.signal.aborted) return;
      if (this.#state !== "stale") this.#become("connecting");
      try {
        const heard = await this.#connection(open.signal);
        if (typeof heard === "string") {
          this.#open = null;
          this.#become(heard);
          return;
        }
        if (heard) failures = 0;
      } catch {
        // Told by what follows: not live, and tried again.
      }
      if (!open.signal.aborted) this.#become("stale");
    }
  }

  /** Resolves when the connection is over, with whether anything was heard. */
  async #connection(signal: AbortSignal): Promise<boolean | Refused> {
    const silent = new AbortController();
    let alarm = setTimeout(() => silent.abort(), SILENT_MS);
    try {
      const response = await fetch(this.url, {
        headers: { "x-fanfold-request": "1", ...(this.#last_id === "" ? {} : { "last-event-id": this.#last_id }) },
        credentials: "same-origin",
        cache: "no-store",
        signal: AbortSignal.any([signal, silent.signal]),
      });
      if (response.status === 401) return "signed_out";
      if (response.status === 403) return "forbidden";
      // A position that the server no longer knows: from now on.
      if (response.status === 400) this.#last_id = "";
      if (!response.ok || response.body === null) return false;
      const reader = new EventReader();
      const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await pieces.read();
        if (done) return true;
        clearTimeout(alarm);
        alarm = setTimeout(() => silent.abort(), SILENT_MS);
        this.#become("live");
        for (const { event, data, id } of reader.push(value)) {
          if (id !== "") this.#last_id = id;
          this.#hear(event, data);
        }
      }
    } finally {
      clearTimeout(alarm);
    }
  }

  #hear(kind: string, data: string): void {
    if (kind === "ready" || kind === "end") return;
    const told: unknown = JSON.parse(data);
    if (kind === "progress")
      for (const stage of (told as StreamedProgress).stages) this.#stages.set(stage.stage_id, stage);
    else this.#events.push(told as StreamedEvent);
    this.#batch ??= setTimeout(() => {
      this.#batch = null;
      this.#tell({ type: "batch", events: this.#events, stages: [...this.#stages.values()] });
      this.#events = [];
      this.#stages.clear();
    }, BATCH_MS);
  }

  #become(state: LiveState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#since = Date.now();
    this.#tell({ type: "state", state, since: this.#since });
  }

  #tell(message: FromHub): void {
    for (const tell of this.#tabs.keys()) tell(message);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
