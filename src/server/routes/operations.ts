// What an operator does about jobs, task types and workers.

import { operations_api } from "../../core/api/operations.js";
import { asCall } from "../../core/shown/action.js";
import type { Why } from "../../engine/verbs/operator.js";
import type { Principal } from "../access/auth.js";
import { routes } from "../http/route.js";

export const operationsRoutes = () =>
  routes(operations_api, {
    async errors({ engine, params }) {
      const { job_id } = await engine.queries.jobState(params.job_id);
      return { job_id, ...(await engine.operate.errors(job_id)) };
    },
    why: async ({ engine, params, principal }) => explained(await engine.operate.why(params.job_id), principal),
    verify: ({ engine, params, query, signal }) =>
      // A job of a million spilled files is read as long as somebody listens.
      engine.operate.verify(params.job_id, () => signal.throwIfAborted(), { checksum: query.checksum === "true" }),
    events: ({ engine, params, query: { limit, cursor, order, kind } }) =>
      engine.queries.events(params.job_id, {
        limit,
        cursor: cursor ?? null,
        newest: order === "newest",
        kinds: kind ?? null,
      }),
    workers: ({ engine, principal }) => engine.queries.workersAndGone({ everything: principal.operator }),
  });

/** The server's role sees on which machines all workers run; its callers do not, unless they run the service. */
export function explained(why: Why, { operator }: Principal): Why & { call: string | null } {
  const evidence = operator ? why.evidence : (withoutMachines(why.evidence) as Why["evidence"]);
  return { ...why, evidence, call: why.action && asCall(why.action) };
}

function withoutMachines(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMachines);
  if (typeof value !== "object" || value === null) return value;
  const is_worker = Object.hasOwn(value, "worker_id");
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(is_worker && (key === "host" || key === "pid")))
      .map(([key, inner]) => [key, withoutMachines(inner)]),
  );
}
