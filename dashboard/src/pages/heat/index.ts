export { StageHeat } from "./stage_heat.js";
export { VerbsBar } from "./verbs_bar.js";
