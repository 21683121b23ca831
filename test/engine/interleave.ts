// Lets verbs meet. The first has done its work and not committed; the second starts, and ends or waits for a lock; the first
// commits. Every pair in both orders, so that no verb is only ever first.

import { afterAll, beforeAll } from "vitest";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { emptyDatabase } from "../lent_databases.js";
import { type FreshDatabase, freshDatabase } from "../postgres.js";
import { untilWaiting } from "./lock_waits.js";

export type Verb<Scene> = (db: Queryable, scene: Scene) => Promise<unknown>;

/** Being told no is a fine answer; a deadlock or a broken invariant is not. */
const told_no = ["FF001", "FF003", "FF006", "FF007"];

/** A database of the block's own and two sessions that meet in it, for as long as the block's tests run. */
export function twoSessions(): TwoSessions {
  const sessions = new TwoSessions();
  beforeAll(() => sessions.open());
  afterAll(() => sessions.close());
  return sessions;
}

class TwoSessions {
  db!: Database;
  first!: Database;
  second!: Database;
  private fresh!: FreshDatabase;

  async open(): Promise<void> {
    this.fresh = await freshDatabase();
    this.db = this.fresh.db;
    this.first = openServer(this.fresh.url);
    this.second = openServer(this.fresh.url);
  }

  async close(): Promise<void> {
    await this.first.close();
    await this.second.close();
    await this.fresh.drop();
  }

  async clear(): Promise<void> {
    await emptyDatabase(this.db);
  }

  async meet<Scene>(scene: Scene, a: [string, Verb<Scene>], b: [string, Verb<Scene>]): Promise<void> {
    let done = false;
    let other: Promise<unknown> = Promise.resolve();
    await this.first.transaction(async (tx) => {
      await tx.script("savepoint first");
      await a[1](tx, scene).catch(async (error: { code?: string }) => {
        if (!told_no.includes(error.code ?? "")) throw new Error(`${a[0]}, first of all: ${String(error)}`);
        await tx.script("rollback to savepoint first");
      });
      other = this.second
        .transaction((late) => b[1](late, scene))
        .catch((error: { code?: string }) => {
          if (!told_no.includes(error.code ?? "")) throw new Error(`${a[0]} then ${b[0]}: ${String(error)}`);
        })
        .finally(() => {
          done = true;
        });
      other.catch(() => {});
      await untilWaiting(this.db, 1, () => done);
    });
    await other;
  }

  /** The second begins when the first has done its work, and goes on when that has committed. Replies, or errors, of both. */
  async both<A, B>(first: (db: Queryable) => Promise<A>, second: (db: Queryable) => Promise<B>): Promise<[A, B]> {
    let ended = false;
    let other!: Promise<B>;
    const mine = await this.first.transaction(async (tx) => {
      const reply = await first(tx);
      other = this.second
        .transaction((late) => second(late))
        .finally(() => {
          ended = true;
        });
      other.catch(() => {});
      await untilWaiting(this.db, 1, () => ended);
      return reply;
    });
    return [mine, await other];
  }
}
