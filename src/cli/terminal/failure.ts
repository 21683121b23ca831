// Any error into what the user reads: what happened, why, and the next command; and into the exit code. Decides by class and
// code, never by message. Pure.
import { CommanderError } from "commander";
import { fromSqlError, isFanfoldError } from "../../core/errors/errors.js";
import type { Problem } from "../../core/errors/problems.js";
import { withCommand } from "../../core/shown/action.js";
import { printable } from "../../core/values/printable.js";
import { EmbeddedFolderBusy, EmbeddedFolderUnusable } from "../../engine/database/embedded_folder.js";
import { SchemaMismatch } from "../../engine/schema/schema_mismatch.js";

/** What a script can rely on. 124 is what `timeout` uses, 130 what a shell gives for Ctrl-C. */
export const exit_codes = {
  done: 0,
  failed: 1,
  usage: 2,
  partial_success: 3,
  refused: 4,
  /** The database is out of reach, in use, or of another version. */
  unusable: 5,
  timeout: 124,
  detached: 130,
} as const;

export interface Explanation {
  code: string;
  what: string;
  why?: string | undefined;
  next?: string | undefined;
  problems?: readonly Problem[] | undefined;
  exit_code: number;
}

/** Thrown by commands for what only they can know. */
export class CliFailure extends Error {
  constructor(readonly explanation: Explanation) {
    super(explanation.what);
  }
}

export function usage(
  what: string,
  more: { next?: string; why?: string; problems?: readonly Problem[] } = {},
): CliFailure {
  return new CliFailure({ code: "usage", what, ...more, exit_code: exit_codes.usage });
}

/** Every error that carries a list of problems gives it; any other is one problem. */
export function problemsOf(error: unknown): Problem[] {
  if (isFanfoldError(error) && error.problems.length > 0) return [...error.problems];
  return [{ path: "", problem: error instanceof Error ? error.message : String(error), fix: "" }];
}

export function explain(error: unknown): Explanation {
  if (error instanceof CliFailure) return error.explanation;
  if (error instanceof CommanderError) return explainCommander(error);
  const ours = isFanfoldError(error) ? error : fromSqlError(error, withCommand);
  if (ours) return explainOurs(ours);
  return explainForeign(error);
}

function explainCommander(error: CommanderError): Explanation {
  // A suggestion comes on a line of its own: "(Did you mean --port?)".
  const what = error.message.replace(/^error: /, "").replace(/\n\((Did|did) you/, " (did you");
  return { code: "usage", what, next: "fanfold --help", exit_code: exit_codes.usage };
}

const exit_by_code: Record<string, number> = {
  not_found: exit_codes.usage,
  bad_request: exit_codes.usage,
  conflict: exit_codes.usage,
  // Not 1: with --wait that says that the job failed.
  not_allowed_now: exit_codes.usage,
  too_large: exit_codes.usage,
  bad_value: exit_codes.usage,
  bad_parameters: exit_codes.usage,
  bad_declaration: exit_codes.usage,
  forbidden: exit_codes.refused,
  unauthenticated: exit_codes.refused,
  over_limit: exit_codes.refused,
  beyond_limit: exit_codes.refused,
  throttled: exit_codes.refused,
  contract: exit_codes.usage,
  stale_worker: exit_codes.usage,
  unavailable: exit_codes.unusable,
  stopping: exit_codes.unusable,
  transient: exit_codes.unusable,
  storage: exit_codes.unusable,
};

function explainOurs(error: {
  code: string;
  title: string;
  hint: string | null;
  problems: readonly Problem[];
}): Explanation {
  return {
    code: error.code,
    what: error.title,
    next: error.hint ?? undefined,
    problems: error.problems.length > 0 ? error.problems : undefined,
    exit_code: exit_by_code[error.code] ?? exit_codes.failed,
  };
}

const network_codes = new Set([
  "ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EPIPE",
  "CONNECT_TIMEOUT", "CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED",
]); // biome-ignore format: a list of words

function explainForeign(error: unknown): Explanation {
  if (error instanceof EmbeddedFolderBusy) return explainBusy(error);
  const { code, message } = inner(error);
  if (error instanceof EmbeddedFolderUnusable)
    return { code: "folder_unusable", what: message, exit_code: exit_codes.unusable };
  if (error instanceof SchemaMismatch) {
    const next = "fanfold migrate --status says what is missing";
    return { code: "schema_mismatch", what: message, next, exit_code: exit_codes.unusable };
  }
  if (network_codes.has(code) || /^(08|57P0|53300)/.test(code)) {
    return {
      code: "database_unreachable",
      what: "the database cannot be reached",
      why: `${message || code}${message.includes(code) ? "" : ` (${code})`}`,
      next: "is it running, and is the address right? fanfold doctor tells more",
      exit_code: exit_codes.unusable,
    };
  }
  if (code === "3D000") {
    return {
      code: "no_such_database",
      what: message,
      next: "createdb <name>, then fanfold migrate",
      exit_code: exit_codes.unusable,
    };
  }
  if (/^28/.test(code)) {
    const next = "check user and password of the connection string";
    return {
      code: "login_refused",
      what: "the database refused the login",
      why: message,
      next,
      exit_code: exit_codes.refused,
    };
  }
  if (code === "42501") {
    const next = "fanfold doctor says what is missing, and the SQL that an administrator runs";
    return { code: "forbidden", what: "this role may not do that", why: message, next, exit_code: exit_codes.refused };
  }
  if (/^(3F000|42P01|42883)$/.test(code)) {
    const next = "fanfold migrate";
    return {
      code: "schema_missing",
      what: "Fanfold's schema is missing or old",
      why: message,
      next,
      exit_code: exit_codes.unusable,
    };
  }
  const next = "set FANFOLD_DEBUG=1 for the whole story";
  return { code: "unexpected", what: message || "something unexpected happened", next, exit_code: exit_codes.failed };
}

/** `url`: where the process that holds it answers HTTP, if it said so. */
export function explainBusy({ folder, pid, host }: EmbeddedFolderBusy, url: string | null = null): Explanation {
  const look =
    url === null
      ? "look through the HTTP API of that process, if it is fanfold up or serve"
      : `look through its HTTP API at ${url} (docs: ${url}/api/docs)`;
  return {
    code: "folder_busy",
    what: `the embedded database in ${folder} is in use by process ${pid} on ${host}`,
    why: "only one process can have it open",
    next: `${look}; or stop it (kill ${pid}), use another folder (--data-dir other), or a server that many can share (DATABASE_URL)`,
    exit_code: exit_codes.unusable,
  };
}

/** Node gives an AggregateError with an empty message when every address of a host refused. */
function inner(error: unknown): { code: string; message: string } {
  if (typeof error !== "object" || error === null) return { code: "", message: String(error) };
  const { code, message, errors } = error as { code?: unknown; message?: unknown; errors?: unknown };
  const first = Array.isArray(errors) ? (errors[0] as { message?: unknown } | undefined) : undefined;
  return { code: String(code ?? ""), message: String(message || first?.message || "") };
}

/** As lines for people. Texts may come from jobs and databases, so everything is made printable. */
export function explanationLines(explanation: Explanation, title = "error"): string[] {
  const lines = [`${title}: ${printable(explanation.what)}`];
  if (explanation.why) lines.push(`  why: ${printable(explanation.why)}`);
  for (const one of explanation.problems ?? []) {
    lines.push(`  - ${one.path === "" ? "" : `${printable(one.path, 200)}: `}${printable(one.problem)}`);
    if (one.fix) lines.push(`    ${printable(one.fix)}`);
  }
  if (explanation.next) lines.push(`  next: ${printable(explanation.next)}`);
  return lines;
}
