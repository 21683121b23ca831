// What the forms of webhooks ask for, as schemas. Pure.

const job_events = ["job.completed", "job.partial_success", "job.failed", "job.cancelled"];
const other_events = ["group.completed", "group.partial_success", "group.failed", "group.cancelled", "alert.raised"];
const secret = {
  type: "string",
  pattern: "^secret://[a-z0-9]",
  description: "secret://name of one the workers know; a new one is made when left out",
};

export function endpointSettings(is_new: boolean) {
  return {
    type: "object",
    additionalProperties: false,
    required: ["url"],
    properties: {
      url: { type: "string", format: "uri", minLength: 8, maxLength: 2048, examples: ["https://example.com/hooks"] },
      description: { type: "string", maxLength: 500, description: "What it is for" },
      timeout_s: {
        type: "integer",
        minimum: 1,
        maximum: 30,
        default: 20,
        description: "How long it may take to answer",
      },
      events: {
        type: "array",
        uniqueItems: true,
        items: { enum: [...job_events, ...other_events] },
        description: "What it hears of: all of jobs when left out; with none ticked only what jobs name it for",
      },
      ...(is_new ? { secret } : {}),
    },
  };
}

export const secret_rotation = {
  type: "object",
  additionalProperties: false,
  properties: {
    overlap_s: {
      type: "number",
      minimum: 0,
      maximum: 2_592_000,
      default: 86_400,
      description: "Seconds for which deliveries are signed with both",
    },
    secret,
  },
};

export const replayed_span = {
  type: "object",
  additionalProperties: false,
  properties: {
    from: { type: "string", format: "date-time", description: "That came to be at or after this" },
    to: { type: "string", format: "date-time", description: "That came to be before this" },
    statuses: {
      type: "array",
      minItems: 1,
      uniqueItems: true,
      items: { enum: ["pending", "delivered", "failed", "discarded"] },
    },
  },
};
