// Every SQL verb answers with one row and one column.

import { fromSqlError } from "../../core/errors/errors.js";
import { withCommand } from "../../core/shown/action.js";
import { DatabaseError } from "../database/database.js";

/** The reply of a verb, for a worker, which goes by SQLSTATE. Rows without one are the answer to something else, whatever was done. */
export async function replied<T>(rows: Promise<Record<string, unknown>[]>): Promise<T> {
  const [row] = await rows;
  if (row !== undefined && "reply" in row) return row.reply as T;
  throw new DatabaseError("08007", "the database's answer is not one to what was asked");
}

/** The same; an error that the verb raised on purpose comes as one of ours. */
export async function asked<T>(rows: Promise<Record<string, unknown>[]>): Promise<T> {
  try {
    return await replied<T>(rows);
  } catch (error) {
    throw fromSqlError(error, withCommand) ?? error;
  }
}
