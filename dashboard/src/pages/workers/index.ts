export { WorkersPage } from "./workers_page.js";
