// SQL of handlers in processes of their own, which are not to be trusted with the worker's role: each statement goes through
// app.handler_sql, inside which nothing can take another role, name another tenant, or outlast the statement.
import { Permanent } from "../../core/errors/errors.js";
import {
  type Database,
  DatabaseError,
  type OpenTransaction,
  parameterText,
  type Scalar,
  statementText,
} from "../../engine/database/database.js";
import { decodeRow, decoders } from "../../engine/database/decoders.js";
import { fromFirstWord } from "../finish/recorded.js";

type Row = Record<string, unknown>;

/** What PREPARE takes; it would say of anything else that it stumbled over a word. */
const queries = /^(select|insert|update|delete|merge|with|values|table)\b|^\(/i;

export class HandlerSql {
  constructor(
    private readonly tx: OpenTransaction,
    private readonly tenant_id: string,
  ) {}

  async statement(strings: TemplateStringsArray, values: readonly Scalar[]): Promise<Row[]> {
    const text = statementText(strings);
    const parameters = values.map(parameterText);
    if (!queries.test(fromFirstWord(text))) throw refused();
    // As one statement or not at all: what is no single statement could hold one that is not a query.
    const columns = await this.tx.describe(text);
    const rows = await this.run(text, parameters, columns.length > 0);
    return rows.map((row) => {
      const fields = decodeRow(row);
      return Object.fromEntries(columns.map(({ name, type }, at) => [name, decoded(fields[at]!, type)]));
    });
  }

  /** To be said before the commit: what was deferred to it happens as the handler, not as the worker. */
  async end(): Promise<void> {
    await this.run(null, [], false).catch((error: unknown) => {
      // A statement had failed: the commit says so.
      if (!(error instanceof DatabaseError) || error.code !== "25P02") throw error;
    });
  }

  private async run(text: string | null, parameters: (string | null)[], has_rows: boolean): Promise<string[]> {
    const rows = await this.tx.sql<{ row: string }>`
      select r as row from app.handler_sql(
        ${this.tenant_id}, ${text}::text, ${JSON.stringify(parameters)}::text::jsonb, ${has_rows}::boolean,
        current_setting('search_path')) r`;
    return rows.map(({ row }) => row);
  }
}

/** After a transaction with such statements has failed: locks they took for the session are not rolled back with it. */
export async function releaseLocks(db: Database): Promise<void> {
  await db.sql`select pg_advisory_unlock_all()`.catch(() => {});
}

function decoded(field: string | null, type: number): unknown {
  return field === null ? null : (decoders[type]?.(field) ?? field);
}

function refused(): Permanent {
  const words = "select, insert, update, delete, merge, values and with";
  return new Permanent(`a handler in a process of its own may say ${words}, and nothing else`, {
    code: "bad_statement",
  });
}
