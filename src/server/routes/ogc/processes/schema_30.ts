// A JSON Schema as OpenAPI 3.0 writes it, which is what descriptions of processes are written in: references are put in place, and what 3.0
// has other words for is said in those. Pure.
type Schema = Record<string, unknown>;

const kept = [
  "title",
  "description",
  "type",
  "format",
  "enum",
  "default",
  "multipleOf",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "required",
  "contentMediaType",
  "contentEncoding",
  "contentSchema",
] as const;

const max_depth = 12;

export function asSchema30(schema: unknown, root: unknown = schema, depth = 0): Schema {
  const given = resolved(schema, root);
  if (given === null || depth > max_depth) return {};
  const made: Schema = {};
  for (const name of kept) if (given[name] !== undefined) made[name] = given[name];
  const inner = (one: unknown) => asSchema30(one, root, depth + 1);
  writeType(made, given);
  if (Array.isArray(made.required) && made.required.length === 0) delete made.required;
  if (given.const !== undefined) made.enum = [given.const];
  writeBound(made, given, "exclusiveMinimum", "minimum");
  writeBound(made, given, "exclusiveMaximum", "maximum");
  if (isSchema(given.properties))
    made.properties = Object.fromEntries(Object.entries(given.properties).map(([name, one]) => [name, inner(one)]));
  if (given.additionalProperties !== undefined)
    made.additionalProperties = isSchema(given.additionalProperties)
      ? inner(given.additionalProperties)
      : given.additionalProperties;
  if (Array.isArray(given.prefixItems)) {
    made.items = { oneOf: given.prefixItems.map(inner) };
    made.minItems ??= given.prefixItems.length;
    if (given.items === undefined || given.items === false) made.maxItems ??= given.prefixItems.length;
  } else if (isSchema(given.items)) made.items = inner(given.items);
  else if (made.type === "array") made.items = {};
  for (const name of ["allOf", "anyOf", "oneOf"] as const) writeAlternatives(made, given, name, inner);
  if (isSchema(given.not) && Object.keys(given.not).length > 0) made.not = inner(given.not);
  return made;
}

function resolved(schema: unknown, root: unknown): Schema | null {
  let found = schema;
  for (let step = 0; step < 10; step++) {
    if (!isSchema(found)) return null;
    const { $ref: to, ...beside } = found;
    if (typeof to !== "string") return found;
    let at: unknown = to.startsWith("#") ? root : null;
    for (const name of to.slice(1).split("/").filter(Boolean))
      at = isSchema(at) ? at[name.replaceAll("~1", "/").replaceAll("~0", "~")] : null;
    found = isSchema(at) ? { ...at, ...beside } : null;
  }
  return null;
}

/** 3.0 has one type, and says apart whether null is one of the values. */
function writeType(made: Schema, { type }: Schema): void {
  if (!Array.isArray(type)) return;
  const types = type.filter((one) => one !== "null");
  delete made.type;
  if (types.length === 1) made.type = types[0];
  else if (types.length > 1)
    writeOneOf(
      made,
      types.map((one) => ({ type: one })),
    );
  if (types.length < type.length) made.nullable = true;
}

function writeBound(made: Schema, given: Schema, exclusive: string, inclusive: string): void {
  if (typeof given[exclusive] !== "number") return;
  made[inclusive] = given[exclusive];
  made[exclusive] = true;
}

function writeAlternatives(
  made: Schema,
  given: Schema,
  name: "allOf" | "anyOf" | "oneOf",
  inner: (one: unknown) => Schema,
) {
  const list = given[name];
  if (!Array.isArray(list)) return;
  const others = list.filter((one) => !(isSchema(one) && one.type === "null"));
  if (others.length < list.length) made.nullable = true;
  if (others.length === 1 && name !== "allOf") Object.assign(made, { ...inner(others[0]), ...described(made) });
  else if (others.length > 0 && name === "anyOf") writeOneOf(made, others.map(inner));
  else if (others.length > 0) made[name] = others.map(inner);
}

/** Where no value can be two of them, "any" is "one": the word by which clients know a value of mixed type. */
function writeOneOf(made: Schema, alternatives: Schema[]): void {
  const types = alternatives.map(({ type }) => (type === "integer" ? "number" : type));
  const is_one = types.every((type) => typeof type === "string") && new Set(types).size === types.length;
  made[is_one ? "oneOf" : "anyOf"] = alternatives;
}

function described({ title, description, nullable, default: usual }: Schema): Schema {
  const given = { title, description, nullable, default: usual };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
