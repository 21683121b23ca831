import { package_version as version } from "../../config.js";
import { vitals_api } from "../../core/api/vitals.js";
import { schemaState } from "../../engine/schema/migrate.js";
import { readVitals } from "../../engine/verbs/vitals.js";
import { routes } from "../http/route.js";

export const vitalsRoutes = () =>
  routes(vitals_api, {
    async read({ service, query: { minutes } }) {
      const { db } = service.engine;
      const [vitals, schema] = await Promise.all([readVitals(db, minutes), schemaState(db)]);
      return {
        at: new Date().toISOString(),
        version,
        node: process.version,
        uptime_s: Math.round(process.uptime()),
        rss_bytes: process.memoryUsage.rss(),
        schema: { ...schema, pending: [...schema.pending] },
        pool: db.load?.() ?? null,
        ...vitals,
      };
    },
    async janitor({ engine, query: { limit, cursor }, principal }) {
      const [health, page] = await Promise.all([
        engine.operate.janitorHealth(),
        engine.operate.janitorActions({ limit, cursor: cursor ?? null }),
      ]);
      const { last_error, ...told } = health;
      // It may name another tenant's job.
      return { ...told, last_error: principal.operator ? last_error : null, failing: last_error !== null, ...page };
    },
  });
