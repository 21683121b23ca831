import "./map.css";

export { JobMap } from "./job_map.js";
