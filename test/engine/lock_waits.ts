// A test that holds a transaction open goes on when somebody waits for it.
import type { Queryable } from "../../src/engine/database/database.js";

/**
 * Until so many sessions of this database wait for a lock, or it is over: either way they got as far as they can. They are counted and
 * not named, because behind a pooler any session may serve a connection.
 */
export async function untilWaiting(db: Queryable, sessions = 1, isOver: () => boolean = () => false): Promise<void> {
  while (!isOver()) {
    const waiting = await db.sql`
      select from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'`;
    if (waiting.length >= sessions) return;
    // It may need the processor.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
