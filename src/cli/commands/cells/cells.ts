// fanfold cells: several deployments as one. fanfold serve --cells: the router before them.
import { package_version } from "../../../config.js";
import type { Problem } from "../../../core/errors/problems.js";
import {
  askAll,
  type Cell,
  cellNamed,
  closeCells,
  factsOf,
  openCells,
  prepareCells,
  readCells,
} from "../../../engine/cells/cells.js";
import { fileMove } from "../../../engine/cells/file_moves.js";
import { cancelMove, cellOf, type MoveStep, moveTenant, sidesOf } from "../../../engine/cells/move.js";
import { createLog } from "../../../log.js";
import type { Server } from "../../../server/server.js";
import { answer, type Cli, type CliCommand, globals } from "../../terminal/command.js";
import { usage } from "../../terminal/failure.js";
import { count } from "../../terminal/figures.js";
import { note } from "../../terminal/io.js";
import { wholeNumber } from "../../terminal/options.js";
import { untilTold } from "../../terminal/serving.js";
import { configOf } from "../../terminal/session.js";
import { table } from "../../terminal/summary.js";

export function addCells(cli: Cli): void {
  const group = cli.program
    .command("cells")
    .summary("several deployments as one, and tenants that move between them")
    .description(
      "A cell is a deployment of its own: servers, workers, a Postgres. Each tenant lives in one of them. fanfold serve --cells is the one\n" +
        "address before all. A file names them: name, number (0 to 127, for ever), urls, database_url of the servers' role, files.",
    )
    .examples(
      "fanfold cells prepare --cells cells.json",
      "fanfold cells status --cells cells.json",
      "fanfold cells move acme --to b --cells cells.json",
    );
  const one = (name: string, summary: string, description = summary) =>
    group
      .command(name)
      .summary(summary)
      .description(`${description[0]?.toUpperCase()}${description.slice(1)}.`)
      .option("--cells <file>", "the file that names the cells", "cells.json");
  status(cli, one("status", "show each cell, and tenants that are on their way"));
  find(cli, one("find", "in which cell a tenant lives"));
  prepare(cli, one("prepare", "give the databases their numbers", prepare_text));
  move(cli, one("move", "bring a tenant to another cell", move_text));
  cancel(cli, one("cancel", "end a move: the tenant stays where it was"));
}

const prepare_text =
  "gives the databases their numbers, so that none gives a number that another has given. Once before the first move, and again when\n" +
  "a cell was added; calls and tasks go on";
const move_text =
  "nothing of the tenant is started any more, what runs ends, its calls are answered with 503 and Retry-After for some seconds, and all\n" +
  "its rows, keys and files go over. Broken off, the same command goes on. Streams and workers find the other cell by themselves";

interface Flags {
  cells: string;
}

async function withCells<T>({ cells: path }: Flags, work: (cells: Cell[]) => Promise<T>): Promise<T> {
  const cells = openCells(readCells(path));
  try {
    return await work(cells);
  } finally {
    await closeCells(cells);
  }
}

function status(cli: Cli, command: CliCommand): void {
  command.examples("fanfold cells status").action((flags: Flags) =>
    withCells(flags, async (cells) => {
      const { answers, away } = await askAll(cells, factsOf);
      const shown = cells.map((cell) => {
        const facts = answers.find((found) => found.cell === cell)?.answer;
        const why = away.find((found) => found.cell === cell)?.why as Error | undefined;
        return {
          ...facts,
          name: cell.name,
          number: cell.number,
          numbered: facts?.number ?? null,
          why: why?.message ?? null,
        };
      });
      if (away.length > 0) cli.exit_code = 1;
      answer(cli, { cells: shown }, function* () {
        yield* table(
          ["CELL", "NUMBER", "TENANTS", "STATE"],
          shown.map(({ name, number, numbered, why, tenants = 0 }) => [
            name,
            String(number),
            why === null ? count(tenants) : "",
            why !== null ? `away: ${why}` : numbered === null ? "not prepared: fanfold cells prepare" : "ok",
          ]),
          cli.io.width(),
        );
        for (const { name, moving = [] } of shown) {
          for (const { tenant_id, state, other_cell, began_at, held } of moving) {
            const way = state === "arriving" ? `from ${other_cell} to ${name}` : `from ${name} to ${other_cell}`;
            yield `tenant ${tenant_id} ${way}: ${state} since ${began_at}, ${count(held)} tasks held`;
          }
        }
      });
    }),
  );
}

function find(cli: Cli, command: CliCommand): void {
  command
    .argument("<tenant>", "the tenant's id")
    .examples("fanfold cells find acme")
    .action((tenant_id: string, flags: Flags) =>
      withCells(flags, async (cells) => {
        const { name } = await cellOf(cells, tenant_id);
        answer(cli, { tenant_id, cell: name }, () => [`tenant ${tenant_id} lives in cell ${name}`]);
      }),
    );
}

function prepare(cli: Cli, command: CliCommand): void {
  command.examples("fanfold cells prepare").action((flags: Flags) =>
    withCells(flags, async (cells) => {
      const made = await prepareCells(cells);
      const shown = made.map(({ name, number }) => ({ name, number }));
      answer(cli, { cells: shown }, () => shown.map(({ name, number }) => `cell ${name} has number ${number}`));
    }),
  );
}

interface MoveFlags extends Flags {
  to: string;
  takeBack?: string;
}

function move(cli: Cli, command: CliCommand): void {
  command
    .argument("<tenant>", "the tenant's id")
    .requiredOption("--to <cell>", "where it shall live")
    .option(
      "--take-back <seconds>",
      "tasks that still run after so long go back to the queue, and run again there (default: they are waited for)",
    )
    .examples("fanfold cells move acme --to b", "fanfold cells move acme --to b --take-back 60")
    .action((tenant_id: string, flags: MoveFlags) => {
      const problems: Problem[] = [];
      const take_back_after_s = wholeNumber("--take-back", flags.takeBack, 0, 86_400, problems);
      if (problems.length > 0) throw usage("the move cannot begin", { problems });
      const { zones } = configOf(cli);
      return withCells(flags, async (cells) => {
        const to = cellNamed(cells, flags.to);
        const { from } = await sidesOf(cells, tenant_id, to);
        const files = await fileMove(from, to, zones);
        const on_step = (step: MoveStep) => cli.io.live && cli.io.draw(wordsOf(step));
        const actor = cli.io.user();
        const moved = await moveTenant(cells, tenant_id, to, { actor, take_back_after_s, on_step, ...files });
        if (cli.io.live) cli.io.drawn();
        answer(cli, moved, () => [
          `tenant ${tenant_id} lives in cell ${moved.to}: ${count(moved.rows)} rows and ${count(moved.files)} files came from ${moved.from}`,
          `its calls were refused for ${(moved.closed_ms / 1000).toFixed(1)} s`,
        ]);
      });
    });
}

function wordsOf(step: MoveStep): string {
  if (step.step === "draining") return `waiting for ${count(step.held)} tasks that run`;
  if (step.step === "rows") return `${count(step.rows)} rows, now ${step.table}`;
  if (step.step === "files") return `${count(step.files)} files`;
  return { closed: "its calls wait", arrived: "it lives there", leaving: "taking away what it left" }[step.step];
}

function cancel(cli: Cli, command: CliCommand): void {
  command
    .argument("<tenant>", "the tenant's id")
    .examples("fanfold cells cancel acme")
    .action((tenant_id: string, flags: Flags) =>
      withCells(flags, async (cells) => {
        const stays = await cancelMove(cells, tenant_id);
        answer(cli, stays, () => [`tenant ${tenant_id} stays in cell ${stays.cell}`]);
      }),
    );
}

/** `fanfold serve --cells`: no database of its own, no tasks, only the way to those who have them. */
export async function serveCells(cli: Cli, path: string, flags: { host?: string; port?: number }): Promise<void> {
  const config = configOf(cli, flags);
  const log = createLog({ level: config.log_level });
  const { startRouter } = await import("../../../server/cells/router.js");
  const cells = openCells(readCells(path), { max: 4, wait_s: 2 });
  try {
    const { host, port, trust_proxy, open_layers, jwt } = config;
    const tenant_claim = jwt?.tenant_claim;
    const server: Server = await startRouter({
      cells,
      log,
      host,
      port,
      trust_proxy,
      open_layers,
      ...(tenant_claim && { tenant_claim }),
    });
    const document = { version: package_version, http: { url: server.url }, cells: cells.map(({ name }) => name) };
    answer(cli, document, () => [
      `fanfold ${package_version} routes to ${count(cells.length)} cells`,
      `  http      ${server.url}`,
      ...cells.map(({ name, urls }) => `  cell      ${name}: ${urls.join(", ")}`),
      "  stop      Ctrl-C (calls that run are answered; again: at once)",
    ]);
    const how = await untilTold(cli.io, server, "answering what runs");
    if (!globals(cli).json) note(cli.io, `stopped ${how}`);
  } finally {
    await closeCells(cells);
  }
}
