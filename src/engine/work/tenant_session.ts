// Verbs for one tenant and no other, which the statement itself names: a verb is one statement, so that it costs one trip to the database, and
// the transaction that it is forgets the tenant with its end.
import { fromSqlError } from "../../core/errors/errors.js";
import type { Database, OpenTransaction, Queryable, Scalar } from "../database/database.js";

/** By the texts of a statement, its texts with the tenant before it. */
const named = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/** `select app.verb(…)` → `select set_config('fanfold.tenant', $1, true), app.verb(…)`: from the left to the right. */
function withTenant(strings: TemplateStringsArray): TemplateStringsArray {
  let texts = named.get(strings);
  if (texts === undefined) {
    const [first = "", ...others] = strings;
    if (!/^\s*select\s/.test(first)) throw new Error("only a select can name its tenant");
    const begun = first.replace(/^\s*select\s/, "");
    const all = ["select set_config('fanfold.tenant', ", `::text, true), ${begun}`, ...others];
    texts = Object.assign(all, { raw: all }) as TemplateStringsArray;
    named.set(strings, texts);
  }
  return texts;
}

export class TenantSession {
  readonly #bound: Queryable;

  constructor(
    private readonly db: Database,
    readonly tenant: string,
  ) {
    this.#bound = {
      sql: (strings: TemplateStringsArray, ...values: Scalar[]) => db.sql(withTenant(strings), tenant, ...values),
      script: () => Promise.reject(new Error("a script cannot name its tenant")),
    } as Queryable;
  }

  /** A verb that is one statement; what it raises on purpose comes as an error of ours. */
  async run<T>(verb: (db: Queryable) => Promise<T>): Promise<T> {
    try {
      return await verb(this.#bound);
    } catch (error) {
      throw fromSqlError(error) ?? error;
    }
  }

  /** Several statements that stay or go together. Errors come as the database tells them. */
  transaction<T>(work: (tx: OpenTransaction) => Promise<T>): Promise<T> {
    return this.db.transaction(async (tx) => {
      await tx.sql`select set_config('fanfold.tenant', ${this.tenant}, true)`;
      return work(tx);
    });
  }
}
