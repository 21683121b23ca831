export { HealthPage } from "./health_page.js";
