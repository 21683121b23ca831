// What every command gets: the streams, the global options, and the exit code to set. Knows commander, nothing else.
import type { Command } from "commander";
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
  readonly program: Command;
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

/** Help teaches by example: two or three lines to copy say more than a list of options. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((text) => `  $ ${text}`).join("\n")}\n`;
}
