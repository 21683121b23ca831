// The parts of the job page that other folders make: each is loaded when its tab is opened.
import { lazy } from "react";

export const StageHeat = lazy(async () => ({ default: (await import("../heat/index.js")).StageHeat }));
export const JobMap = lazy(async () => ({ default: (await import("../map/index.js")).JobMap }));
export const JobTimeline = lazy(async () => ({ default: (await import("../timeline/index.js")).JobTimeline }));
