// Blueprints over HTTP: those the service knows, and those a tenant saved as data. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { actor, job_type, json, reason, record, time } from "./fields.js";

const problem = z.object({ path: z.string(), problem: z.string(), fix: z.string() });

export const blueprint_record = z
  .object({
    type: z.string(),
    source: z.enum(["registered", "saved"]),
    description: z.string().nullable(),
    parameters: record.nullable().describe("JSON Schema of the parameters; null: any"),
    identity: z.array(z.string()).nullable(),
    deadline_s: z.int().nullable().describe("Null: however long it takes"),
    stages: z.array(
      z.looseObject({
        number: z.int(),
        name: z.string(),
        task: z.string(),
        parallelism: z.string(),
        after: z.array(z.int()),
        importance: z.string(),
      }),
    ),
    version: z.int().nullable().describe("Saved blueprints only: goes up by one with each change"),
    saved_at: time.nullable(),
    saved_by: z.string().nullable(),
    declaration: record.nullable().describe("Saved blueprints only: the declaration as it was sent"),
  })
  .meta({ id: "Blueprint" });

/** Read in full by the same code as defineJob, which tells every problem at once. */
const declaration = z
  .looseObject({
    description: json.optional().describe("What the job is for, in words"),
    parameters: json.optional().describe("JSON Schema of an object"),
    identity: json.optional().describe("The parameters that make two jobs different; all when left out"),
    deadline_s: json
      .optional()
      .describe(
        "Seconds from the start of its work until a job of this type is failed if it has not ended; null: however long it takes",
      ),
    stages: json.optional().describe("As in defineJob, with tasks and conditions as data"),
  })
  .meta({
    id: "BlueprintDeclaration",
    examples: [
      {
        description: "One greeting per name",
        parameters: {
          type: "object",
          properties: { names: { type: "array", items: { type: "string" } } },
          required: ["names"],
        },
        stages: [
          {
            name: "greet",
            task: "hello.greet",
            tasks: { each: "$.parameters.names[*]", parameters: { name: "{item}" } },
          },
        ],
      },
    ],
  });

const endpoint = endpointsOf({ tag: "blueprints", scope: "read", params: { job_type } });

export const blueprints_api = {
  list: endpoint("GET /api/blueprints", {
    cli: "blueprints",
    summary: "The job types there are",
    reply: z.object({ blueprints: z.array(blueprint_record) }),
  }),
  get: endpoint("GET /api/blueprints/{job_type}", {
    cli: "blueprints show {job_type}",
    summary: "One job type: its parameters and stages",
    reply: blueprint_record,
  }),
  save: endpoint("PUT /api/blueprints/{job_type}", {
    summary: "Save a job type as data",
    description:
      "The declaration of defineJob as JSON: `parameters` is a JSON Schema, plans and conditions are data. All problems are reported " +
      "at once. Jobs that exist keep the blueprint they were submitted with.",
    scope: "admin",
    body: declaration,
    reply: z.object({ blueprint: blueprint_record, changed: z.boolean(), warnings: z.array(problem) }),
    other_answers: {
      201: {
        description: "It is new",
        schema: z.object({ blueprint: blueprint_record, changed: z.boolean(), warnings: z.array(problem) }),
      },
    },
    errors: [409],
  }),
  validate: endpoint("POST /api/blueprints/validate", {
    summary: "Say what saving would say, and save nothing",
    body: declaration.safeExtend({ type: json.optional() }).meta({ id: "BlueprintToValidate" }),
    reply: z.object({ ok: z.boolean(), problems: z.array(problem), warnings: z.array(problem) }),
    repeatable: true,
  }),
  remove: endpoint("DELETE /api/blueprints/{job_type}", {
    sql: "remove_blueprint",
    summary: "Remove a saved job type",
    description: "Jobs of it go on; there can be no new ones. Saving it again makes the next version.",
    scope: "admin",
    body: z.strictObject({ reason, actor }).prefault({}),
    reply: z.object({ type: z.string(), changed: z.boolean() }),
    errors: [409],
  }),
};
