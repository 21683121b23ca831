// fanfold blueprints: the job types there are, those in code and those that were saved as data.
import { printable } from "../../core/values/printable.js";
import type { BlueprintRecord } from "../../engine/verbs/blueprints.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { parameterRows } from "../terminal/parameter_table.js";
import { answering, withSession } from "../terminal/session.js";
import { moment, table, tableAndText } from "../terminal/summary.js";

export function addBlueprints(cli: Cli): void {
  const blueprints = cli.program
    .command("blueprints")
    .summary("list the job types, and show one")
    .description("The job types there are: those in code, and those that this tenant saved as data.")
    .examples("fanfold blueprints", "fanfold blueprints show hello_world");
  addList(cli, blueprints);
  addShow(cli, blueprints);
}

function addList(cli: Cli, blueprints: CliCommand): void {
  blueprints
    .command("list", { isDefault: true })
    .summary("list job types by name")
    .description("Lists the job types by name, with their stages.")
    .examples("fanfold blueprints list", "fanfold blueprints --json | jq '.blueprints[] | .type'")
    .action(() =>
      withSession(cli, async ({ engine }) => {
        const found = await engine.blueprints.list();
        answer(cli, { blueprints: found }, () => listLines(found, cli.io.width()));
      }),
    );
}

function listLines(found: readonly BlueprintRecord[], width: number): string[] {
  if (found.length === 0) return ["no job types; name a module that has some: --app <module>"];
  const rows = found.map((one) => [
    one.type,
    sourceText(one),
    one.stages.map(({ name }) => name).join(" → "),
    printable(one.description ?? "", 200),
  ]);
  return table(["JOB TYPE", "FROM", "STAGES", ""], rows, width);
}

function addShow(cli: Cli, blueprints: CliCommand): void {
  blueprints
    .command("show")
    .summary("one job type: its parameters and stages")
    .description("One job type: its parameters and its stages. With --json the whole blueprint.")
    .argument("<type>", "for example hello_world")
    .examples("fanfold blueprints show hello_world", "fanfold blueprints show hello_world --json")
    .action((type: string) => answering(cli, ({ engine }) => engine.blueprints.get(type), showLines));
}

function* showLines(one: BlueprintRecord, width: number): Generator<string> {
  yield `${one.type}  ${sourceText(one)}`;
  if (one.description) yield `  ${printable(one.description)}`;
  if (one.saved_at !== null) yield `  saved       ${moment(one.saved_at)} by ${printable(one.saved_by ?? "", 100)}`;
  for (const stage of one.stages) {
    yield `  stage ${String(stage.number).padEnd(5)} ${stage.name}: ${stage.task} (${stage.parallelism})`;
  }
  const rows = parameterRows(one.parameters);
  if (rows.length > 0) {
    // Long lists of choices stand in the text, so that they push nothing out of the table.
    const shown = rows.map(({ name, value, given, description }) => ({
      cells: [name, given].map((text) => printable(text, 60)),
      text: description === "" ? value : `${description}; ${value}`,
    }));
    yield "";
    yield* tableAndText(["PARAMETER", "DEFAULT"], shown, width);
    yield "";
  }
  yield `  submit it: fanfold submit ${one.type} key=value`;
}

function sourceText({ source, version }: BlueprintRecord): string {
  return source === "registered" ? "code" : `saved, version ${version}`;
}
