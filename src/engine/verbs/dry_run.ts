// What a submit would do, told without doing it: the same checks in the same order, and not a row written.

import type { WouldSubmit } from "../../core/api/jobs.js";
import type { Job } from "../../core/declare/declare.js";
import { validateParameters } from "../../core/declare/parameters.js";
import { Conflict, NotAllowedNow } from "../../core/errors/errors.js";
import { sentence, type Words } from "../../core/shown/action.js";
import type { Engine } from "../engine.js";
import { blueprintText, submitOptions } from "./bulk.js";
import type { SubmitOptions } from "./records.js";
import { asked } from "./reply.js";

export type { WouldSubmit };

type ForeseenStage = WouldSubmit["stages"][number];

type Foreseen = Omit<WouldSubmit, "dry_run" | "parameters" | "tasks" | "resume" | "hint" | "stages"> & {
  stages: (ForeseenStage & { starts: boolean; counted: boolean })[];
};

/** Throws what the submit would throw. */
export async function foresee(
  engine: Engine,
  known: Job,
  input: unknown,
  { mode = "reuse", deadline_s, ...options }: Omit<SubmitOptions, "db"> = {},
): Promise<WouldSubmit> {
  const { canonical, identity_canonical: identity, parameters } = await validateParameters(known, input);
  const job = {
    parameters: canonical,
    identity,
    ...submitOptions(options),
    ...(deadline_s === null ? { no_deadline: true } : { deadline_s }),
  };
  const request = JSON.stringify({ tenant: engine.tenant, mode, jobs: [job] });
  const told = await asked<Foreseen>(
    engine.db.sql`select app.dry_submit(${blueprintText(known)}::text::jsonb, ${request}::text::json) as reply`,
  );
  const resume = told.would === "resume" ? await foreseenResume(engine, told.job_id) : null;
  const would = told.would === "resume" && resume === null ? "reuse" : told.would;
  const stages = told.stages.map(({ starts: _starts, counted: _counted, ...stage }) => stage);
  return {
    ...told,
    dry_run: true,
    would,
    parameters,
    stages,
    resume,
    tasks: stages.reduce((sum, { tasks }) => sum + (tasks ?? 0), 0),
    hint: hintOf(would, told, engine.words),
  };
}

/** null: it could not go on, and submitting it would leave it as it is. */
async function foreseenResume(engine: Engine, job_id: string): Promise<WouldSubmit["resume"]> {
  try {
    const { from_stage, again, kept } = await engine.operate.resume(job_id, { dry_run: true });
    return { from_stage, again, kept };
  } catch (error) {
    if (error instanceof Conflict || error instanceof NotAllowedNow) return null;
    throw error;
  }
}

function hintOf(
  would: WouldSubmit["would"],
  { job_id, job_type, run, exists, waits_for }: Foreseen,
  words: Words,
): string {
  if (would === "resume") return sentence("it goes on; see where it stands", { verb: "jobs.status", job_id }, words);
  if (would === "reuse") {
    const next =
      exists?.status === "completed" ? "mode force runs it again" : "mode resume lets it go on if it ended badly";
    return `the same content was submitted before and is ${exists?.status ?? "there"}; ${next}`;
  }
  const waiting =
    waits_for === 0 ? "" : `; it starts when ${waits_for} other job${waits_for === 1 ? " has" : "s have"} ended well`;
  return `${run === 1 ? `a new job of type ${job_type}` : `run ${run} of this content`}${waiting}`;
}
