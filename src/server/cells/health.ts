// Which servers of a cell answer: asked every two seconds, and noted when a call finds one away. Calls go to those that are ready, in turn; where none is
// said to be, all are tried.
import type { Logger } from "pino";

const ROUND_MS = 2_000;
const PATIENCE_MS = 1_500;

export class CellServers {
  readonly #servers: { url: URL; ready: boolean | null; why: string | null }[];
  #turn = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Calls that were passed on and have not ended. */
  under_way = 0;
  /** The same of each tenant; null: of callers without a credential. */
  readonly under_way_of = new Map<string | null, number>();

  constructor(
    readonly name: string,
    urls: readonly string[],
    private readonly log: Logger,
  ) {
    this.#servers = urls.map((url) => ({ url: new URL(url), ready: null, why: null }));
  }

  get ready(): boolean {
    return this.#servers.some((one) => one.ready === true);
  }

  get state() {
    return this.#servers.map(({ url, ready, why }) => ({ url: url.href, ready: ready === true, why }));
  }

  start(): void {
    const round = async () => {
      await this.look();
      if (this.#timer !== null) this.#timer = setTimeout(round, ROUND_MS);
    };
    this.#timer = setTimeout(round, 0);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async look(): Promise<void> {
    await Promise.all(
      this.#servers.map(async ({ url }) => {
        try {
          const place = new URL(`${url.pathname.replace(/\/$/, "")}/api/health/ready`, url);
          const { ok, status, body } = await fetch(place, { signal: AbortSignal.timeout(PATIENCE_MS) });
          await body?.cancel();
          this.note(url, ok, ok ? null : `answers ${status}`);
        } catch (error) {
          const cause = (error as { cause?: { code?: string } }).cause?.code;
          this.note(url, false, cause ?? (error as Error).message);
        }
      }),
    );
  }

  note(url: URL, ready: boolean, why: string | null = "does not answer"): void {
    const found = this.#servers.find((one) => one.url === url);
    if (found === undefined) return;
    if (found.ready !== ready && (found.ready !== null || !ready))
      this.log[ready ? "info" : "warn"]({ cell: this.name, url: url.href, why }, ready ? "answers again" : "is away");
    found.ready = ready;
    found.why = ready ? null : why;
  }

  /** Those that are ready before all others, a different one first each time. */
  inTurn(): URL[] {
    const from = this.#turn++ % this.#servers.length;
    const turned = [...this.#servers.slice(from), ...this.#servers.slice(0, from)];
    return [...turned.filter((one) => one.ready !== false), ...turned.filter((one) => one.ready === false)].map(
      ({ url }) => url,
    );
  }
}
