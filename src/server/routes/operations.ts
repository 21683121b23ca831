// What an operator does about jobs, task types and workers.
import { operations_api } from "../../core/api/operations.js";
import type { Why } from "../../engine/recovery_records.js";
import type { Principal } from "../auth.js";
import { callFor, withCalls } from "../http_calls.js";
import { routes } from "../route.js";

export const operationsRoutes = () =>
  routes(operations_api, {
    async cancel({ engine, params, body: { reason, dry_run, ...body }, actor }) {
      const reply = await engine.cancelJob(params.job_id, reason ?? null, { dry_run, actor: actor(body.actor) });
      return { ...reply, status: reply.status as "cancelled" };
    },
    pause: ({ engine, params, body, actor }) =>
      engine.recovery.pauseJob(params.job_id, { ...body, actor: actor(body.actor) }),
    continue: ({ engine, params, body, actor }) =>
      engine.recovery.continueJob(params.job_id, { ...body, actor: actor(body.actor) }),
    resume: ({ engine, params, body, actor }) =>
      engine.recovery.resume(params.job_id, { ...body, actor: actor(body.actor) }),
    retry_stage: ({ engine, params, body, actor }) =>
      engine.recovery.retryStage(params.job_id, params.stage, { ...body, actor: actor(body.actor) }),
    retry_group: ({ engine, params, body: { signature, ...body }, actor }) =>
      engine.recovery.retryGroup(params.job_id, signature, { ...body, actor: actor(body.actor) }),
    approve: ({ engine, params, body: { stage, ...body }, actor }) =>
      engine.recovery.approve(params.job_id, stage ?? null, { ...body, actor: actor(body.actor) }),
    reject: ({ engine, params, body: { stage, reason, ...body }, actor }) =>
      engine.recovery.reject(params.job_id, stage ?? null, reason, { ...body, actor: actor(body.actor) }),
    async errors({ engine, params }) {
      const { job_id } = await engine.queries.jobState(params.job_id);
      const { groups, ...counts } = await engine.recovery.errors(job_id);
      return {
        ...{ job_id, ...counts },
        groups: groups.map((group) => ({ ...group, retry: callFor(group.retry) ?? group.retry })),
      };
    },
    why: async ({ engine, params, principal }) => explained(await engine.recovery.why(params.job_id), principal),
    verify: ({ engine, params, signal }) =>
      // A job of a million spilled files is read as long as somebody listens.
      engine.recovery.verify(params.job_id, () => signal.throwIfAborted()),
    events: ({ engine, params, query: { limit, cursor, order, kind } }) =>
      engine.queries.events(params.job_id, {
        ...{ limit, cursor: cursor ?? null, newest: order === "newest", kinds: kind ?? null },
      }),
    pause_type: ({ engine, params, body, actor }) =>
      engine.recovery.pauseType(params.task_type, { ...body, actor: actor(body.actor) }),
    continue_type: ({ engine, params, body, actor }) =>
      engine.recovery.continueType(params.task_type, { ...body, actor: actor(body.actor) }),
    alerts: ({ engine, query: { limit, cursor } }) => engine.recovery.alerts({ limit, cursor: cursor ?? null }),
    workers: ({ engine, principal }) => engine.queries.workersAndGone({ everything: principal.operator }),
  });

/** The server's role sees on which machines all workers run; its callers do not, unless they run the service. */
export function explained(why: Why, { operator }: Principal): Why & { call: string | null } {
  const evidence = operator ? why.evidence : (withoutMachines(why.evidence) as Why["evidence"]);
  // Sentences name commands too; `command` alone stays what one types.
  const told = Object.fromEntries(
    Object.entries(why).map(([key, text]) => [
      key,
      typeof text === "string" && key !== "command" ? withCalls(text) : text,
    ]),
  ) as unknown as Why;
  return { ...told, evidence, call: callFor(why.command) };
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
