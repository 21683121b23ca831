// A job over time.
export { JobTimeline } from "./job_timeline.js";
