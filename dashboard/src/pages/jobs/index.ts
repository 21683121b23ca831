export { JobsPage } from "./jobs_page.js";
