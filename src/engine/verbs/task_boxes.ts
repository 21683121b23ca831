// Where the tasks of a stage are, on the globe and on their way. Each call is one bounded read by the stage's key.
import type { StageStatus, TaskStatus } from "../../core/shown/statuses.js";
import type { Queryable } from "../database/database.js";
import { asked } from "./reply.js";

/** Ranges as Postgres writes a multirange: {[0,5),[7,8)}. */
export interface StageStates {
  job_id: string;
  stage_id: number;
  stage: string;
  number: number;
  status: StageStatus;
  epoch: number;
  /** null until it is planned. */
  total: number | null;
  /** Changes when a task moves. */
  stamp: string;
  /** null: nothing has moved since the stamp that was known. */
  ended: [TaskStatus, number, string][] | null;
  held: [number, string][] | null;
  /** Attempt, [lo, hi), whether its time is yet to come, and whether it was held back by whom it asked. */
  ready: [number, number, number, boolean, boolean][] | null;
}

export interface PlannedBoxes {
  ordinal: number[];
  west: number[];
  south: number[];
  east: number[];
  north: number[];
  next: number | null;
}

/** Opened by one call of resultBoxes. */
export const results_at_once = 5000;

export class TaskBoxes {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
  ) {}

  states(job_id: string, stage: string, known: string | null): Promise<StageStates> {
    return asked(
      this.db.sql`select app.stage_states(
        ${job_id}::text, ${stage}::text, ${known}::text, ${this.tenant}::text) as reply`,
    );
  }

  planned(job_id: string, stage: string, from: number, rows: number): Promise<PlannedBoxes> {
    return asked(
      this.db.sql`select app.planned_boxes(
        ${job_id}::text, ${stage}::text, ${from}::bigint, ${rows}::integer, ${this.tenant}::text) as reply`,
    );
  }

  /** What their results say; whether it is a box is for the caller to see. */
  ofResults(
    job_id: string,
    stage: string,
    ranges: readonly (readonly [number, number])[],
  ): Promise<[number, unknown][]> {
    const ordinals = `{${ranges.map(([lo, hi]) => `[${lo},${hi})`).join()}}`;
    return asked(
      this.db.sql`select app.result_boxes(
        ${job_id}::text, ${stage}::text, ${ordinals}::text::int8multirange, ${this.tenant}::text) as reply`,
    );
  }
}

/** Each range [lo, hi) of a multirange's text. */
export function* rangesIn(text: string): Generator<[number, number]> {
  for (const [, lo, hi] of text.matchAll(/\[(-?\d+),(-?\d+)\)/g)) yield [Number(lo), Number(hi)];
}
