// Which recipe a request goes by: the one of its data type, or the one that takes files of such names, so many of them. SQL has the same
// rule (db/functions/platform/recipes/accepts.sql). Pure.
import { BadRequest } from "../errors/errors.js";
import { quoted, suggestion } from "../errors/problems.js";
import type { RecipeData } from "./recipe.js";

export type Routed = Pick<RecipeData, "data_type" | "accepts">;

export function accepts(accepted: RecipeData["accepts"], files: readonly string[]): boolean {
  if (accepted === null || files.length < accepted.min_files || files.length > accepted.max_files) return false;
  return files.every((file) => accepted.extensions.some((end) => file.toLowerCase().endsWith(end.toLowerCase())));
}

/** Several may fit: the one that takes the fewest files goes first, and then the one of the fewest kinds. Throws what would be accepted. */
export function route<R extends Routed>(
  recipes: readonly R[],
  { data_type, files = [] }: { data_type?: string | null | undefined; files?: readonly string[] | undefined },
): R {
  const known = [...recipes].sort((a, b) => (a.data_type < b.data_type ? -1 : 1));
  if (data_type !== undefined && data_type !== null) {
    const found = known.find((recipe) => recipe.data_type === data_type);
    if (found !== undefined) return found;
    const fix = suggestion(
      data_type,
      known.map((recipe) => recipe.data_type),
    );
    throw unroutable(known, `there is no recipe for data type ${quoted(data_type)}`, "data_type", fix);
  }
  const fitting = known
    .filter((recipe) => accepts(recipe.accepts, files))
    .sort(
      ({ accepts: a }, { accepts: b }) => a!.max_files - b!.max_files || a!.extensions.length - b!.extensions.length,
    );
  if (fitting[0] !== undefined) return fitting[0];
  const what = files.length === 0 ? "it names neither a data_type nor files" : "no recipe takes these files";
  throw unroutable(known, what, "files", "Name a data_type, or send files that a recipe takes.");
}

function unroutable(recipes: readonly Routed[], what: string, field: string, fix: string): BadRequest {
  const accepted = recipes.map(({ data_type, accepts: one }) => {
    if (one === null) return data_type;
    const number = one.max_files === 1 ? "one file" : `${one.min_files} to ${one.max_files} files`;
    return `${data_type} (${number}: ${one.extensions.join(", ")})`;
  });
  return new BadRequest(`the request cannot be routed: ${what}`, {
    hint: accepted.length === 0 ? "there are no recipes yet" : `accepted: ${accepted.join("; ")}`,
    problems: [{ path: `body.${field}`, problem: what, fix }],
  });
}
