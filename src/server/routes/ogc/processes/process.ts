// A job type or a recipe as a process: what it takes, what it gives, how it may be executed.
import { z } from "zod";
import { request_body } from "../../../../core/api/platform/requests.js";
import type { JsonSchema } from "../../../../core/declare/parameter_schema.js";
import { NotFound } from "../../../../core/errors/errors.js";
import type { Engine } from "../../../../engine/engine.js";
import type { BlueprintRecord } from "../../../../engine/verbs/blueprints.js";
import type { RecipeRecord } from "../../../../engine/verbs/recipes.js";
import type { OgcLinks } from "../links.js";
import { NoSuchProcess } from "./exceptions.js";
import { asSchema30 } from "./schema_30.js";

/** Held no longer than this; a process that may take longer is only offered as a job. */
export const longest_sync_s = 60;
export const recipe_prefix = "recipe.";

export interface Process {
  id: string;
  /** Its job type; null for a recipe. */
  job_type: string | null;
  /** Its recipe; null for a job type. */
  data_type: string | null;
  description: string | null;
  version: number | null;
  /** JSON Schema of all inputs together, as the declaration has it. */
  inputs: JsonSchema | null;
  outputs: Record<string, Output>;
  /** The outputs are the properties of the result; otherwise the result is the one output. */
  has_named_outputs: boolean;
  offers_sync: boolean;
}

export interface Output {
  description?: string;
  schema: JsonSchema;
}

export const whole_result = "result";

export async function findProcess(engine: Engine, id: string, links: OgcLinks): Promise<Process> {
  try {
    if (id.startsWith(recipe_prefix)) return ofRecipe(await engine.recipes.get(id.slice(recipe_prefix.length)));
    return ofBlueprint(await engine.blueprints.get(id), engine);
  } catch (error) {
    if (error instanceof NotFound) throw new NoSuchProcess(id, links);
    throw error;
  }
}

export async function listProcesses(engine: Engine): Promise<Process[]> {
  const blueprints = await engine.blueprints.list();
  const recipes = await engine.recipes.list();
  return [...blueprints.map((one) => ofBlueprint(one, engine)), ...recipes.map(ofRecipe)];
}

export function ofBlueprint(blueprint: BlueprintRecord, { registry }: Pick<Engine, "registry">): Process {
  const { type, description, version, parameters, deadline_s, stages } = blueprint;
  const named = namedOutputs(registry.handlers.get(stages.at(-1)?.task ?? "")?.options.result);
  const waits_for_nobody = stages.every(({ gate }) => (gate ?? null) === null);
  return {
    id: type,
    job_type: type,
    data_type: null,
    description,
    version,
    inputs: parameters,
    outputs: named ?? { [whole_result]: { description: "What its last stage returned", schema: {} } },
    has_named_outputs: named !== null,
    offers_sync: deadline_s !== null && deadline_s <= longest_sync_s && waits_for_nobody,
  };
}

/** A handler that says what its result is, field by field, names the outputs. */
function namedOutputs(schema: z.ZodType | undefined): Record<string, Output> | null {
  if (!(schema instanceof z.ZodObject)) return null;
  const made = z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }) as JsonSchema;
  const outputs = Object.entries((made.properties ?? {}) as Record<string, JsonSchema>);
  if (outputs.length === 0) return null;
  const within = { $defs: made.$defs };
  return Object.fromEntries(outputs.map(([name, one]) => [name, { schema: asSchema30(one, { ...within, ...one }) }]));
}

const request_schema = z.toJSONSchema(
  request_body.pick({ dataset_id: true, resource_id: true, version_id: true, files: true, metadata: true }),
  { io: "input" },
) as JsonSchema;

export function ofRecipe({ data_type, description, version, parameters }: RecipeRecord): Process {
  const properties = { ...(request_schema.properties as JsonSchema), parameters: parameters ?? { type: "object" } };
  return {
    id: `${recipe_prefix}${data_type}`,
    job_type: null,
    data_type,
    description,
    version,
    inputs: { ...request_schema, properties },
    outputs: { [whole_result]: { description: "What its jobs returned, and the services they made", schema: {} } },
    has_named_outputs: false,
    offers_sync: false,
  };
}

export function summaryOf(process: Process, links: OgcLinks) {
  const { id, description, version, offers_sync } = process;
  return {
    id,
    title: id,
    ...(description === null ? {} : { description }),
    version: version === null ? "1" : String(version),
    jobControlOptions: [...(offers_sync ? ["sync-execute"] : []), "async-execute", "dismiss"],
    outputTransmission: ["value", "reference"],
    links: links.ofProcess(id),
  };
}

export function descriptionOf(process: Process, links: OgcLinks) {
  return { ...summaryOf(process, links), inputs: inputsOf(process), outputs: outputsOf(process) };
}

function inputsOf({ inputs }: Process) {
  const given = (inputs?.properties ?? {}) as Record<string, JsonSchema>;
  const required = new Set(inputs?.required as string[] | undefined);
  return Object.fromEntries(
    Object.entries(given).map(([name, one]) => {
      const { title, description, ...schema } = asSchema30(one, inputs);
      const told = {
        title: (title as string | undefined) ?? name,
        ...(description === undefined ? {} : { description }),
      };
      return [name, { ...told, minOccurs: required.has(name) ? 1 : 0, maxOccurs: 1, schema }];
    }),
  );
}

function outputsOf({ outputs }: Process) {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { description, schema }]) => [
      name,
      { title: name, ...(description === undefined ? {} : { description }), schema },
    ]),
  );
}

/** The media type of one output by itself, where its schema says one. */
export function mediaTypeOf({ schema }: Output): string | null {
  return typeof schema.contentMediaType === "string" ? schema.contentMediaType : null;
}
