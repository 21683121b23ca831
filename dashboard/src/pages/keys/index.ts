export { KeysPage } from "./keys_page.js";
