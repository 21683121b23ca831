// Which stage a tab is about: part of the address.
import { Link } from "wouter";
import { type JobTab, to } from "../../routes.js";
import { Safe, ShapeIcon } from "../../ui/index.js";
import type { Job, Stage } from "./records.js";

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
