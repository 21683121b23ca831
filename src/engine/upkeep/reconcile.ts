// Compares what rows say with what lies in zones and storage, after a restore or a lost disk: rows without files, files without rows, and what
// is said to run and does not. It only looks, unless it is told to mend; what only a task can make again is run again when that is asked for.
import { pino } from "pino";
import { StorageError } from "../../core/errors/errors.js";
import { type Ref, tenantPrefix } from "../../core/places/store.js";
import { formatZoneRef } from "../../core/places/zones.js";
import { blobsOf } from "../../storage/open_blobs.js";
import type { Engine } from "../engine.js";
import type { AssetRecord } from "../verbs/assets.js";
import { fileProblem } from "../verbs/delivered_files.js";
import { asked } from "../verbs/reply.js";
import { FileSweep, spilled_name } from "./file_sweep.js";
import { Janitor } from "./janitor.js";

export interface Finding {
  kind: "row_without_file" | "file_without_row" | "not_running";
  /** zone:key, storage:key, or the worker or job. */
  what: string;
  why: string;
  task_id: string | null;
  /** What mends it: retract and remove are done by `mend`, redo by `redo`; a person must see to the others. */
  remedy: "retract" | "remove" | "redo" | "take_back" | "by_hand";
  mended: boolean;
}

export interface ReconcileOptions {
  mend?: boolean;
  redo?: boolean;
  /** Reads every file that a row names. */
  checksum?: boolean;
  /** Younger files without rows may belong to somebody who is still at work. */
  older_than_h?: number;
  now?: () => number;
  on_look?: (looked: number) => void;
}

const AT_ONCE = 16;

export async function reconcile(engine: Engine, options: ReconcileOptions = {}): Promise<Finding[]> {
  const found: Finding[] = [];
  let looked = 0;
  const add = (finding: Finding | null) => {
    looked++;
    if (finding !== null) found.push(finding);
    options.on_look?.(looked);
  };
  // Running things first: what they give back is not held any more when files are judged.
  for (const finding of await notRunning(engine, options)) add(finding);
  for await (const some of recordedFiles(engine, options)) some.forEach(add);
  for await (const some of namedResults(engine)) some.forEach(add);
  for (const finding of await unnamedFiles(engine, options)) add(finding);
  if (options.redo === true) await redoAll(engine, found);
  return found;
}

async function* recordedFiles(engine: Engine, { mend = false, checksum = false }: ReconcileOptions) {
  const { assets, zones, tenant } = engine;
  for (let after: [string, string] | null = null; ; ) {
    const page: Awaited<ReturnType<typeof assets.list>> = await assets.list({ limit: 500, after });
    for (let at = 0; at < page.assets.length; at += AT_ONCE) {
      const some = page.assets.slice(at, at + AT_ONCE);
      yield await Promise.all(
        some.map(async (record) => {
          const problem = await fileProblem(record, { zones, tenant, checksum });
          return problem === null ? null : ofRecord(engine, record, problem, mend);
        }),
      );
    }
    if (page.next === null) return;
    after = page.next;
  }
}

async function ofRecord(engine: Engine, record: AssetRecord, why: string, mend: boolean): Promise<Finding> {
  const { zone, key, task_id, adopted } = record;
  const about = { kind: "row_without_file" as const, what: formatZoneRef(record), why, task_id, mended: false };
  if (adopted || task_id === null) return { ...about, remedy: "by_hand" };
  const { db, tenant, assets } = engine;
  const replaced = await asked<boolean>(
    db.sql`select app.replaced_file(${zone}::text, ${key}::text, ${tenant}::text) as reply`,
  );
  if (!replaced) return { ...about, remedy: "redo" };
  if (mend && (await assets.retract(record))) await assets.removeRetracted([record]);
  return { ...about, why: `${why}; a later run of its task has replaced it`, remedy: "retract", mended: mend };
}

async function* namedResults(engine: Engine): AsyncGenerator<(Finding | null)[]> {
  const { db, tenant } = engine;
  for (let after: string | null = null; ; ) {
    const page: { stage_id: number; ordinal: number; spill: Ref }[] = await asked(
      db.sql`select app.named_results(${tenant}::text, ${after}::text::json) as reply`,
    );
    if (page.length === 0) return;
    for (let at = 0; at < page.length; at += AT_ONCE) {
      yield await Promise.all(page.slice(at, at + AT_ONCE).map((row) => ofResult(engine, row)));
    }
    const { stage_id, ordinal } = page.at(-1)!;
    after = JSON.stringify([stage_id, ordinal]);
  }
}

async function ofResult(
  { shared_store }: Engine,
  { stage_id, ordinal, spill }: { stage_id: number; ordinal: number; spill: Ref },
): Promise<Finding | null> {
  const blobs = blobsOf(shared_store);
  const why = await (async () => {
    try {
      const stat = (await blobs?.stat(spill.key)) ?? null;
      if (stat === null) return "the result is not there";
      return stat.bytes === spill.bytes ? null : `the result has ${stat.bytes} bytes, not ${spill.bytes}`;
    } catch (error) {
      if (error instanceof StorageError) return `the result cannot be looked at: ${error.message}`;
      throw error;
    }
  })();
  if (why === null) return null;
  const task_id = `${stage_id}-${ordinal}`;
  return { kind: "row_without_file", what: `storage:${spill.key}`, why, task_id, remedy: "redo", mended: false };
}

async function unnamedFiles(engine: Engine, options: ReconcileOptions): Promise<Finding[]> {
  const { db, zones, tenant } = engine;
  const { mend = false, older_than_h = 1, now = Date.now } = options;
  const results = blobsOf(engine.shared_store);
  const log = pino({ level: "silent" });
  const sweep = new FileSweep({ db, zones, log, results, older_than_h, now });
  const dry_run = !mend;
  const left = [
    ...(await sweep.retracted({ dry_run, tenant, quiet_s: older_than_h * 3600 })),
    ...(await sweep.zone(tenant, "silver", { dry_run })).found,
    ...(await sweep.zone(tenant, "gold", { dry_run })).found,
    ...(await sweep.uploads(tenant, { dry_run })).found,
    ...(await sweep.results(tenant, { dry_run })).found,
  ];
  const of_ours = left.map(({ zone, key, why }) => ({
    kind: "file_without_row" as const,
    what: `${zone}:${key}`,
    why: why.replaceAll("_", " "),
    task_id: null,
    remedy: "remove" as const,
    mended: mend,
  }));
  return [...of_ours, ...(await strangers(engine, now() - older_than_h * 3_600_000))];
}

/** Results of workers that this database has never heard of: never removed, because another database may use the place. */
async function strangers({ db, tenant, shared_store }: Engine, before: number): Promise<Finding[]> {
  const results = blobsOf(shared_store);
  if (results === null) return [];
  const prefix = `${tenantPrefix(tenant)}results/`;
  const found: Finding[] = [];
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<typeof results.list>> = await results.list(prefix, after === null ? {} : { after });
    const keys = page.entries.flatMap(({ key, modified_at }) => {
      const [, g, o, w] = spilled_name.exec(key.slice(prefix.length)) ?? [];
      return g === undefined || Date.parse(modified_at) >= before ? [] : [{ k: key, g: Number(g), o: Number(o), w }];
    });
    const request = JSON.stringify({ tenant, keys });
    const unnamed = await asked<{ k: string; known: boolean }[]>(
      db.sql`select app.unnamed_results(${request}::text::json) as reply`,
    );
    for (const { k, known } of unnamed) {
      if (known) continue;
      const why = "written by a worker that this database does not know: made after its backup, or of another database";
      found.push({
        kind: "file_without_row",
        what: `storage:${k}`,
        why,
        task_id: null,
        remedy: "by_hand",
        mended: false,
      });
    }
    if (page.next === null) return found;
    after = page.next;
  }
}

/** Workers whose lease is over hold tasks that nobody runs. A worker that lives takes them back within seconds; after a restore there may be none. */
async function notRunning({ db, tenant }: Engine, { mend = false }: ReconcileOptions): Promise<Finding[]> {
  const silent = await asked<{ worker_id: string; host: string; claims: number; silent_s: number }[]>(
    db.sql`select app.silent_holders(${tenant}::text) as reply`,
  );
  if (mend && silent.length > 0) await new Janitor({ db, log: pino({ level: "silent" }) }).sweep({ thorough: true });
  return silent.map(({ worker_id, host, claims, silent_s }) => ({
    kind: "not_running" as const,
    what: `worker ${worker_id}`,
    why: `holds ${claims} claims on ${host} and has not been heard of for ${Math.round(silent_s)} s`,
    task_id: null,
    remedy: "take_back" as const,
    mended: mend,
  }));
}

async function redoAll({ operate }: Engine, found: Finding[]): Promise<void> {
  const tasks = new Map<string, Finding[]>();
  for (const one of found) {
    if (one.remedy !== "redo" || one.task_id === null) continue;
    tasks.set(one.task_id, [...(tasks.get(one.task_id) ?? []), one]);
  }
  for (const [task_id, findings] of tasks) {
    try {
      await operate.redoTask(task_id, { reason: "what it made is gone" });
      for (const one of findings) one.mended = true;
    } catch (error) {
      // Its job runs, or is gone: the operator who reads the list must see to it.
      for (const one of findings) one.why += `; it cannot run again now: ${(error as Error).message.split("\n")[0]}`;
    }
  }
}
