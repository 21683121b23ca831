export { SubmitPage } from "./submit_page.js";
