// Which alternative of a schema a value is of, and what to begin one with. Pure.
import { type Budget, checkValue } from "./checks.js";
import { type Alternative, constProperties, readSchema, type Schema } from "./schema.js";
import { fromPlain, isOfKind, isRecord, sameValue, Unfinished, type Value } from "./values.js";

/** The alternative that fits best: by its fixed fields, by its kind, by having the fewest problems. */
export function chosenAlternative(
  alternatives: readonly Alternative[],
  value: Value,
  root: Schema,
  budget: Budget = { left: 20_000 },
): number | null {
  if (value === undefined) return null;
  const scores = alternatives.map(({ schema }) => {
    const read = readSchema(schema, root);
    if (read.shape.kind === "object" && isRecord(value)) {
      const fixed = constProperties(schema, root);
      const fits = fixed.filter(([name, one]) => sameValue(value[name], fromPlain(one))).length;
      if (fits < fixed.length) return fits - 1_000;
      const known = new Set(read.shape.properties.map(({ name }) => name));
      const strange = Object.keys(value).filter((name) => !known.has(name)).length;
      return 100 + fits * 10 - strange - checkValue(schema, value, root, true, budget).length;
    }
    // A number that is being typed is on its way to be one.
    const is_begun = read.shape.kind === "number" && value instanceof Unfinished;
    if (!is_begun && !isOfKind(read.shape.kind, value)) return -2_000;
    return 50 - checkValue(schema, value, root, true, budget).length;
  });
  const best = Math.max(...scores);
  return best <= -2_000 ? null : scores.indexOf(best);
}

/** What a form begins with: fixed fields are given, objects that must be there are, and all else is for people to say. */
export function starterOf(schema: Schema, root: Schema, depth = 0): Value {
  const { shape } = readSchema(schema, root);
  if (shape.kind === "const") return shape.value;
  if (shape.kind === "object") {
    const entries = shape.properties.flatMap(({ name, required, schema: part }): [string, Value][] => {
      if (!required || depth > 6) return [];
      const inner = starterOf(part, root, depth + 1);
      return inner === undefined || (Array.isArray(inner) && inner.length === 0) ? [] : [[name, inner]];
    });
    return Object.fromEntries(entries);
  }
  if (shape.kind === "record") return {};
  if (shape.kind === "list") return [];
  if (shape.kind === "tuple") return shape.items.map((item) => starterOf(item, root, depth + 1));
  return undefined;
}
