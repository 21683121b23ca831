export { SchedulesPage } from "./schedules_page.js";
