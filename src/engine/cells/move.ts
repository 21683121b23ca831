// A tenant moves from one cell to another: nothing of it is claimed any more, what runs ends, its calls are refused for seconds, all its rows
// go over in one transaction, and with that commit it lives there. Broken off at any point it goes on where it was; nothing is ever in two places.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { NotAllowedNow, NotFound, Unavailable } from "../../core/errors/errors.js";
import { fault } from "../../fault.js";
import type { OpenTransaction, Queryable } from "../database/database.js";
import { asked } from "../verbs/reply.js";
import { askAll, type Cell, type CellFacts, cellNamed, factsOf, homeIn, type Move, untilUnlocked } from "./cells.js";

export type MoveStep =
  | { step: "draining"; held: number }
  | { step: "closed" }
  | { step: "rows"; rows: number; table: string }
  | { step: "files"; files: number }
  | { step: "arrived"; rows: number }
  | { step: "leaving" };

export interface MoveOptions {
  actor?: string | null;
  /** What still runs after so long goes back to the queue; undefined: it is waited for. */
  take_back_after_s?: number | undefined;
  /** How long transactions that began before are waited for. */
  patience_s?: number;
  /** How long what it left stays after it lives there. */
  farewell_ms?: number;
  on_step?: (step: MoveStep) => void;
  /** Brings those files of the tenant over that are not there yet, and tells how many that were. */
  copyFiles?: (tenant_id: string) => Promise<number>;
  /** Once it lives there. */
  removeFiles?: (tenant_id: string) => Promise<void>;
}

export interface Moved {
  tenant_id: string;
  from: string;
  to: string;
  rows: number;
  files: number;
  /** For so long its calls were refused. */
  closed_ms: number;
}

const POLL_MS = 50;
const FAREWELL_MS = 2_500;

/** Where it lives. Cells that are away do not count, as long as it is found in another. Throws NotFound. */
export async function cellOf(cells: readonly Cell[], tenant_id: string): Promise<Cell> {
  const { answers, away } = await askAll(cells, (cell) => homeIn(cell, { tenant_id }));
  // Closed here and served there: it has arrived, and what it left is not away yet.
  const arrived = answers.some(({ answer }) => answer?.state === null);
  const found = answers
    .filter(({ answer: home }) => home !== null && home.state !== "leaving" && !(arrived && home.state === "closed"))
    .map(({ cell }) => cell);
  if (found.length === 1) return found[0] as Cell;
  if (found.length === 0) {
    if (away.length === 0) throw new NotFound(`no cell has a tenant ${JSON.stringify(tenant_id)}`);
    throw new Unavailable(`no cell that answers has a tenant ${JSON.stringify(tenant_id)}`, {
      hint: `away: ${away.map(({ cell }) => cell.name).join(", ")}`,
    });
  }
  const names = found.map(({ name }) => name).join(" and ");
  throw new NotAllowedNow(`a tenant ${JSON.stringify(tenant_id)} is in ${names}`, {
    hint: "these are two tenants of one name, or a move that has not ended: fanfold cells status",
  });
}

/** Goes on with a move to there that was broken off. */
export async function moveTenant(
  cells: readonly Cell[],
  tenant_id: string,
  to: Cell,
  options: MoveOptions = {},
): Promise<Moved> {
  const { patience_s = 60, on_step = () => {} } = options;
  const { from, move_id } = await sidesOf(cells, tenant_id, to);
  const request = { tenant_id, move_id, actor: options.actor ?? null };
  const numbered = await factsOf(from);
  await assertOneSchema(from, to);

  // The other side first: what cannot arrive must not leave.
  const arrives = { ...request, cell: from.name, numbers: numbered.numbers };
  const state = await untilUnlocked(() =>
    here<string>(to, (db, text) => db.sql`select app.begin_arrival(${text}::text::json) as reply`, arrives),
  );
  if (state !== "arrived") {
    try {
      await here(from, (db, text) => db.sql`select app.begin_move(${text}::text::json) as reply`, {
        ...request,
        cell: to.name,
      });
    } catch (error) {
      const stays = { ...request, cell: from.name };
      await here(to, (db, text) => db.sql`select app.forget_arrival(${text}::text::json) as reply`, stays);
      throw error;
    }
  }
  let [rows, files, closed_ms] = [0, 0, 0];
  if (state !== "arrived") {
    // Most of them while the tenant is still served.
    files = (await options.copyFiles?.(tenant_id)) ?? 0;
    await othersEnd(from, patience_s);
    await drain(from, request, options);
    const closed_at = performance.now();
    on_step({ step: "closed" });
    await othersEnd(from, patience_s);
    await fault("cells.closed");
    files += (await options.copyFiles?.(tenant_id)) ?? 0;
    if (options.copyFiles !== undefined) on_step({ step: "files", files });
    rows = await bring(from, to, request, on_step);
    closed_ms = Math.round(performance.now() - closed_at);
    on_step({ step: "arrived", rows });
    await fault("cells.arrived");
  }
  on_step({ step: "leaving" });
  // Routers hear of it within a second and end its streams here; with its keys gone they would be told that these were revoked.
  await sleep(options.farewell_ms ?? FAREWELL_MS);
  // Before the last row goes: a mover that is broken off is told by the rows that are left to go on.
  await options.removeFiles?.(tenant_id);
  while (await here(from, (db, text) => db.sql`select app.leave_for_good(${text}::text::json) as reply`, request)) {
    await fault("cells.leaving");
  }
  return { tenant_id, from: from.name, to: to.name, rows, files, closed_ms };
}

/** The tenant stays where it was. Refused once it lives in the other cell. */
export async function cancelMove(
  cells: readonly Cell[],
  tenant_id: string,
): Promise<{ tenant_id: string; cell: string }> {
  const { answers } = await askAll(cells, factsOf);
  const found = answers.find(({ answer }) => leavingIn(answer, tenant_id) !== undefined);
  const move = found && leavingIn(found.answer, tenant_id);
  if (found === undefined || move === undefined)
    throw new NotFound(`tenant ${JSON.stringify(tenant_id)} is not being moved`);
  const request = { tenant_id, move_id: move.move_id, cell: found.cell.name };
  // There first: whoever moves it still can bring nothing any more.
  await here(
    cellNamed(cells, move.other_cell),
    (db, text) => db.sql`select app.forget_arrival(${text}::text::json) as reply`,
    request,
  );
  await here(found.cell, (db, text) => db.sql`select app.cancel_move(${text}::text::json) as reply`, request);
  return { tenant_id, cell: found.cell.name };
}

function leavingIn({ moving }: CellFacts, tenant_id: string): Move | undefined {
  return moving.find((one) => one.tenant_id === tenant_id && one.state !== "arriving");
}

/** From where, and by which move: one that was begun goes on. */
export async function sidesOf(
  cells: readonly Cell[],
  tenant_id: string,
  to: Cell,
): Promise<{ from: Cell; move_id: string }> {
  const { answers } = await askAll(cells, factsOf);
  for (const { cell: from, answer } of answers) {
    const move = leavingIn(answer, tenant_id);
    if (move === undefined) continue;
    if (move.other_cell === to.name) return { from, move_id: move.move_id };
    throw new NotAllowedNow(`tenant ${JSON.stringify(tenant_id)} is being moved to cell ${move.other_cell}`, {
      hint: `finish that first: fanfold cells move ${tenant_id} --to ${move.other_cell}`,
    });
  }
  const from = await cellOf(cells, tenant_id);
  if (from === to) throw new NotAllowedNow(`tenant ${JSON.stringify(tenant_id)} lives in cell ${to.name} already`);
  // One that had begun to arrive when its mover died, before it began to leave.
  const begun = answers.find(({ cell }) => cell === to)?.answer.moving.find((one) => one.tenant_id === tenant_id);
  return { from, move_id: begun?.move_id ?? randomUUID() };
}

async function assertOneSchema(from: Cell, to: Cell): Promise<void> {
  const [one, other] = await Promise.all(
    [from, to].map(({ db }) => db.sql`select version, hash from app.schema_migrations order by version`),
  );
  if (JSON.stringify(one) === JSON.stringify(other)) return;
  throw new NotAllowedNow(`cells ${from.name} and ${to.name} have different schemas`, {
    hint: "bring both to the same release first: fanfold migrate",
  });
}

interface Request {
  tenant_id: string;
  move_id: string;
  actor?: string | null;
}

function here<T>(
  { db }: Pick<Cell, "db">,
  verb: (db: Queryable, text: string) => Promise<Record<string, unknown>[]>,
  request: object,
): Promise<T> {
  return asked<T>(verb(db, JSON.stringify(request)));
}

/** Until every transaction that runs now has ended: none is left that may not have seen what was just written. */
async function othersEnd({ db, name }: Cell, patience_s: number): Promise<void> {
  const before = await asked<string[]>(db.sql`select app.running_transactions() as reply`);
  const give_up_at = performance.now() + patience_s * 1000;
  for (let left = before; left.length > 0; ) {
    left = await asked<string[]>(db.sql`select app.running_transactions(${JSON.stringify(left)}::text::json) as reply`);
    if (left.length === 0) return;
    if (performance.now() > give_up_at) {
      throw new NotAllowedNow(`a transaction in cell ${name} does not end (${left.join(", ")})`, {
        hint: "look for it in pg_stat_activity, end it, and run the same command again",
      });
    }
    await sleep(POLL_MS);
  }
}

async function drain(
  from: Cell,
  request: Request,
  { take_back_after_s, on_step = () => {} }: MoveOptions,
): Promise<void> {
  const take_back_at =
    take_back_after_s === undefined ? Number.POSITIVE_INFINITY : performance.now() + take_back_after_s * 1000;
  for (let told = -1; ; ) {
    const take_back = performance.now() >= take_back_at;
    const { state, held } = await here<{ state: string; held: number }>(
      from,
      (db, text) => db.sql`select app.close_for_move(${text}::text::json) as reply`,
      { ...request, take_back },
    );
    if (state === "closed") return;
    if (held !== told) on_step({ step: "draining", held });
    told = held;
    await sleep(POLL_MS);
  }
}

interface Page {
  table: string;
  rows: string[];
  next: { table: string } | null;
}

/** All rows in one transaction there, read in one that sees one state here: nobody ever finds a part of them. */
async function bring(from: Cell, to: Cell, request: Request, on_step: (step: MoveStep) => void): Promise<number> {
  const text = JSON.stringify(request);
  return from.db.transaction(async (source) => {
    await source.script("set transaction isolation level repeatable read, read only");
    const { numbers } = await asked<{ numbers: object }>(source.sql`select app.cell_facts() as reply`);
    // In a transaction of its own: everybody who takes a number there waits for its end.
    const again = JSON.stringify({ ...request, numbers, cell: from.name });
    await untilUnlocked(() => asked(to.db.sql`select app.begin_arrival(${again}::text::json) as reply`));
    return to.db.transaction(async (target) => {
      let rows = 0;
      for await (const page of pagesOf(source, text)) {
        if (page.rows.length === 0) continue;
        const records = JSON.stringify(page.rows);
        rows += await asked<number>(
          target.sql`select app.arrive_rows(${text}::text::json, ${page.table}::text, ${records}::text::json) as reply`,
        );
        on_step({ step: "rows", rows, table: page.table });
      }
      await asked(target.sql`select app.end_arrival(${text}::text::json) as reply`);
      return rows;
    });
  });
}

/** The next page is read while one is written. */
async function* pagesOf(source: OpenTransaction, text: string): AsyncGenerator<Page> {
  const ask = (after: string | null) =>
    asked<Page>(source.sql`select app.leaving_rows(${text}::text::json, ${after}::text::json) as reply`);
  for (let next: Promise<Page> | null = ask(null); next !== null; ) {
    const page: Page = await next;
    next = page.next === null ? null : ask(JSON.stringify(page.next));
    // Its failure is told when it is this page's turn.
    next?.catch(() => {});
    yield page;
  }
}
