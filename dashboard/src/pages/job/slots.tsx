// The parts of the job page that other folders make. Each is loaded when its tab is opened; a tab whose folder is not there is not
// shown.
import { type ComponentType, lazy } from "react";
import type { Job, Stage } from "./records.js";

type OfStage = ComponentType<{ job: Job; stage: Stage }>;
type OfJob = ComponentType<{ job: Job; stage?: Stage }>;

const heat = import.meta.glob<{ StageHeat: OfStage }>("../heat/index.ts");
const map = import.meta.glob<{ JobMap: OfStage }>("../map/index.ts");
const timeline = import.meta.glob<{ JobTimeline: OfJob }>("../timeline/index.ts");

function slot<Module, Props>(
  found: Record<string, () => Promise<Module>>,
  pick: (loaded: Module) => ComponentType<Props>,
) {
  const load = Object.values(found)[0];
  return load === undefined ? null : lazy(async () => ({ default: pick(await load()) }));
}

export const StageHeat = slot(heat, ({ StageHeat: shown }) => shown);
export const JobMap = slot(map, ({ JobMap: shown }) => shown);
export const JobTimeline = slot(timeline, ({ JobTimeline: shown }) => shown);
