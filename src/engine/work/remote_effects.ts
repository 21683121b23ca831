// What a worker over HTTP declared to be written with the finish of a task, as statements of that transaction. Everything that can be known before is
// looked at before: the transaction stays short, and a file that is not there is not recorded.
import type { Effect } from "../../core/api/work/effects.js";
import { max_enqueued } from "../../core/api/work/effects.js";
import { BadRequest, classify, isFanfoldError, NotAllowedNow } from "../../core/errors/errors.js";
import { type Failure, failureOf } from "../../core/errors/failures.js";
import { formatProblems, type Problem } from "../../core/errors/problems.js";
import { formatZoneRef, type ZoneRef } from "../../core/places/zones.js";
import type { SqlSession } from "../../core/task/context.js";
import { canonicalJson } from "../../core/values/canonical.js";
import { readableProblem } from "../../storage/keys.js";
import type { Zones } from "../../storage/zones.js";
import type { Queryable } from "../database/database.js";
import { asset_verbs } from "../verbs/assets.js";
import { enqueuePage } from "../verbs/bulk.js";
import type { HeldAttempt, RemoteFiles } from "./remote_files.js";
import { placeOf } from "./remote_task.js";

/** The catalogue, as far as effects write to it; src/catalog has one. */
export interface EffectCatalog {
  prepare(db: SqlSession, collection: string): Promise<{ put(db: SqlSession, items: never[]): Promise<void> }>;
  deleteItems(db: SqlSession, collection: string, ids: string[]): Promise<number>;
  putCollection(db: SqlSession, collection: never, options?: { replace?: boolean }): Promise<boolean>;
}

export interface EffectParts {
  tenant: string;
  files: RemoteFiles;
  zones: Zones;
  /** null: this deployment has none. */
  catalog(): Promise<EffectCatalog | null>;
}

/** Everything that is wrong with them as they stand; no problem of the moment. */
export async function effectProblems(
  { files, zones, tenant }: EffectParts,
  task: HeldAttempt,
  effects: readonly Effect[],
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const enqueued = effects.reduce((sum, one) => sum + (one.effect === "enqueue" ? one.tasks.length : 0), 0);
  if (enqueued > max_enqueued) {
    const problem = `${enqueued} tasks are enqueued together; the limit is ${max_enqueued}`;
    problems.push({ path: "$.effects", problem, fix: "Enqueue fewer, or submit a job with a fan_out." });
  }
  for (const [at, one] of effects.entries()) {
    const add = (problem: string, fix: string) => problems.push({ path: `$.effects[${at}]`, problem, fix });
    if (one.effect === "publish" || one.effect === "adopt") {
      const bad_key = readableProblem(one.key);
      if (bad_key !== null) add(`has a key that none can be: ${bad_key}`, "Give the key as `files` gave it.");
      else if (one.effect === "publish" && !(await files.isFileOf(task, one)))
        add(
          `${formatZoneRef(one)} is no file of this attempt`,
          "Publish what `files` gave a key for, in this very attempt.",
        );
      else await sizeProblem(zones, tenant, one, add);
    } else if (one.effect === "retract") {
      const bad_key = readableProblem(one.key);
      if (bad_key !== null) add(`has a key that none can be: ${bad_key}`, "Give zone and key of a file.");
    }
  }
  return problems;
}

async function sizeProblem(
  zones: Zones,
  tenant: string,
  { zone, key, bytes }: ZoneRef & { bytes: number },
  add: (problem: string, fix: string) => void,
): Promise<void> {
  const found = await zones.store(zone, tenant).stat(key);
  if (found === null) add(`${formatZoneRef({ zone, key })} is not there`, "Upload it before the finish that names it.");
  else if (found.bytes !== bytes)
    add(`${formatZoneRef({ zone, key })} has ${found.bytes} bytes, not ${bytes}`, "Tell of the file that is there.");
}

/** In order, in the transaction of the finish. */
export async function writeEffects(
  parts: EffectParts,
  db: Queryable,
  task: HeldAttempt,
  effects: readonly Effect[],
): Promise<void> {
  const { tenant } = parts;
  const { stage_id, ordinal } = placeOf(task.task_id);
  const made_by = { tenant, stage_id, ordinal };
  await db.sql`select set_config('fanfold.stage', ${String(stage_id)}, true)`;
  for (const one of effects) {
    if (one.effect === "publish" || one.effect === "adopt") {
      const { effect, ...file } = one;
      await asset_verbs[effect](db, { ...made_by, ...file, name: nameOf(file.key) });
    } else if (one.effect === "retract") {
      await asset_verbs.retract(db, one, tenant, one.remove_adopted);
    } else if (one.effect === "enqueue") {
      await enqueue(parts, db, one);
    } else {
      await writeToCatalog(parts, db, one);
    }
  }
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

async function enqueue(
  { tenant }: EffectParts,
  db: Queryable,
  { task_type, tasks, priority, delay_s }: Extract<Effect, { effect: "enqueue" }>,
): Promise<void> {
  const page = tasks.map(({ parameters, key }) => ({
    item: {
      parameters,
      ...(key === undefined ? {} : { idempotency_key: key }),
      ...(priority === undefined ? {} : { priority }),
      ...(delay_s === undefined ? {} : { delay_s }),
    },
    text: canonicalJson(parameters),
  }));
  await enqueuePage({ db, tenant }, task_type, page, undefined);
}

async function writeToCatalog(
  { catalog: open }: EffectParts,
  db: Queryable,
  one: Extract<Effect, { effect: "put_items" | "delete_items" | "put_collection" }>,
): Promise<void> {
  const catalog = await open();
  const session = db as unknown as SqlSession;
  if (catalog === null) {
    throw new NotAllowedNow("this service has no catalogue", { hint: "fanfold doctor says what is missing" });
  }
  if (one.effect === "put_items") {
    const writer = await catalog.prepare(session, one.collection);
    await writer.put(session, one.items as never[]);
  } else if (one.effect === "delete_items") await catalog.deleteItems(session, one.collection, one.ids);
  else await catalog.putCollection(session, one.collection as never, { replace: one.replace });
}

export function badEffects(problems: readonly Problem[]): Failure {
  const message = formatProblems("What was to be written with the finish cannot be", problems);
  return failureOf({ message }, { category: "contract", code: "bad_effect", problems });
}

/** Why they could not be written: what the worker declared wrongly is its contract, all else by what it was. */
export function failureOfEffects(error: unknown): Failure {
  const failure = classify(error);
  const is_contract = isFanfoldError(error) && error instanceof BadRequest;
  return {
    ...failure,
    category: is_contract ? "contract" : failure.category,
    code: is_contract ? "bad_effect" : "effect_failed",
    message: `what was to be written with the finish failed: ${failure.message}`,
  };
}
