// The registry of this process: the built-in jobs and handlers, and the user's own from a module in TypeScript or JavaScript.
import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createRegistry, type Registry, type RegistryParts } from "../../core/declare/registry.js";
import { importModule } from "../../import_module.js";
import { builtinRegistry } from "../../jobs/index.js";
import { usage } from "./failure.js";

export const default_apps = [".ts", ".mts", ".js", ".mjs"].map((ending) => `fanfold.config${ending}`);

/** `app` as given on the command line, or the default file of the working folder when it is there. */
export async function loadRegistry(cwd: string, app: string | undefined): Promise<Registry> {
  const own = builtinRegistry();
  const here = default_apps.find((name) => existsSync(path.resolve(cwd, name)));
  const file = path.resolve(cwd, app ?? here ?? default_apps[0]!);
  if (!existsSync(file)) {
    if (app === undefined) return createRegistry(own);
    throw usage(`there is no module ${file}`, {
      next: "name a TypeScript or JavaScript file that exports { jobs, handlers }",
    });
  }
  const theirs = await importApp(file);
  return createRegistry({
    jobs: [...own.jobs, ...theirs.jobs],
    handlers: [...own.handlers, ...theirs.handlers],
    recipes: [...own.recipes, ...theirs.recipes],
  });
}

async function importApp(file: string): Promise<Required<RegistryParts>> {
  let exported: unknown;
  try {
    exported = (await importModule(pathToFileURL(file).href)).default;
  } catch (error) {
    // A declaration error of ours lists its problems better than a sentence around it would.
    if (error instanceof Error && "problems" in error) throw error;
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw usage(`${file} could not be loaded`, { why, next: "npx jiti <file> shows where it breaks" });
  }
  const { jobs, handlers, recipes } = (exported ?? {}) as { jobs?: unknown; handlers?: unknown; recipes?: unknown };
  const next = "export default { jobs: [defineJob(…)], handlers: [defineHandler(…)], recipes: [defineRecipe(…)] }";
  const parts = [jobs, handlers, recipes];
  if (parts.every((part) => part === undefined) || !parts.every(isListOrAbsent)) {
    throw usage(`the default export of ${file} is not { jobs: […], handlers: […], recipes: […] }`, { next });
  }
  return { jobs: jobs ?? [], handlers: handlers ?? [], recipes: recipes ?? [] } as Required<RegistryParts>;
}

function isListOrAbsent(value: unknown): boolean {
  return value === undefined || Array.isArray(value);
}
