// Reads what history.ts checks: the database's side of the story, with results as a consumer would read them.
import { retryFromEnvironment } from "../../src/config.js";
import type { Ref, Store } from "../../src/core/places/store.js";
import type { Queryable } from "../../src/engine/database/database.js";
import { readEffects } from "./effects.js";
import type { AttemptFacts, History, ResultFacts, StageFacts } from "./history.js";

/** Of a stage that says nothing: what its workers were told (vitest.config.ts). */
const usual_attempts = retryFromEnvironment()?.attempts ?? 10_000;

export interface HistorySource {
  /** Superuser. */
  db: Queryable;
  store: Store;
  effects_dir: string;
  acknowledged: string[];
  /** Stages whose rows were deleted: what happened there is nobody's business any more. */
  pruned?: readonly number[];
}

export async function readHistory({ pruned = [], ...source }: HistorySource): Promise<History> {
  const { db, store, effects_dir, acknowledged } = source;
  const stages = await db.sql<StageFacts>`
    select stage_id, job_id, number, name, status::text, coalesce(total, 0) as total,
        coalesce(max_attempts, ${usual_attempts}::integer) as max_attempts, epoch
      from app.stages order by stage_id`;
  const results = await db.sql<ResultFacts & { spill: Ref | null }>`
    select stage_id, ordinal, status::text, attempt, worker_id::text, result ->> 'run' as run, spill
      from app.results order by stage_id, ordinal`;
  for (const result of results) {
    // Size and checksum are compared by the store.
    if (result.spill) result.run = JSON.parse((await store.get(result.spill)).toString("utf8")).run;
  }
  const violations = await db.sql<{ text: string }>`
    select v as text from app.stages s, app.verify_stage(s.stage_id) v`;
  const { effects, acks } = readEffects(effects_dir);
  const kept = ({ stage_id }: { stage_id: number }) => !pruned.includes(stage_id);
  return {
    acknowledged,
    jobs: await db.sql`select job_id, status::text from app.jobs`,
    stages,
    results,
    attempts: await db.sql<AttemptFacts>`
      select stage_id, ordinal, attempt, epoch, outcome, worker_id::text from app.attempts order by attempt_id`,
    events: await db.sql`select event_id, kind, job_id, stage_id from app.events order by event_id`,
    unfinished: await db.sql`
      select 'ready' as place, stage_id, format('[%s,%s)', lo, hi) as range from app.ready
      union all select 'claims', stage_id, held::text from app.claims`,
    violations: violations.map(({ text }) => text),
    rescues: await db.sql`
      select worker_id::text, lease_s, extract(epoch from ended_at - heartbeat_at)::float8 as silent_s
        from app.workers where status = 'lost'`,
    effects: effects.filter(kept),
    acks: acks.filter(kept),
  };
}
