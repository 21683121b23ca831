import { package_version as version } from "../../config.js";
import { health_api } from "../../core/api/health.js";
import { Unavailable } from "../../core/errors/errors.js";
import { routes } from "../http/route.js";

/** Probes look every few seconds. */
class NotReady extends Unavailable {
  readonly retry_after_s = 2;
}

export const healthRoutes = () =>
  routes(health_api, {
    async health({ service }) {
      const vitals = await service.health.vitals();
      const well = vitals.schema_current === true && vitals.janitor_late === false && (vitals.workers_live ?? 0) > 0;
      return {
        status: well ? ("ok" as const) : ("degraded" as const),
        version,
        database: { reachable: vitals.database_reachable },
        schema: { current: vitals.schema_current },
        janitor: { age_s: vitals.janitor_age_s, late: vitals.janitor_late },
        workers: { live: vitals.workers_live },
      };
    },
    async live({ service }) {
      const problem = service.health.stuck();
      if (problem !== null) throw new NotReady(problem, { hint: "end this process and start another" });
      return { status: "alive" as const, version };
    },
    async ready({ service }) {
      const problem = await service.health.notReady();
      if (problem !== null) throw new NotReady(problem, { hint: "send calls elsewhere until this is 200 again" });
      return { status: "ready" as const, version };
    },
    async preflight({ service }) {
      const findings = await service.health.preflight();
      return { ok: findings.every(({ level }) => level !== "fail"), findings };
    },
  });
