// The cells that a file names, with a connection pool to the database of each. Which tenant lives in which cell stands nowhere else than in these databases.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { BadRequest, NotFound } from "../../core/errors/errors.js";
import { jsonPath, quoted } from "../../core/errors/problems.js";
import { type CellSettings, cells_file } from "../../core/places/cells.js";
import type { Database } from "../database/database.js";
import { openServer } from "../database/server_database.js";
import type { FoundKey } from "../verbs/keys.js";
import { asked } from "../verbs/reply.js";

export interface Cell extends CellSettings {
  db: Database;
}

/** What stands between two cells, as one of the two knows it. */
export interface Move {
  tenant_id: string;
  move_id: string;
  state: "draining" | "closed" | "leaving" | "arriving";
  other_cell: string;
  began_at: string;
  changed_at: string;
  held: number;
}

export interface CellFacts {
  /** null: this database was not made a cell yet. */
  number: number | null;
  name: string | null;
  /** How far its sequences have come. */
  numbers: Record<string, number>;
  tenants: number;
  moving: Move[];
}

export interface Home {
  tenant_id: string;
  /** null: it lives there. */
  state: Move["state"] | null;
  key: FoundKey | null;
}

/** Throws BadRequest with everything that is wrong with the file. */
export function readCells(path: string): CellSettings[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new BadRequest(`the cells of ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, {
      hint: 'a file with {"cells": [{"name", "number", "urls", "database_url", "files"}, …]}',
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadRequest(`${path} is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  const read = cells_file.safeParse(value);
  if (read.success) return read.data.cells;
  const problems = read.error.issues.map(({ path: steps, message }) => ({
    path: jsonPath(steps.map((step) => (typeof step === "number" ? step : String(step)))),
    problem: message,
    fix: "",
  }));
  throw new BadRequest(`the cells of ${path} have problems`, { problems });
}

/** Connections are made when they are first needed. */
export function openCells(settings: readonly CellSettings[], options: { max?: number; wait_s?: number } = {}): Cell[] {
  return settings.map((one) => ({
    ...one,
    db: openServer(one.database_url, { max: 2, application_name: "fanfold cells", ...options }),
  }));
}

export async function closeCells(cells: readonly Cell[]): Promise<void> {
  await Promise.all(cells.map(({ db }) => db.close()));
}

export function cellNamed(cells: readonly Cell[], name: string): Cell {
  const found = cells.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new NotFound(`there is no cell ${quoted(name)}`, { hint: `one of ${cells.map((one) => one.name).join(", ")}` });
}

export function factsOf({ db }: Pick<Cell, "db">): Promise<CellFacts> {
  return asked(db.sql`select app.cell_facts() as reply`);
}

/** The answers of all cells that answer, and the cells that are away: these keep the others from nothing. */
export async function askAll<T>(cells: readonly Cell[], ask: (cell: Cell) => Promise<T>) {
  const settled = await Promise.allSettled(cells.map(ask));
  const answers: { cell: Cell; answer: T }[] = [];
  const away: { cell: Cell; why: unknown }[] = [];
  for (const [place, one] of settled.entries()) {
    const cell = cells[place] as Cell;
    if (one.status === "fulfilled") answers.push({ cell, answer: one.value });
    else away.push({ cell, why: one.reason });
  }
  return { answers, away };
}

export type HomeQuestion = { key_id: string } | { token_hash: string } | { tenant_id: string };

/** Whose it is, as far as this cell knows. */
export function homeIn({ db }: Pick<Cell, "db">, question: HomeQuestion): Promise<Home | null> {
  return asked(db.sql`select app.find_home(${JSON.stringify(question)}::text::json) as reply`);
}

/**
 * Gives each database its number. What they have given before is below all that any of them gives from here on. Again: new cells
 * are made, and those that there are go on.
 */
export async function prepareCells(cells: readonly Cell[]): Promise<CellFacts[]> {
  const before = await Promise.all(cells.map(factsOf));
  const above: Record<string, number> = {};
  for (const { numbers } of before) {
    for (const [name, last] of Object.entries(numbers)) above[name] = Math.max(above[name] ?? 0, last);
  }
  const made: CellFacts[] = [];
  for (const { db, number, name } of cells) {
    const request = JSON.stringify({ number, name, above });
    made.push(
      await untilUnlocked(() => asked<CellFacts>(db.sql`select app.number_cell(${request}::text::json) as reply`)),
    );
  }
  return made;
}

const PATIENCE_MS = 60_000;

/** Numbers are moved on when no open transaction has taken one. It is asked again and again for a moment, so that nobody waits behind it for long. */
export async function untilUnlocked<T>(work: () => Promise<T>, patience_ms = PATIENCE_MS): Promise<T> {
  for (const give_up_at = performance.now() + patience_ms; ; ) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: unknown }).code !== "55P03" || performance.now() > give_up_at) throw error;
      await sleep(200 + Math.random() * 300);
    }
  }
}
