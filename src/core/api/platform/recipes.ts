// The recipes by which requests become jobs, over HTTP: those the service knows, and those a tenant saved as data. Pure.
import { z } from "zod";
import { endpointsOf } from "../endpoint.js";
import { actor, reason, record, time } from "../fields.js";
import { data_type } from "./requests.js";

export const recipe_record = z
  .object({
    data_type: z.string(),
    source: z.enum(["registered", "saved"]),
    description: z.string().nullable(),
    accepts: record.nullable(),
    parameters: record.nullable().describe("JSON Schema of the parameters; null: any"),
    approval: z.boolean(),
    jobs: z.array(
      z.looseObject({
        number: z.int(),
        name: z.string(),
        job: z.string(),
        sequence: z.int(),
        after: z.array(z.int()),
        importance: z.string(),
      }),
    ),
    version: z.int().nullable(),
    saved_at: time.nullable(),
    saved_by: z.string().nullable(),
    declaration: record.nullable().describe("What was sent, if the recipe is a saved one"),
  })
  .meta({ id: "Recipe" });

const recipe_declaration = z
  .looseObject({
    description: z.unknown().optional(),
    accepts: z.unknown().optional().describe("{ extensions, min_files?, max_files? }"),
    parameters: z.unknown().optional().describe("JSON Schema of an object"),
    approval: z.unknown().optional(),
    jobs: z.unknown().optional().describe("As in defineRecipe, with templates and conditions as data"),
  })
  .meta({
    id: "RecipeDeclaration",
    examples: [
      {
        accepts: { extensions: [".txt"] },
        jobs: [{ name: "greet", job: "hello_world", parameters: { name: "{request.dataset_id}" } }],
      },
    ],
  });

const endpoint = endpointsOf({ tag: "platform", scope: "read" });
const recipe_params = z.strictObject({ data_type });

export const recipes_api = {
  list: endpoint("GET /api/platform/recipes", {
    cli: "requests recipes",
    summary: "The recipes there are: what may be asked for, and which jobs it becomes",
    reply: z.object({ recipes: z.array(recipe_record) }),
  }),
  get: endpoint("GET /api/platform/recipes/{data_type}", {
    summary: "One recipe",
    params: recipe_params,
    reply: recipe_record,
    errors: [404],
  }),
  save: endpoint("PUT /api/platform/recipes/{data_type}", {
    scope: "admin",
    summary: "Save a recipe as data",
    description:
      "The declaration of defineRecipe as JSON: `parameters` is a JSON Schema, templates and conditions are data. All problems are " +
      "told at once. Requests that exist keep the recipe they were submitted with.",
    params: recipe_params,
    body: recipe_declaration,
    reply: z.object({ recipe: recipe_record, changed: z.boolean() }),
    other_answers: {
      201: { description: "It is new", schema: z.object({ recipe: recipe_record, changed: z.boolean() }) },
    },
    errors: [409],
  }),
  remove: endpoint("DELETE /api/platform/recipes/{data_type}", {
    scope: "admin",
    sql: "platform.remove_recipe",
    summary: "Remove a saved recipe",
    description: "Requests of it go on; there can be no new ones.",
    params: recipe_params,
    body: z.strictObject({ reason, actor }).prefault({}),
    reply: z.object({ data_type: z.string(), changed: z.boolean() }),
    errors: [409],
  }),
};
