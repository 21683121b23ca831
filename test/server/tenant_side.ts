// One tenant with its three doors (HTTP, the client, SQL under a login role of its own), what it must see, and a nose for what
// it must not.
import { expect } from "vitest";
import { type Client, createClient } from "../../src/client/index.js";
import { isFanfoldError } from "../../src/core/errors/errors.js";
import type { Database } from "../../src/engine/database/database.js";
import type { TestService } from "./service.js";

export type Door = "http" | "sdk" | "sql";

/** What came of an operation, told alike for all doors. */
export interface Outcome {
  /** null: it was done. */
  refused: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  value: any;
  /** All that was said, without what is new in every answer. */
  text: string;
}

/** What a tenant has made, by kind: ids that it may name and nobody else. */
export type Kind = "job" | "task" | "key" | "webhook" | "blueprint" | "worker" | "schedule" | "group";
export const kinds: Kind[] = ["job", "task", "key", "webhook", "blueprint", "worker", "schedule", "group"];

export class Side {
  readonly owned = Object.fromEntries(kinds.map((kind) => [kind, new Set<string>()])) as Record<Kind, Set<string>>;
  /** Task ids by idempotency key. */
  readonly enqueued = new Map<string, string>();
  readonly client: Client;
  other!: Side;

  constructor(
    readonly service: TestService,
    readonly tenant: string,
    /** Stands in everything the tenant writes. */
    readonly marker: string,
    readonly key: string,
    readonly db: Database,
  ) {
    this.client = createClient({ url: service.url, key, retries: 0 });
  }

  /** All ids of the tenant that could turn up in a text by themselves. */
  get traces(): string[] {
    const { job, task, ...rest } = this.owned;
    return [
      this.marker,
      ...[...job].map((id) => id.slice(0, 12)),
      ...[...task].map((id) => `"${id}"`),
      ...Object.values(rest).flatMap((ids) => [...ids]),
    ];
  }

  /** It is the tenant's from now on. */
  note(kind: Kind, ...ids: string[]): void {
    for (const id of ids) this.owned[kind].add(id);
  }

  /** A list shows all that the tenant has of a kind, and nothing else. */
  expectAll(kind: Kind, outcome: Outcome, ids: string[]): Outcome {
    expect(outcome.refused).toBeNull();
    expect([...new Set(ids)].sort(), `all ${kind}s of ${this.tenant}`).toEqual([...this.owned[kind]].sort());
    return outcome;
  }

  async http(method: string, path: string, body?: unknown): Promise<Outcome> {
    const { status, body: answer } = await this.service.call(method, path, { key: this.key, body });
    expect(status, `${method} ${path}: ${JSON.stringify(answer)}`).toBeLessThan(500);
    if (status < 400) return done(answer);
    const { request_id: _, ...rest } = answer;
    return { refused: answer.code, value: answer, text: JSON.stringify(rest) };
  }

  async sdk(ask: (client: Client) => Promise<unknown>): Promise<Outcome> {
    return ask(this.client).then(done, (error: unknown) => {
      if (!isFanfoldError(error) || error.http_status >= 500) throw error;
      const { code, message, hint, problems } = error;
      return { refused: code, value: error, text: JSON.stringify({ code, message, hint, problems }) };
    });
  }

  /** A verb, with its arguments by name. */
  async sql(verb: string, values: Record<string, unknown> = {}): Promise<Outcome> {
    // verb(a => $1::text, b => $2::json), as the pieces around the values.
    const pieces = [`select app.${verb}(`];
    for (const [name, value] of Object.entries(values)) {
      pieces.push(`${pieces.pop()}${pieces.length === 0 ? "" : ", "}${name} => `, cast(value));
    }
    pieces.push(`${pieces.pop()}) as reply`);
    return this.#asked(pieces, Object.values(values).map(written));
  }

  /** Every row of a table that the role may read. */
  rows(table: string): Promise<Outcome> {
    return this.#asked([`select coalesce(json_agg(t), '[]') as reply from app.${table} t`], []);
  }

  async #asked(strings: string[], values: unknown[]): Promise<Outcome> {
    try {
      const [row] = await this.db.sql<{ reply: unknown }>(
        Object.assign(strings, { raw: strings }),
        ...(values as never[]),
      );
      return done(row?.reply);
    } catch (error) {
      const { code, message, hint, detail } = error as Record<string, string | undefined>;
      if (code === undefined || !(code in words)) throw error;
      return { refused: words[code]!, value: error, text: JSON.stringify({ code, message, hint, detail }) };
    }
  }

  /** Nothing of the other tenant is in it; `named` is what the caller itself named. */
  assertClean({ text }: Outcome, named: string | null): void {
    const said = named === null ? text : masked(text, named);
    const found = this.other.traces.filter((trace) => said.includes(trace));
    expect(found, `${this.tenant} was told: ${said.slice(0, 2000)}`).toEqual([]);
  }
}

function done(value: unknown): Outcome {
  return { refused: null, value, text: JSON.stringify(value) ?? "" };
}

const words: Record<string, string> = {
  FF001: "not_found",
  FF002: "bad_request",
  FF003: "conflict",
  FF004: "too_large",
  FF005: "forbidden",
  FF006: "not_allowed_now",
  FF007: "stale_worker",
  FF008: "over_limit",
  FF009: "beyond_limit",
  "42501": "closed",
};

function cast(value: unknown): string {
  if (typeof value === "boolean") return "::boolean";
  if (typeof value === "number") return "::integer";
  if (value instanceof Date) return "::text::timestamptz";
  return typeof value === "object" ? "::text::jsonb" : "::text";
}

function written(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : value;
}

/** With the id that was asked for, whole or shortened, taken out. */
export function masked(text: string, id: string): string {
  return [id, id.slice(0, 12), id.slice(0, 8)].reduce((said, part) => said.replaceAll(part, "<id>"), text);
}
