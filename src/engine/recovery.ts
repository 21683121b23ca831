// What an operator does about a job: go on, run again, skip, pause, approve, prove, explain. One SQL verb each; every one that
// changes something counts first when asked to (`dry_run`), may be repeated, and leaves an event with who and why.
import { StorageError } from "../core/errors.js";
import type { Ref, Store } from "../core/store.js";
import type { Queryable } from "./database.js";
import type {
  AlertRecord,
  ErrorGroup,
  ErrorReport,
  GateReply,
  JanitorAction,
  JanitorHealth,
  JobPauseReply,
  RepairReply,
  RetriedTasks,
  SkippedTasks,
  SkipReply,
  TypePauseReply,
  VerifyReport,
  Why,
} from "./recovery_records.js";
import { asked } from "./reply.js";

export interface VerbOptions {
  reason?: string | null;
  /** Only says what it would touch. */
  dry_run?: boolean;
  /** Who asks, when that is not the login role itself. */
  actor?: string | null;
}

/** Tasks of one stage. */
export interface TaskSelection {
  /** Ordinals, [from, to) each. */
  ranges: readonly (readonly number[])[];
  /** Only those that stand there. */
  status?: readonly string[] | null | undefined;
}

export class Recovery {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
    private readonly store: Store,
  ) {}

  /** A failed, cancelled or partial job goes on, under the same id: only what did not end well runs again, and what follows. */
  resume(job_id: string, { reason = null, dry_run = false, actor = null }: VerbOptions = {}): Promise<RepairReply> {
    return asked(this.db.sql`select app.resume_job(
      ${job_id}::text, ${reason}::text, ${dry_run}::boolean, ${this.tenant}::text, ${actor}::text) as reply`);
  }

  /** Every task of the stage (name or number) of an ended job runs again, and what follows it. */
  retryStage(
    job_id: string,
    stage: string | number,
    { reason = null, dry_run = false, actor = null }: VerbOptions = {},
  ): Promise<RepairReply> {
    return asked(this.db.sql`select app.retry_stage(
      ${job_id}::text, ${String(stage)}::text, ${reason}::text, ${dry_run}::boolean, ${this.tenant}::text,
      ${actor}::text) as reply`);
  }

  /** The tasks that failed with this signature (see errorGroups) run again, and what follows them. */
  retryGroup(
    job_id: string,
    signature: string,
    { reason = null, dry_run = false, actor = null }: VerbOptions = {},
  ): Promise<RepairReply> {
    return asked(this.db.sql`select app.retry_group(
      ${job_id}::text, ${signature}::text, ${reason}::text, ${dry_run}::boolean, ${this.tenant}::text,
      ${actor}::text) as reply`);
  }

  retryTask(
    task_id: string,
    { reason = null, dry_run = false, actor = null }: VerbOptions = {},
  ): Promise<RepairReply | (SkipReply & { again: number })> {
    return asked(this.db.sql`select app.retry_task(
      ${task_id}::text, ${reason}::text, ${dry_run}::boolean, ${this.tenant}::text, ${actor}::text) as reply`);
  }

  skipTask(task_id: string, reason: string, { dry_run = false, actor = null }: VerbOptions = {}): Promise<SkipReply> {
    return asked(this.db.sql`select app.skip_task(
      ${task_id}::text, ${reason}::text, ${dry_run}::boolean, ${this.tenant}::text, ${actor}::text) as reply`);
  }

  /** Of the tasks that are named, those that failed, were skipped or never ran run again, and what follows them. */
  retryTasks(
    job_id: string,
    stage: string | number,
    { ranges, status = null }: TaskSelection,
    { reason = null, dry_run = false, actor = null }: VerbOptions = {},
  ): Promise<RetriedTasks> {
    return asked(this.db.sql`select app.retry_tasks(
      ${job_id}::text, ${String(stage)}::text, ${JSON.stringify(ranges)}::text::json,
      ${status === null ? null : JSON.stringify(status)}::text::json, ${reason}::text, ${dry_run}::boolean,
      ${this.tenant}::text, ${actor}::text) as reply`);
  }

  /** Of the tasks that are named, those that wait, failed or never ran count as done without a result. */
  skipTasks(
    job_id: string,
    stage: string | number,
    { ranges, status = null }: TaskSelection,
    reason: string,
    { dry_run = false, actor = null }: VerbOptions = {},
  ): Promise<SkippedTasks> {
    return asked(this.db.sql`select app.skip_tasks(
      ${job_id}::text, ${String(stage)}::text, ${JSON.stringify(ranges)}::text::json, ${reason}::text,
      ${status === null ? null : JSON.stringify(status)}::text::json, ${dry_run}::boolean,
      ${this.tenant}::text, ${actor}::text) as reply`);
  }

  async errorGroups(job_id: string): Promise<ErrorGroup[]> {
    return (await this.errors(job_id)).groups;
  }

  /** The groups, and how much of all failures they stand for: a job may have more than can be looked at. */
  errors(job_id: string): Promise<ErrorReport> {
    return asked(this.db.sql`select app.error_groups(${job_id}::text, ${this.tenant}::text) as reply`);
  }

  pauseJob(job_id: string, { reason = null, dry_run = false, actor = null }: VerbOptions = {}): Promise<JobPauseReply> {
    return asked(this.db.sql`select app.pause_job(
      ${job_id}::text, ${reason}::text, ${dry_run}::boolean, ${this.tenant}::text, ${actor}::text) as reply`);
  }

  continueJob(
    job_id: string,
    { reason = null, dry_run = false, actor = null }: VerbOptions = {},
  ): Promise<JobPauseReply> {
    return asked(this.db.sql`select app.continue_job(
      ${job_id}::text, ${reason}::text, ${dry_run}::boolean, ${this.tenant}::text, ${actor}::text) as reply`);
  }

  pauseType(
    task_type: string,
    { reason = null, dry_run = false, actor = null }: VerbOptions = {},
  ): Promise<TypePauseReply> {
    return asked(this.db.sql`select app.pause_type(
      ${task_type}::text, ${reason}::text, ${dry_run}::boolean, ${this.tenant}::text, ${actor}::text) as reply`);
  }

  continueType(
    task_type: string,
    { reason = null, dry_run = false, actor = null }: VerbOptions = {},
  ): Promise<TypePauseReply> {
    return asked(this.db.sql`select app.continue_type(
      ${task_type}::text, ${reason}::text, ${dry_run}::boolean, ${this.tenant}::text, ${actor}::text) as reply`);
  }

  /** `stage` may be left out when one stage waits. */
  approve(job_id: string, stage: string | null = null, options: VerbOptions = {}): Promise<GateReply> {
    return this.#decide(job_id, stage, true, options);
  }

  reject(job_id: string, stage: string | null, reason: string, options: VerbOptions = {}): Promise<GateReply> {
    return this.#decide(job_id, stage, false, { ...options, reason });
  }

  #decide(
    job_id: string,
    stage: string | null,
    approved: boolean,
    { reason = null, dry_run = false, actor = null }: VerbOptions,
  ): Promise<GateReply> {
    return asked(this.db.sql`select app.decide_gate(
      ${job_id}::text, ${stage}::text, ${approved}::boolean, ${reason}::text, ${dry_run}::boolean,
      ${this.tenant}::text, ${actor}::text) as reply`);
  }

  /** Why a job or a task does not move: the first reason that the rows prove. */
  why(id: string): Promise<Why> {
    return asked(this.db.sql`select app.why(${id}::text, ${this.tenant}::text) as reply`);
  }

  /** What should not have happened and did, newest first. */
  alerts({ limit = 50, cursor = null }: { limit?: number; cursor?: string | null } = {}): Promise<{
    alerts: AlertRecord[];
    next: string | null;
  }> {
    return asked(
      this.db.sql`select app.list_alerts(${limit}::integer, ${this.tenant}::text, ${cursor}::text::bigint) as reply`,
    );
  }

  /** What the janitor did to this tenant's work, newest first. */
  janitorActions({ limit = 50, cursor = null }: { limit?: number; cursor?: string | null } = {}): Promise<{
    actions: JanitorAction[];
    next: string | null;
  }> {
    return asked(
      this.db.sql`select app.list_janitor_actions(
        ${limit}::integer, ${cursor}::text::bigint, ${this.tenant}::text) as reply`,
    );
  }

  janitorHealth(): Promise<JanitorHealth> {
    return asked(this.db.sql`select app.janitor_health() as reply`);
  }

  /** Proves the ledger of a job from its rows, and that every spilled file is there and is what was written. */
  async verify(job_id: string, on_file?: (checked: number, of: number) => void): Promise<VerifyReport> {
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
    return { ...rest, files, file_count: spill_count + asset_count, problems, ok: problems.length === 0 };
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
