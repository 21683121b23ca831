// Which JSONPaths are taken of a tenant (`when`, `each`): only forms that look at each part of a value once for each of a few steps, so
// that nobody can keep the database busy with a few characters. A path is shortened step by step to the simplest of its kind, a path
// to @ or $, a value to 0, a predicate to #, and what does not come down to one of them is not taken. db/functions/blueprints/path_problem.sql
// says the same, by the same rules, and asks Postgres besides; test/vectors/json_paths.json holds the two together. Pure.
import { quoted } from "../errors/problems.js";

export interface PathProblem {
  problem: string;
  fix: string;
}

const max_length = 500;
const max_steps = 32;
const example = 'Write a JSONPath, e.g. "$.tiles[*]".';
const value = '(-?0|""|true|false|null)';
const compare = "(==|!=|<>|<=|>=|<|>)";
const place = "(0|last(-0)?)";

/** `is_condition`: of `when`, which sees the figures of stages; `each` does not. */
export function pathProblem(path: unknown, is_condition: boolean): PathProblem | null {
  if (typeof path !== "string") return { problem: `must be a JSONPath in a string, not ${quoted(path)}`, fix: example };
  const length = [...path].length;
  if (length > max_length) {
    const fix = "Select less here, and the rest in the handler or in a function that plans.";
    return { problem: `is ${length} characters long; at most ${max_length}`, fix };
  }
  if (/\p{Control}|\p{Surrogate}/u.test(path)) return { problem: "holds a control character", fix: "Leave it out." };
  const malformed = malformation(path);
  if (malformed !== null) return { problem: malformed, fix: example };
  const plain = withoutWords(path, is_condition);
  const steps = shortened(plain);
  const count = steps.split(".k").length - 1;
  if (count > max_steps)
    return { problem: `takes ${count} steps; at most ${max_steps}`, fix: "Name fewer fields on the way." };
  const left = reduced(steps);
  return left === "$" || left === "#" ? null : reasonOf(plain, left, is_condition);
}

/** What can be said of its grammar without Postgres. */
function malformation(path: string): string | null {
  if (!path.includes("$")) return "does not look at anything: a JSONPath starts at $";
  const outside_strings = withoutStrings(path);
  if (outside_strings.replaceAll('""', "").includes('"')) return "has a string that does not end";
  const open: string[] = [];
  for (const character of outside_strings) {
    if (character === "(" || character === "[") open.push(character);
    else if (character === ")" && open.pop() !== "(") return "has unbalanced brackets";
    else if (character === "]" && open.pop() !== "[") return "has unbalanced brackets";
  }
  return open.length === 0 ? null : "has unbalanced brackets";
}

function withoutStrings(path: string): string {
  return path.replace(/"(\\.|[^"\\])*"/g, '""');
}

function withoutWords(path: string, is_condition: boolean): string {
  const plain = withoutStrings(path)
    .replace(/ +/g, " ")
    .replace(/ ?([^A-Za-z0-9_ ]) ?/g, "$1")
    .replace(/^ | $/g, "")
    .replace(/^(strict|lax)( |([$(!]))/, "$3");
  // Figures of the engine's own: one value each.
  const figure = /\$\.stages\.[a-z][a-z0-9_]*\.(status|total|completed|failed|skipped|cancelled)(?![A-Za-z0-9_.?([])/g;
  return (is_condition ? plain.replace(figure, "0") : plain).replace(
    /\.(type|size|double|ceiling|floor|abs)\(\)/g,
    ".k",
  );
}

function shortened(plain: string): string {
  return plain
    .replace(/\.(\*|""|[A-Za-z_][A-Za-z0-9_]*)/g, ".k")
    .replace(/[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?/g, "0")
    .replace(new RegExp(`\\[(\\*|${place}( to ${place})?)\\]`, "g"), ".k");
}

/** What stands inside filters first: there @ is all that may be looked at, so that a $ in there is left over. */
function reduced(steps: string): string {
  let text = steps;
  for (const root of ["@", "\\$"]) {
    const kept = root === "@" ? "@" : "$$";
    text = text.replace(new RegExp(`${root}(\\.k${root === "@" ? "" : "|\\?#"})+`, "g"), kept);
    for (let before = ""; before !== text; ) {
      before = text;
      text = text
        .replace(new RegExp(root + compare + value, "g"), "#")
        .replace(new RegExp(`${value}${compare}(${root}|${value})`, "g"), "#")
        .replace(new RegExp(`${root} ?starts with""`, "g"), "#")
        .replace(new RegExp(`exists\\(${root}\\)`, "g"), "#")
        .replace(/\(#\) ?is unknown/g, "#")
        .replace(/!#|\(#\)|#(&&|\|\|)#/g, "#");
    }
    if (/@|\?\(/.test(text)) return text;
  }
  return text;
}

function reasonOf(plain: string, left: string, is_condition: boolean): PathProblem {
  const told: [boolean, string, string][] = [
    [
      /\.\*\*/.test(plain),
      "has .**, which looks at everything below everything",
      "Name the fields on the way: $.a[*].b.",
    ],
    [/[^.]like_regex/.test(plain), "has like_regex, which can be made to take for ever", 'Use ==, or starts with "…".'],
    [/,/.test(plain), "has a list of subscripts", "Write one: [0], [*], [0 to 5] or [last]."],
    [
      /\.k\(|[@$]\(/.test(left),
      "calls a method that is not taken",
      "Of methods there are type(), size(), double(), ceiling(), floor() and abs().",
    ],
    [/\$[A-Za-z0-9_"]/.test(left), "names a variable, and there are none", "Compare with a value."],
    [/@\?#/.test(left), "has a filter inside a filter", 'Compare what lies below directly: ?(@.list[*].name == "a").'],
    [
      new RegExp(`[@$](\\.k)*${compare}[@$]`).test(left),
      "compares two paths",
      `Compare a path with a value${is_condition ? ", or with a figure of a stage: $.stages.<name>.completed." : "."}`,
    ],
    [/\?\([^#]*\$/.test(left), "looks at $ inside a filter", "Inside ?( ) look at @ only, and compare it with values."],
    [/[0-9]{21}|[0-9][eE][+-]?[0-9]{4}/.test(plain), "has a number of more than 20 digits", "Write it shorter."],
    [
      /[-+*/%]/.test(left),
      "calculates",
      'Compare a path with a value that is ready; names with - in them go into quotes: $."a-b".',
    ],
  ];
  const found = told.find(([applies]) => applies);
  if (found !== undefined) return { problem: found[1], fix: found[2] };
  return {
    problem: "is not of a form that is taken",
    fix: 'Write e.g. $.tiles[*], $.tiles[*] ? (@.size > 3 && exists(@.url)) or $.parameters.publish == true; other names go into quotes: $."é".',
  };
}
