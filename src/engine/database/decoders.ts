// How a column's text becomes a value, by type oid; the same for both drivers. What is not named here stays text:
// numeric (a number would round it), date and timestamp without zone (neither is a moment).
import { DatabaseError } from "./database.js";

type Decoder = (text: string) => unknown;

/** A wrong number would be worse than an error: 2^53 + 1 must not arrive as 2^53. */
function decodeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new DatabaseError("22003", `the integer ${text} is beyond 2^53 - 1 and cannot be read exactly`, {
    hint: "Select it as text (column::text).",
  });
}

function decodeMoment(text: string): Date {
  const value = new Date(text);
  if (!Number.isNaN(value.getTime())) return value;
  throw new DatabaseError("22008", `the timestamp ${text} is not a moment that a Date can hold`, {
    hint: "Select it as text (column::text).",
  });
}

const decodeBytes = (text: string) => Buffer.from(text.slice(2), "hex");
const decodeBoolean = (text: string) => text === "t";

/** Postgres's array text, `{1,NULL,"a,\"b"}`, of any depth. */
export function decodeArray(text: string, decode: Decoder): unknown[] {
  // A subscript prefix such as [0:1]= says where counting starts; the elements are the same.
  let at = text.indexOf("{");
  const readArray = (): unknown[] => {
    const elements: unknown[] = [];
    at++;
    while (text[at] !== "}") {
      if (text[at] === ",") at++;
      if (text[at] === "{") elements.push(readArray());
      else if (text[at] === '"') elements.push(decode(readQuoted()));
      else elements.push(readBare());
    }
    at++;
    return elements;
  };
  const readQuoted = (): string => {
    let value = "";
    at++;
    while (text[at] !== '"') {
      if (text[at] === "\\") at++;
      value += text[at++];
    }
    at++;
    return value;
  };
  const readBare = (): unknown => {
    const start = at;
    while (text[at] !== "," && text[at] !== "}") at++;
    const value = text.slice(start, at);
    return value === "NULL" ? null : decode(value);
  };
  return readArray();
}

const scalars: readonly { oid: number; array: number; decode: Decoder }[] = [
  { oid: 16, array: 1000, decode: decodeBoolean },
  { oid: 17, array: 1001, decode: decodeBytes },
  { oid: 20, array: 1016, decode: decodeInteger },
  { oid: 21, array: 1005, decode: Number },
  { oid: 23, array: 1007, decode: Number },
  { oid: 26, array: 1028, decode: Number },
  { oid: 700, array: 1021, decode: Number },
  { oid: 701, array: 1022, decode: Number },
  { oid: 114, array: 199, decode: JSON.parse },
  { oid: 3802, array: 3807, decode: JSON.parse },
  { oid: 1184, array: 1185, decode: decodeMoment },
  { oid: 1082, array: 1182, decode: String },
  { oid: 1114, array: 1115, decode: String },
  { oid: 1700, array: 1231, decode: String },
  { oid: 19, array: 1003, decode: String },
  { oid: 25, array: 1009, decode: String },
  { oid: 1043, array: 1015, decode: String },
  { oid: 2950, array: 2951, decode: String },
];

export const decoders: Readonly<Record<number, Decoder>> = Object.fromEntries(
  scalars.flatMap(({ oid, array, decode }) => [
    [oid, (text: string) => decode(text)],
    [array, (text: string) => decodeArray(text, decode)],
  ]),
);

/** A row as text, `(1,,"a ""quoted"" \\ b")`: what its columns are as text, null for null. */
export function decodeRow(text: string): (string | null)[] {
  const fields: (string | null)[] = [];
  for (let at = 1; ; at++) {
    const start = at;
    let field = "";
    for (let quoted = false; quoted || (text[at] !== "," && text[at] !== ")"); at++) {
      if (text[at] === "\\" || (quoted && text[at] === '"' && text[at + 1] === '"')) field += text[++at];
      else if (text[at] === '"') quoted = !quoted;
      else field += text[at];
    }
    fields.push(at === start ? null : field);
    if (text[at] === ")") return fields;
  }
}
