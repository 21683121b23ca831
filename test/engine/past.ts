// For tests of what is told about stuck things: rows are moved into the past, and heartbeats say what the test wants said.

import type { Store } from "../../src/core/places/store.js";
import type { Database } from "../../src/engine/database/database.js";
import { Operator } from "../../src/engine/verbs/operator.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import type { Held } from "./floor.js";

function operatorOn(db: Database): Operator {
  const refuse = () => Promise.reject(new Error("no storage in this test"));
  return new Operator(db, "default", {
    put: refuse,
    putStream: refuse,
    get: refuse,
    remove: refuse,
  } as unknown as Store);
}

export const idOf = ({ stage_id, ordinal }: Held) => `${stage_id}-${ordinal}`;

/** A sweep that ended well just now, so that nothing is the janitor's fault. */
export async function swept(db: Database): Promise<void> {
  await db.sql`update app.janitor set last_run_at = now(), last_success_at = now()`;
  await db.sql`insert into app.janitor (last_run_at, last_success_at) values (now(), now()) on conflict do nothing`;
}

/** Everything about claims, workers and results happened so long ago. */
export async function longAgo(db: Database, seconds: number): Promise<void> {
  await db.sql`update app.claims set claimed_at = claimed_at - make_interval(secs => ${seconds}::float8)`;
  await db.sql`update app.results set finished_at = finished_at - make_interval(secs => ${seconds}::float8)`;
  await db.sql`update app.ready set run_at = run_at - make_interval(secs => ${seconds}::float8)`;
  await db.sql`update app.stages set opened_at = opened_at - make_interval(secs => ${seconds}::float8)`;
  await db.sql`update app.workers set started_at = started_at - make_interval(secs => ${seconds}::float8)`;
}

export async function silence(db: Database, worker_id: string, seconds: number): Promise<void> {
  await db.sql`update app.workers set heartbeat_at = heartbeat_at - make_interval(secs => ${seconds}::float8)
    where worker_id = ${worker_id}::text::uuid`;
}

/** A heartbeat that names these tasks as running. */
export function beat(db: Database, worker_id: string, tasks: Held[], facts: object = {}) {
  const running = tasks.map(({ claim_id, stage_id, ordinal }) => {
    return { claim_id, stage_id, ordinal, elapsed_s: 5, progress: null, ...facts };
  });
  return worker_commands.heartbeat(db, {
    worker_id,
    running,
    claims: [...new Set(tasks.map((task) => task.claim_id))],
  });
}

export function bound(db: Database) {
  const operate = operatorOn(db);
  return { operate, why: (id: string) => operate.why(id) };
}
