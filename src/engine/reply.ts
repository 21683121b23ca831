// Every SQL verb answers with one row and one column.
import { fromSqlError } from "../core/errors.js";

/** The reply of a verb; an error that the verb raised on purpose comes as one of ours. */
export async function asked<T>(rows: Promise<Record<string, unknown>[]>): Promise<T> {
  try {
    const [row] = await rows;
    return (row as { reply: T }).reply;
  } catch (error) {
    throw fromSqlError(error) ?? error;
  }
}
