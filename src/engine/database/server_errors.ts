// What postgres.js and the sockets under it throw, as the one kind of error that both drivers throw. It carries neither
// the statement nor its parameters: errors are logged, and parameters may be secret.
import { closedError, DatabaseError } from "./database.js";

/** The server did not refuse: it did not answer. */
export class NoAnswer extends DatabaseError {
  constructor(message: string) {
    super("08001", message, { hint: reach_hint });
  }
}

const reach_hint = "Is the server running there, and is DATABASE_URL right?";

export function unreachable(where: string, reason: string): DatabaseError {
  return new DatabaseError("08001", `cannot reach the database at ${where}: ${reason}`, { hint: reach_hint });
}

/** A refusal at the level of the session: the server closes the connection after it. */
export function isFatal(error: unknown): boolean {
  return ["FATAL", "PANIC"].includes(severityOf(error as Record<string, string | undefined>) ?? "");
}

/** PgBouncer sends the one that is meant for people, and in English. */
function severityOf({ severity, severity_local }: Record<string, string | undefined>): string | undefined {
  return severity ?? severity_local;
}

/** Bytes that are no answer: neither the server's words nor our own. What follows on that connection cannot be trusted. */
export function isUnreadable(error: unknown): boolean {
  return !(error instanceof DatabaseError) && severityOf(error as Record<string, string | undefined>) === undefined;
}

/** `head`: what was sent before the statement's own text. */
export function serverError(error: unknown, lost: DatabaseError | null, head = ""): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const given = error as Record<string, string | undefined>;
  const code = given.code ?? "";
  const message = given.message ?? String(error);
  if (severityOf(given) !== undefined) {
    return new DatabaseError(code, message, {
      detail: given.detail,
      hint: given.hint,
      where: given.where,
      schema: given.schema_name,
      table: given.table_name,
      column: given.column_name,
      constraint: given.constraint_name,
      position: given.position === undefined ? undefined : Number(given.position) - head.length,
    });
  }
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return new DatabaseError("08001", `the database's certificate is not accepted: ${message} (${code})`, {
      hint: "sslrootcert=<file> names its authority; with sslmode=verify-ca the name in it is not compared",
    });
  }
  if (code === "CONNECTION_ENDED") return closedError();
  if (code === "CONNECT_TIMEOUT") {
    return new NoAnswer("the server accepted the connection but did not answer in time");
  }
  // What is left with a code comes from the socket or from TLS.
  if (code !== "") return lost ?? new DatabaseError("08006", `the connection to the database failed: ${message}`);
  return new DatabaseError("XX000", `reading the server's answer failed: ${message}`);
}
