export { LimitsPage } from "./limits_page.js";
