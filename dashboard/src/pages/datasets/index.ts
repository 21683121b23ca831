export { DatasetsPage } from "./datasets_page.js";
export { ResourcePage } from "./resource_page.js";
