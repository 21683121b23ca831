export { ConnectorsPage } from "./connectors_page.js";
