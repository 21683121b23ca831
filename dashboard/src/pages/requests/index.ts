export { AskPage } from "./ask_page.js";
export { RequestPage } from "./request_page.js";
export { RequestsPage } from "./requests_page.js";
