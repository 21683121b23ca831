// The worker protocol as data: limits, errors, and how an error of a handler is classified. Made of the very tables that the code reads. Pure.
import { z } from "zod";
import { error_table } from "../../errors/errors.js";
import { category_rules } from "../../errors/foreign_errors.js";
import { zone_names } from "../../places/zones.js";
import type { categories } from "../../shown/statuses.js";
import { log_levels, truncated_log } from "../../task/log_line.js";
import { duration_bounds_s } from "../../task/work_counts.js";
import { endpointsOf } from "../endpoint.js";
import { effect_kinds } from "./effects.js";
import { protocol_limits } from "./limits.js";

/** Raised when a worker that follows the one before would go wrong. */
export const protocol_version = 1;

export const protocol_document = {
  protocol: protocol_version,
  limits: protocol_limits,
  errors: Object.fromEntries(
    Object.entries(error_table).map(([code, { http_status, category }]) => [code, { http_status, category }]),
  ),
  /** What a worker does when a call is answered so; see docs/worker-protocol.md. */
  answers: {
    again: { statuses: [429, 502, 503, 504], first_wait_s: 0.1, longest_wait_s: 5 },
    register_anew: ["stale_worker"],
    drop_task: ["not_allowed_now"],
    stop: { statuses: [401, 403] },
  },
  categories: {
    transient: { tried_again: true, spends_attempt: true },
    throttled: { tried_again: true, spends_attempt: false },
    permanent: { tried_again: false, spends_attempt: true },
    contract: { tried_again: false, spends_attempt: true },
    crash: { tried_again: true, spends_attempt: true },
  } satisfies Record<(typeof categories)[number], object>,
  category_rules,
  effects: effect_kinds,
  zones: zone_names,
  log_levels,
  truncated_log,
  duration_bounds_s,
};

const endpoint = endpointsOf({ tag: "work", scope: null });

export const protocol_api = {
  protocol: endpoint("GET /api/work/protocol.json", {
    summary: "The worker protocol as data",
    description:
      "Limits, errors and what they mean, and the rules by which an error of a handler is transient, throttled or permanent: " +
      "what a worker in any language reads instead of copying it.",
    reply: z.looseObject({ protocol: z.int(), limits: z.record(z.string(), z.unknown()) }),
  }),
};
