// Which names may be used for what. SQL checks the same rules with the same patterns. Pure.
import { quoted } from "../errors/problems.js";

/** Job types and stage names. */
export const name_pattern = /^[a-z][a-z0-9_]{0,62}$/;
/** Task types, which are the names of handlers. */
export const task_type_pattern = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/;
export const max_name_bytes = 63;
export const max_index_characters = 200;
export const priority_range = { lowest: -32768, highest: 32767 } as const;

/** null when the name is good, else what is wrong with it. */
export function nameProblem(name: unknown): string | null {
  if (typeof name !== "string") return `must be a string, not ${quoted(name)}`;
  if (name_pattern.test(name)) return null;
  return `${quoted(name)} is not a name: ${name_rule}`;
}

export const name_rule = "a small letter, then small letters, digits and _, at most 63 characters";

export function taskTypeProblem(name: unknown): string | null {
  if (typeof name !== "string") return `must be a string, not ${quoted(name)}`;
  if (task_type_pattern.test(name) && name.length <= max_name_bytes) return null;
  return `${quoted(name)} is not a task type: ${task_type_rule}`;
}

export const task_type_rule = "words of small letters, digits and _ joined by dots, at most 63 characters";

/** The semantic name of a task inside its stage, e.g. `tile-x5-y10`. */
export function indexProblem(index: unknown): string | null {
  if (typeof index !== "string") return `must be a string, not ${quoted(index)}`;
  if (index === "") return "is empty";
  // Counted as Postgres counts: characters, not UTF-16 units.
  const length = index.length > 2 * max_index_characters ? index.length : Array.from(index).length;
  if (length > max_index_characters) return `has ${length} characters; the limit is ${max_index_characters}`;
  if (/\p{Control}/u.test(index)) return `${quoted(index)} holds a control character`;
  if (/\p{Surrogate}/u.test(index)) return `${quoted(index)} holds half a surrogate pair`;
  return null;
}

/** What a terminal would obey or nobody sees: control characters, marks of direction, blanks without width. Not the joiners that
 * words of some languages are written with. */
const unseen =
  "\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb";
/** One line that people read: what a view, a key, a tenant, a group is called; the keys and values of labels. */
export const shown_name_pattern = new RegExp(`^[^${unseen}]*$`);
/** Lines that people read: descriptions. */
export const shown_lines_pattern = new RegExp(`^(?:[^${unseen}]|[\\n\\t])*$`);
/** In the words of app.shown_problem, which guards what psql sends. */
export const shown_rule = "holds a control character or an invisible mark";

/** é as e and an accent is another name that looks the same. Parameters are data, and are kept as they come. */
export const isComposed = (name: string): boolean => name === name.normalize("NFC");
export const composed_rule = "is not composed: one of its letters is written as a letter and a mark";
