export { JobPage } from "./job_page.js";
