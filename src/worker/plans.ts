// Where plans that are data are made: on a connection or two of their own, because a stage of ten million tasks takes a minute, and
// everybody's claims and finishes, and what handlers write, would wait behind it. Of one tenant one at a time, so that there is room for
// another's. Opened when there is one to make, and closed when there has been none for a while.
import type { Database } from "../engine/database.js";

export const PLANS_AT_ONCE = 2;
const KEPT_MS = 10_000;

export class Plans {
  private db: Database | undefined;
  private timer: NodeJS.Timeout | undefined;
  private under_way = 0;
  private readonly last = new Map<string, Promise<void>>();

  constructor(private readonly open: () => Database) {}

  async take<T>(tenant: string, work: (db: Database) => Promise<T>): Promise<T> {
    clearTimeout(this.timer);
    this.under_way++;
    const turn = (this.last.get(tenant) ?? Promise.resolve()).then(() => {
      this.db ??= this.open();
      return work(this.db);
    });
    const ended = turn.then(
      () => {},
      () => {},
    );
    this.last.set(tenant, ended);
    try {
      return await turn;
    } finally {
      if (this.last.get(tenant) === ended) this.last.delete(tenant);
      if (--this.under_way === 0) this.timer = setTimeout(() => void this.close(), KEPT_MS).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    const { db } = this;
    this.db = undefined;
    // The embedded database has one session, and that is the engine's to close.
    if (db?.kind === "server") await db.close();
  }
}
