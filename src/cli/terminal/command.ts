// What every command gets: the streams, the global options, and the exit code to set. Knows commander, nothing else.
import { Command } from "commander";
import { type Io, json, line } from "./io.js";

export interface GlobalOptions {
  json?: boolean;
  dataDir?: string;
  databaseUrl?: string;
  tenant?: string;
  app?: string;
}

export interface Cli {
  readonly io: Io;
  readonly program: CliCommand;
  /** What the environment says; config.ts reads it, tests give their own. */
  readonly env: Readonly<Record<string, string | undefined>>;
  exit_code: number;
}

export function globals(cli: Cli): GlobalOptions {
  return cli.program.opts<GlobalOptions>();
}

/** What a command answers: the document with --json, else lines for people. */
export function answer(cli: Cli, document: unknown, lines: () => Iterable<string>): void {
  if (globals(cli).json) json(cli.io, document);
  else for (const text of lines()) line(cli.io, text);
}

/** A command of ours: the options that many share are worded once, here. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Help teaches by example: two or three lines to copy say more than a list of options. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText("after", `\nExamples:\n${lines.map((text) => `  $ ${text}`).join("\n")}\n`);
  }

  /** For a list; `pageOf` reads them. */
  pageOptions(rows = 20): this {
    return this.option("--limit <number>", `rows of a page, 1 to 1000 (default ${rows})`).option(
      "--cursor <cursor>",
      "go on where the last page ended",
    );
  }

  reasonOption(): this {
    return this.option("--reason <text>", "why; kept in the history");
  }

  actorOption(): this {
    return this.option("--by <who>", "who asks; kept in the history (default: your login on this machine)");
  }

  /** For what an operator does; `verbOptions` reads them. */
  verbOptions(): this {
    return this.reasonOption().option("--dry-run", "only say what it would do").actorOption();
  }

  filterOption(): this {
    return this.option("--filter <text>", "all jobs that fit instead of one; as fanfold jobs takes it");
  }

  waitOptions(): this {
    return this.option("-w, --wait", "follow the job to its end and exit with its outcome").option(
      "--timeout <seconds>",
      "with --wait: stop waiting (exit 124); the job itself goes on",
    );
  }
}
