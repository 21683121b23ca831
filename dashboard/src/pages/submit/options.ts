// The options of a submit as a schema of their own, so that they are a form like the parameters. The words are those of the API. Pure.
import { deadline_moments } from "../../../../src/core/declare/deadline.js";
import { type Retry, retry_limits } from "../../../../src/core/declare/retry.js";
import { isRecord, type Value } from "../../form/values.js";

const events = {
  type: "array",
  uniqueItems: true,
  items: { enum: ["job.completed", "job.partial_success", "job.failed", "job.cancelled"] },
  description: "What it hears of; all when left out",
};

function range(key: keyof Retry): { minimum: number; maximum: number } {
  return { minimum: retry_limits[key].least, maximum: retry_limits[key].most };
}

export const retry_schema = {
  type: "object",
  additionalProperties: false,
  description: "How its failed tasks are tried again, whatever its stages say; by what failed when left out",
  properties: {
    attempts: {
      type: "integer",
      ...range("attempts"),
      description: "Attempts at most; without within_s this number alone decides",
    },
    base_s: {
      type: "number",
      ...range("base_s"),
      default: 1,
      description: "The first wait; each is twice the one before",
    },
    cap_s: { type: "number", ...range("cap_s"), default: 60, description: "The longest wait" },
    within_s: {
      type: "number",
      ...range("within_s"),
      description: "For so many seconds from the first failure on",
    },
  },
};

export const options_schema = {
  type: "object",
  additionalProperties: false,
  properties: {
    mode: {
      enum: ["reuse", "resume", "force"],
      default: "reuse",
      description: "reuse: the job there is; resume: it goes on if it did not end well; force: one more run",
    },
    priority: { type: "integer", minimum: -32768, maximum: 32767, default: 0, description: "Higher runs first" },
    deadline_s: {
      anyOf: [{ type: "number", exclusiveMinimum: 0, maximum: 315_360_000 }, { type: "null" }],
      description:
        "Seconds from the start of its work until it is failed if it has not ended; null: however long it takes",
      default: 7200,
    },
    deadline_from: {
      enum: [...deadline_moments],
      description:
        "What the deadline counts from: the start of its work, or the submit, so that what it waits counts too",
      default: "start",
    },
    run_at: { type: "string", format: "date-time", description: "Not before this time; at once when left out" },
    correlation_id: { type: "string", maxLength: 200, description: "An id of yours, to find it in logs and traces" },
    group_id: {
      type: "string",
      maxLength: 100,
      pattern: "^[A-Za-z0-9][A-Za-z0-9._:\\-]*$",
      description: "The group it belongs to; it opens when it is first named",
    },
    labels: { type: "object", additionalProperties: { type: "string", maxLength: 1000 }, description: "To find it by" },
    depends_on: {
      type: "array",
      maxItems: 1000,
      items: { type: "string", pattern: "^[0-9a-f]{64}$" },
      description: "Whole ids of jobs that must have ended well before anything of this one starts",
    },
    on_dependency_failure: {
      enum: ["cancel", "run"],
      default: "cancel",
      description: "When one of them does not end well: cancel this one, or run it all the same",
    },
    require: {
      enum: ["success", "completed"],
      default: "success",
      description: "success: a partial success is enough; completed: it is not",
    },
    retry: retry_schema,
    webhooks: {
      type: "array",
      maxItems: 10,
      description: "Who else hears how it ends",
      items: {
        oneOf: [
          {
            type: "object",
            title: "an address",
            additionalProperties: false,
            required: ["url", "secret"],
            properties: {
              url: { type: "string", format: "uri", maxLength: 2048 },
              secret: {
                type: "string",
                pattern: "^secret://",
                description: "secret://name, of a secret the workers know",
              },
              events,
            },
          },
          {
            type: "object",
            title: "an endpoint of this tenant",
            additionalProperties: false,
            required: ["endpoint"],
            properties: { endpoint: { type: "string", pattern: "^we_[a-z0-9]{16}$" }, events },
          },
        ],
      },
    },
  },
};

export const option_names = Object.keys(options_schema.properties);

/** The options of a job that was submitted before, to begin with. */
export function optionsOfJob(job: Value): Value {
  if (!isRecord(job)) return {};
  const { labels, priority, group_id, correlation_id } = job;
  const kept: [string, Value][] = [];
  if (isRecord(labels) && Object.keys(labels).length > 0) kept.push(["labels", labels]);
  if (priority !== undefined && String(priority) !== "0") kept.push(["priority", priority]);
  if (typeof group_id === "string") kept.push(["group_id", group_id]);
  if (typeof correlation_id === "string") kept.push(["correlation_id", correlation_id]);
  return Object.fromEntries(kept);
}
