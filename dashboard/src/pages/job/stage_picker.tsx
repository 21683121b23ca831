// Which stage a tab is about: part of the address.
import { Link } from "wouter";
import { isTerminal } from "../../../../src/core/statuses.js";
import { type JobTab, to } from "../../routes.js";
import { Safe, ShapeIcon } from "../../ui/index.js";
import type { Job, Stage } from "./records.js";

/** The one that is asked for; else where something fails, runs, or ran last. */
export function chosenStage(job: Job, wanted: string): Stage | undefined {
  const planned = job.stages.filter(({ total }) => total !== null && total > 0);
  return (
    job.stages.find(({ name, number }) => name === wanted || String(number) === wanted) ??
    planned.find(({ status }) => !isTerminal(status)) ??
    planned.find(({ failed }) => failed > 0) ??
    planned.findLast(({ total }) => (total ?? 0) > 1) ??
    planned.at(-1) ??
    job.stages[0]
  );
}

/** Where a map may open when no stage was asked for: the likeliest first, then those with the most tasks. */
export function stagesInTurn(job: Job): Stage[] {
  const first = chosenStage(job, "");
  const others = job.stages
    .filter((one) => one !== first && (one.total ?? 0) > 0)
    .sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
  return first === undefined ? [] : [first, ...others];
}

export function StagePicker({ job, tab, stage }: { job: Job; tab: JobTab; stage: Stage }) {
  if (job.stages.length < 2) return null;
  return (
    <nav className="pills" aria-label="Stages">
      {job.stages.map((one) => (
        <Link
          key={one.stage_id}
          className={one.stage_id === stage.stage_id ? "pill current" : "pill"}
          aria-current={one.stage_id === stage.stage_id ? "true" : undefined}
          href={to.job(job.job_id, tab, { stage: one.name })}
        >
          <ShapeIcon status={one.status} size={11} /> {one.number} · <Safe text={one.name} />
        </Link>
      ))}
    </nav>
  );
}
