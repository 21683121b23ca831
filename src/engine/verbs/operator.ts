// What an operator does about jobs, tasks and task types: go on, run again, skip, pause, approve, prove, explain. Every verb that changes
// something counts first when asked to (`dry_run`), may be repeated, and leaves an event with who and why.
import type { z } from "zod";
import type { cells_api } from "../../core/api/cells.js";
import type { ReplyOf } from "../../core/api/endpoint.js";
import type { alert, decided, repaired, verified, why_record } from "../../core/api/operation_records.js";
import { operations_api } from "../../core/api/operations.js";
import { defineVerbs, type OperatorMethods } from "../../core/api/operator_verbs.js";
import { tasks_api } from "../../core/api/tasks.js";
import type { vitals_api } from "../../core/api/vitals.js";
import { StorageError } from "../../core/errors/errors.js";
import type { Ref, Store } from "../../core/places/store.js";
import { asCommand, type Words } from "../../core/shown/action.js";
import type { Zones } from "../../storage/zones.js";
import type { Queryable } from "../database/database.js";
import type { AssetRecord } from "./assets.js";
import { deliveredFiles } from "./delivered_files.js";
import { asked } from "./reply.js";
import { callVerb } from "./verb.js";
import { worded } from "./worded.js";

export interface VerbOptions {
  reason?: string | null;
  /** Only says what it would touch. */
  dry_run?: boolean;
  /** Who asks, when that is not the login role itself. */
  actor?: string | null;
}

export type RepairReply = z.output<typeof repaired>;
export type RetriedTasks = ReplyOf<typeof cells_api.retry>;
export type SkippedTasks = ReplyOf<typeof cells_api.skip>;
export type SkipReply = ReplyOf<typeof tasks_api.skip>;
export type JobPauseReply = ReplyOf<typeof operations_api.pause>;
export type TypePauseReply = ReplyOf<typeof operations_api.pause_type>;
export type PauseReply = Omit<TypePauseReply, "task_type">;
export type GateReply = z.output<typeof decided>;
export type GateDecision = NonNullable<GateReply["decision"]>;
export type AlertRecord = z.output<typeof alert>;
export type VerifyReport = z.output<typeof verified>;
export type VerifiedStage = VerifyReport["stages"][number];
/** Why a job or a task does not move, or ended as it did. */
export type Why = Omit<z.output<typeof why_record>, "call" | "evidence"> & { evidence: Record<string, unknown> };
export type ErrorReport = Omit<ReplyOf<typeof operations_api.errors>, "job_id">;
export type ErrorGroup = ErrorReport["groups"][number];
type JanitorReport = ReplyOf<typeof vitals_api.janitor>;
export type JanitorHealth = Omit<JanitorReport, "actions" | "next" | "failing">;

type Methods = OperatorMethods<VerbOptions, null>;
const Verbs = class {} as new () => Omit<Methods, "retryGroup" | "rescheduleTask">;

export class Operator extends Verbs {
  static {
    defineVerbs(Operator.prototype, (self, verb, about, options) =>
      callVerb(self, verb as typeof operations_api.resume, { ...about, ...options } as { job_id: string }),
    );
  }

  constructor(
    readonly db: Queryable,
    readonly tenant: string,
    private readonly store: Store,
    readonly words: Words = asCommand,
    /** null: files in zones are not looked at. */
    private readonly zones: Zones | null = null,
  ) {
    super();
  }

  /** The tasks that failed with this signature (see errors) run again, and what follows them. */
  retryGroup(job_id: string, signature: string, options: VerbOptions = {}) {
    return callVerb(this, operations_api.retry_group, { job_id, signature, ...options });
  }

  /** Moves a waiting task that stands alone to another time or priority. */
  rescheduleTask(task_id: string, run_at: Date | string, options: VerbOptions & { priority?: number | null } = {}) {
    const at = run_at instanceof Date ? run_at.toISOString() : run_at;
    return callVerb(this, tasks_api.reschedule, { task_id, run_at: at, ...options });
  }

  /** The failures of a job in groups, and how much of all failures they stand for: a job may have more than can be looked at. */
  async errors(job_id: string): Promise<ErrorReport> {
    const reply = await asked(
      this.db.sql`select app.error_groups(job_id => ${job_id}::text, tenant => ${this.tenant}::text) as reply`,
    );
    return worded("error_groups", reply, this.words);
  }

  async errorGroups(job_id: string): Promise<ErrorGroup[]> {
    return (await this.errors(job_id)).groups;
  }

  /** The first reason that the rows prove. */
  async why(id: string): Promise<Why> {
    const reply = await asked(this.db.sql`select app.why(id => ${id}::text, tenant => ${this.tenant}::text) as reply`);
    return worded("why", reply, this.words);
  }

  /** What should not have happened and did, newest first. */
  alerts(page: { limit?: number; cursor?: string } = {}) {
    return callVerb(this, operations_api.alerts, page);
  }

  /** What the janitor did to this tenant's work, newest first. */
  janitorActions({ limit = 50, cursor = null }: { limit?: number; cursor?: string | null | undefined } = {}) {
    return asked<Pick<JanitorReport, "actions" | "next">>(this.db.sql`select app.list_janitor_actions(
      page_rows => ${limit}::integer, before => ${cursor}::bigint, tenant => ${this.tenant}::text) as reply`);
  }

  janitorHealth(): Promise<JanitorHealth> {
    return asked(this.db.sql`select app.janitor_health() as reply`);
  }

  /**
   * Proves the ledger of a job from its rows, that every spilled file is there and is what was written, and that every file in a zone is
   * there and has its size; with `checksum`, that it is what was delivered.
   */
  async verify(
    job_id: string,
    on_file?: (checked: number, of: number) => void,
    options: { checksum?: boolean | undefined } = {},
  ): Promise<VerifyReport> {
    const report = await this.#verifyPage(job_id, null);
    const problems = [...report.problems, ...report.stages.flatMap((stage) => stage.problems)];
    let files = 0;
    for (let { spills } = report; spills.length > 0; ) {
      for (const { stage_id, ordinal, spill } of spills) {
        const problem = await this.#fileProblem(spill);
        if (problem !== null) problems.push(`the result of task ${stage_id}-${ordinal} is spilled: ${problem}`);
        files++;
        on_file?.(files, report.spill_count);
      }
      const last = spills.at(-1)!;
      spills = (await this.#verifyPage(job_id, [last.stage_id, last.ordinal])).spills;
    }
    const { spills: _, spill_count, asset_count, problems: __, ...rest } = report;
    const file_count = spill_count + asset_count;
    const look = this.zones && { zones: this.zones, tenant: this.tenant, ...options };
    for await (const some of look === null ? [] : deliveredFiles(this.db, job_id, look)) {
      for (const { record, problem } of some) {
        if (problem !== null) problems.push(missingWords(problem, record));
      }
      files += some.length;
      on_file?.(files, file_count);
    }
    return { ...rest, files, file_count, problems, ok: problems.length === 0 };
  }

  /** Read piece by piece: a file may be of any size. */
  async #fileProblem(spill: Ref): Promise<string | null> {
    try {
      for await (const _ of this.store.getStream(spill));
      return null;
    } catch (error) {
      if (error instanceof StorageError) return error.message;
      throw error;
    }
  }

  #verifyPage(job_id: string, after: [number, number] | null) {
    type Page = Omit<VerifyReport, "files" | "file_count" | "ok"> & {
      spills: { stage_id: number; ordinal: number; spill: Ref }[];
      spill_count: number;
      asset_count: number;
    };
    const cursor = after === null ? null : JSON.stringify(after);
    return asked<Page>(this.db.sql`select app.verify_job(
      ${job_id}::text, ${this.tenant}::text, ${cursor}::text::json) as reply`);
  }
}

/** What is somebody else's cannot be made again by running a task. */
function missingWords(problem: string, { task_id, adopted }: AssetRecord): string {
  if (adopted || task_id === null) return `${problem}; it came from outside: put it back`;
  return `${problem}; task ${task_id} makes it again: fanfold redo ${task_id}`;
}
