// fanfold why: the first reason a job or a task does not move, as the rows prove it, and the one command to run.

import { printable } from "../../core/values/printable.js";
import type { Why } from "../../engine/verbs/operator.js";
import type { Cli } from "../terminal/command.js";
import { count, seconds } from "../terminal/figures.js";
import { answering } from "../terminal/session.js";
import { moment } from "../terminal/summary.js";
import { colours } from "../terminal/view.js";

export function addWhy(cli: Cli): void {
  cli.program
    .command("why")
    .summary("say why a job or a task does not move")
    .description(
      "Says why a job or a task does not move: the first reason that the database's rows prove, since when, when it heals by\n" +
        "itself, and the one command to run. Changes nothing; exits with 0 whatever it says.",
    )
    .argument("<id>", "job id or the first characters of it, or a task id such as 12-7")
    .examples("fanfold why 3f2a9c", "fanfold why 12-7", "fanfold why 3f2a9c --json | jq .evidence")
    .action((id: string) => explainWhy(cli, id));
}

async function explainWhy(cli: Cli, id: string): Promise<void> {
  await answering(
    cli,
    ({ engine }) => engine.operate.why(id),
    (why) => whyLines(why, cli.io.colour),
  );
}

/** Pure. The verdict first, then what proves it, what comes of it, and the command alone on its line, to be copied. */
export function* whyLines(why: Why, colour: boolean): Generator<string> {
  const c = colours(colour);
  yield `${c.bold(printable(why.code))}  ${printable(why.reason)}`;
  const facts = [...evidenceFacts(why.evidence)];
  if (why.since !== null) facts.unshift(["since", moment(why.since)]);
  const width = Math.min(24, Math.max(0, ...facts.map(([name]) => name.length)));
  for (const [name, text] of facts) yield `  ${c.dim(name.padEnd(width))}  ${text}`;
  const heals = [
    why.heals === null ? "" : printable(why.heals),
    why.heals_at === null ? "" : `(${moment(why.heals_at)})`,
  ];
  if (heals.some((text) => text !== "")) yield `heals: ${heals.filter((text) => text !== "").join(" ")}`;
  if (why.command !== null) {
    yield "run:";
    yield `  ${c.cyan(printable(why.command))}`;
  }
}

type Fact = [name: string, text: string];

/** One line per fact; a list has one per entry, an object is written as its parts. */
function* evidenceFacts(evidence: Record<string, unknown>): Generator<Fact> {
  for (const [key, value] of Object.entries(evidence)) {
    const name = printable(key, 24).replaceAll("_", " ");
    if (Array.isArray(value) && value.some((entry) => typeof entry === "object" && entry !== null)) {
      for (const [position, entry] of value.entries()) yield [position === 0 ? name : "", partText(key, entry)];
    } else yield [name, partText(key, value)];
  }
}

function partText(key: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string" && key.endsWith("_at")) return moment(value) || printable(value, 200);
  if (typeof value === "number") return key.endsWith("_s") && key !== "per_s" ? seconds(value) : count(value);
  if (Array.isArray(value)) return value.map((entry) => partText("", entry)).join(", ");
  if (typeof value === "object") {
    const parts = Object.entries(value).map(([name, part]) => [name, partText(name, part)] as const);
    return parts
      .filter(([, text]) => text !== "")
      .map(([name, text]) => `${printable(name, 60).replaceAll("_", " ")} ${text}`)
      .join(", ");
  }
  return printable(value, 500);
}
