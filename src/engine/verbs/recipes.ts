// The recipes there are for a tenant: those the process registered, and those the tenant saved as data. A registered one wins.
import { recipes_api } from "../../core/api/platform/recipes.js";
import { readJsonSchemaText } from "../../core/declare/json_schema.js";
import type { JsonSchema } from "../../core/declare/parameter_schema.js";
import { buildRecipe, type Recipe, type RecipeData } from "../../core/declare/recipe.js";
import type { Registry } from "../../core/declare/registry.js";
import { isRecord, Report } from "../../core/declare/report.js";
import { route } from "../../core/declare/routing.js";
import { Conflict, DeclarationError, NotFound } from "../../core/errors/errors.js";
import { type Problem, quoted, suggestion } from "../../core/errors/problems.js";
import type { Queryable } from "../database/database.js";
import type { Kept } from "./blueprints.js";
import { asked } from "./reply.js";
import { callVerb } from "./verb.js";

export type RecipeRecord = RecipeData & Kept;

interface Saved {
  data_type: string;
  version: number;
  recipe: RecipeData;
  saved_at: string;
  saved_by: string;
  declaration: Record<string, unknown>;
}

export class Recipes {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
    private readonly registry: Registry,
  ) {}

  /** The recipe that a request goes by; throws what would be accepted. */
  async routed(request: { data_type?: string | undefined; files?: readonly string[] | undefined }): Promise<Recipe> {
    const own = [...this.registry.recipes.values()];
    // Most requests name what is in code, or are found there.
    const known = request.data_type === undefined ? undefined : this.registry.recipes.get(request.data_type);
    if (known !== undefined) return known;
    const saved = (await this.#saved(null)).filter(({ data_type }) => !this.registry.recipes.has(data_type));
    const found = route([...own.map(({ recipe }) => recipe), ...saved.map(({ recipe }) => recipe)], request);
    const registered = this.registry.recipes.get(found.data_type);
    return registered ?? this.#made(saved.find(({ data_type }) => data_type === found.data_type)!);
  }

  async list(): Promise<RecipeRecord[]> {
    const saved = (await this.#saved(null)).filter(({ data_type }) => !this.registry.recipes.has(data_type));
    return [...[...this.registry.recipes.values()].map(ofRegistered), ...saved.map(ofSaved)].sort((a, b) =>
      a.data_type < b.data_type ? -1 : 1,
    );
  }

  async get(data_type: string): Promise<RecipeRecord> {
    const registered = this.registry.recipes.get(data_type);
    if (registered !== undefined) return ofRegistered(registered);
    const [saved] = await this.#saved(data_type);
    if (saved !== undefined) return ofSaved(saved);
    const names = (await this.list()).map((recipe) => recipe.data_type);
    throw new NotFound(`There is no recipe ${quoted(data_type)}.`, { hint: suggestion(data_type, names) });
  }

  async save(data_type: string, declaration: Record<string, unknown>, { actor }: { actor?: string } = {}) {
    this.#refuseRegistered(data_type);
    const { recipe, problems } = readRecipe(data_type, declaration);
    if (problems.length > 0) throw new DeclarationError(problems);
    const request = JSON.stringify({ tenant: this.tenant, declaration, recipe: recipe.recipe, actor });
    const reply = await asked<{ created: boolean; changed: boolean }>(
      this.db.sql`select platform.put_recipe(${request}::text::json) as reply`,
    );
    return { ...reply, recipe: await this.get(data_type) };
  }

  remove(data_type: string, given: { reason?: string | undefined; actor?: string } = {}) {
    this.#refuseRegistered(data_type);
    return callVerb(this.#here(), recipes_api.remove, { data_type, ...given });
  }

  #here() {
    return { db: this.db, tenant: this.tenant };
  }

  #refuseRegistered(data_type: string): void {
    if (!this.registry.recipes.has(data_type)) return;
    throw new Conflict(`the recipe ${quoted(data_type)} is in code`, {
      hint: "choose another data type, or change the code",
    });
  }

  #saved(data_type: string | null): Promise<Saved[]> {
    return asked(this.db.sql`select platform.saved_recipes(${data_type}::text, ${this.tenant}::text) as reply`);
  }

  #made({ data_type, declaration }: Saved): Recipe {
    const { recipe, problems } = readRecipe(data_type, declaration);
    if (problems.length > 0) throw new DeclarationError(problems);
    return recipe;
  }
}

/** A recipe declared as data: read by the same code as defineRecipe, with a JSON Schema for its parameters and no functions. */
export function readRecipe(data_type: string, declaration: unknown): { recipe: Recipe; problems: Problem[] } {
  const problems: Problem[] = [];
  const report = new Report(problems, `recipe ${data_type}`);
  const given = isRecord(declaration) ? declaration : {};
  const has_schema = given.parameters !== undefined && given.parameters !== null;
  const schema = has_schema ? readJsonSchemaText(given.parameters, report) : null;
  const { parameters: _, ...rest } = given;
  const built = buildRecipe({ ...rest, data_type, ...(schema === null ? {} : { parameters: schema }) }, report);
  const parameters = schema === null ? null : (given.parameters as JsonSchema);
  const recipe: Recipe = Object.freeze({
    kind: "recipe" as const,
    ...built,
    recipe: { ...built.recipe, parameters },
    is_sent: true,
    problems,
  });
  return { recipe, problems };
}

function ofRegistered({ recipe }: Recipe): RecipeRecord {
  return { ...recipe, source: "registered", version: null, saved_at: null, saved_by: null, declaration: null };
}

function ofSaved({ recipe, version, saved_at, saved_by, declaration }: Saved): RecipeRecord {
  return { ...recipe, source: "saved", version, saved_at, saved_by, declaration };
}
