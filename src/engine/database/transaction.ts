// A transaction as its work sees it, on either driver. One statement at a time: of several sent at once, those behind a
// lost connection could still run elsewhere. Beginning and choosing the session are the driver's part.
import {
  type Column,
  DatabaseError,
  type OpenTransaction,
  parameterText,
  type Scalar,
  statementText,
} from "./database.js";

export interface Session {
  statement(text: string, parameters: (string | null)[]): Promise<Record<string, unknown>[]>;
  /** Gives the last command's name, so that a commit can be told from the rollback it may turn into. */
  script(text: string): Promise<string | undefined>;
  describe(text: string): Promise<Column[]>;
}

export class Transaction implements OpenTransaction {
  over = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly session: Session) {}

  async sql<Row>(strings: TemplateStringsArray, ...values: Scalar[]): Promise<Row[]> {
    const parameters = values.map(parameterText);
    return this.next(() => this.session.statement(statementText(strings), parameters)) as Promise<Row[]>;
  }

  async script(text: string): Promise<void> {
    await this.next(() => this.session.script(text));
  }

  describe(text: string): Promise<Column[]> {
    return this.next(() => this.session.describe(text));
  }

  async end(how: "commit" | "rollback"): Promise<void> {
    const ending = this.next(() => this.session.script(how));
    this.over = true;
    const command = await ending;
    if (how === "commit" && command === "ROLLBACK") {
      throw new DatabaseError("25P02", "the transaction was rolled back, because a statement in it had failed");
    }
  }

  private next<T>(step: () => Promise<T>): Promise<T> {
    if (this.over) {
      const message = "the transaction is over: its statements must be awaited inside it";
      return Promise.reject(new DatabaseError("25P01", message));
    }
    const mine = this.last.then(step);
    this.last = mine.catch(() => {});
    return mine;
  }
}
