export { AuditPage } from "./audit_page.js";
