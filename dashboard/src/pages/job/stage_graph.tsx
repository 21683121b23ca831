// The stages of a job as they wait for each other.
import type { Pace } from "../../../../src/core/shown/pace.js";
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import { Graph } from "./graph.js";
import type { Job } from "./records.js";
import { StageCard } from "./stage_card.js";

export function StageGraph({ job, paces }: { job: Job; paces: ReadonlyMap<number, Pace> }) {
  const paused = job.paused_at !== null && !isTerminal(job.status);
  return (
    <Graph
      label="Stages"
      nodes={job.stages.map((stage) => ({
        number: stage.number,
        after: stage.after,
        key: String(stage.stage_id),
        status: stage.status,
        ended: isTerminal(stage.status),
        stage,
      }))}
      card={({ stage }, tells_order) => (
        <StageCard job={job} stage={stage} pace={paces.get(stage.number)} paused={paused} tells_order={tells_order} />
      )}
    />
  );
}
