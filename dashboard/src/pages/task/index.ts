// Pages of tasks.
export { TasksPage } from "./list.js";
export { TaskPage } from "./task_page.js";
