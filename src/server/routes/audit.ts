import { audit_api } from "../../core/api/audit.js";
import { routes } from "../route.js";

export const auditRoutes = () => routes(audit_api, { list: ({ engine, query }) => engine.audit.list(query) });
