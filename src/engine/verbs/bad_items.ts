// What is wrong with the items of one bulk call, all at once, each problem with the number of its item. Nothing of a page with a
// bad item is sent.
import { BadRequest, isFanfoldError, ParameterError } from "../../core/errors/errors.js";
import { max_problems, type Problem } from "../../core/errors/problems.js";

export class BadItems {
  readonly #found: { position: number; error: ParameterError }[] = [];

  /** null for an item that is not right; anything else that goes wrong is thrown at once. */
  async collect<Value>(position: number, checking: Value | Promise<Value>): Promise<Value | null> {
    try {
      return await checking;
    } catch (error) {
      if (!(error instanceof ParameterError)) throw at(position, error);
      // The problems of so many are never told.
      if (this.#found.length < max_problems) this.#found.push({ position, error });
      return null;
    }
  }

  /** An item that came alone is told as it is. */
  refuse(job_type: string, items: number): void {
    const [first] = this.#found;
    if (first === undefined) return;
    if (items === 1 && first.position === 0) throw first.error;
    const problems = this.#found.flatMap(({ position, error }) => named(position, error.problems));
    throw new ParameterError(job_type, problems.slice(0, max_problems));
  }
}

function named(position: number, problems: readonly Problem[]): Problem[] {
  return problems.map((one) => ({ ...one, path: `items[${position}].parameters${one.path.replace(/^\$/, "")}` }));
}

/** The first item keeps its error: it may have come alone. */
function at(position: number, error: unknown): unknown {
  if (position === 0 || !isFanfoldError(error) || error.problems.length === 0) return error;
  return error.code === "bad_request"
    ? new BadRequest(error.title, { problems: named(position, error.problems) })
    : error;
}
