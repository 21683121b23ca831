export { GroupsPage } from "./groups_page.js";
