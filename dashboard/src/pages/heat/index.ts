export { StageHeat } from "./stage_heat.js";
