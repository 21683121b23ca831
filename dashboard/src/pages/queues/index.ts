export { QueuesPage } from "./queues_page.js";
