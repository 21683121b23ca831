// Which cell a credential belongs to. Nothing of it is kept but the id of a key or the hash of a token, and in which cell it was found; the cells
// themselves decide, and are asked again after four seconds.

import type { IncomingMessage } from "node:http";
import { performance } from "node:perf_hooks";
import { LRUCache } from "lru-cache";
import { Conflict, Moving, Unavailable } from "../../core/errors/errors.js";
import { readKey } from "../../core/values/api_key.js";
import { isSessionToken, tokenHash } from "../../core/values/session_token.js";
import { askAll, type Cell, type Home, type HomeQuestion, homeIn } from "../../engine/cells/cells.js";

const REMEMBERED_MS = 4_000;
const MOST_REMEMBERED = 50_000;
/** A cell that takes longer counts as away. */
const PATIENCE_MS = 2_000;

/** Nobody can say now what would become of the call: nothing was begun. */
export class CellAway extends Unavailable {
  override readonly code = "stopping";
  readonly retry_after_s = 2;

  constructor(names: readonly string[]) {
    const which = names.length === 1 ? `cell ${names[0]} is` : `cells ${names.join(", ")} are`;
    super(`${which} away`, { hint: "try again: its tenants wait until it is back, those of other cells do not" });
  }
}

export interface Known {
  cell: Cell;
  tenant_id: string;
  at: number;
}

export interface Found {
  cell: Cell;
  home: Home;
}

export class Homes {
  readonly #known = new LRUCache<string, Known>({ max: MOST_REMEMBERED });
  readonly #asking = new Map<string, Promise<Known | null>>();

  constructor(
    private readonly cells: readonly Cell[],
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** null: no cell knows it. Throws CellAway where one that does not answer may know it, Moving while its tenant is under way. */
  async find(question: HomeQuestion): Promise<Known | null> {
    const name = JSON.stringify(question);
    const known = this.#known.get(name);
    if (known !== undefined && this.now() - known.at < REMEMBERED_MS) return known;
    let asking = this.#asking.get(name);
    if (asking === undefined) {
      asking = this.#ask(name, question, known).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    return asking;
  }

  /** Whether a cell knew it when it was last asked. */
  remembers(question: HomeQuestion): boolean {
    return this.#known.has(JSON.stringify(question));
  }

  forget(question: HomeQuestion): void {
    const name = JSON.stringify(question);
    const known = this.#known.get(name);
    // Where it was is remembered all the same: if that cell does not answer, it is the one that is waited for.
    if (known !== undefined) this.#known.set(name, { ...known, at: Number.NEGATIVE_INFINITY });
  }

  async #ask(name: string, question: HomeQuestion, known: Known | undefined): Promise<Known | null> {
    const at = this.now();
    if (known !== undefined) {
      const home = await inTime(homeIn(known.cell, question)).catch(() => {
        throw new CellAway([known.cell.name]);
      });
      if (home !== null && livesThere(home)) return this.#remember(name, { ...known, at });
    }
    const { answers, away } = await askAll(this.cells, (cell) => inTime(homeIn(cell, question)));
    const found = answers.flatMap(({ cell, answer }) => (answer === null ? [] : [{ cell, home: answer }]));
    const [home, other] = found.filter((one) => livesThere(one.home));
    if (other !== undefined) {
      throw new Conflict(`the tenant ${home?.home.tenant_id} is in more than one cell`, {
        hint: "use a key of the one that is meant",
      });
    }
    if (home !== undefined) return this.#remember(name, { cell: home.cell, tenant_id: home.home.tenant_id, at });
    if (found.length > 0)
      throw new Moving(`tenant "${found[0]?.home.tenant_id}" is being moved`, { hint: "try again: it takes seconds" });
    if (away.length > 0) throw new CellAway(away.map(({ cell }) => cell.name));
    this.#known.delete(name);
    return null;
  }

  #remember(name: string, known: Known): Known {
    this.#known.set(name, known);
    return known;
  }
}

function livesThere({ state }: Home): boolean {
  return state === null || state === "draining";
}

export async function inTime<T>(work: Promise<T>, patience_ms = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patience_ms} ms`)), patience_ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a call says of who sends it; null: nothing that a cell could know. The cell looks whether it is true. */
export function questionOf({ headers, url = "" }: IncomingMessage, tenant_claim: string): HomeQuestion | null {
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "") ?? [];
  if (bearer !== undefined) return questionOfText(bearer) ?? ofToken(bearer, tenant_claim);
  if (headers.authorization !== undefined) return null;
  const tenant = /[?&]signature=/.test(url) ? new URLSearchParams(url.slice(url.indexOf("?"))).get("tenant") : null;
  if (tenant !== null) return { tenant_id: tenant };
  for (const pair of (headers.cookie ?? "").split(";")) {
    const value = pair.slice(pair.indexOf("=") + 1).trim();
    if (isSessionToken(value)) return { token_hash: tokenHash(value) };
  }
  return null;
}

/** Of a key, or of the code in a link that signs in. */
export function questionOfText(text: string): HomeQuestion | null {
  const key = readKey(text);
  if (key !== null) return { key_id: key.key_id };
  return text.startsWith("ffl_") ? { token_hash: tokenHash(text) } : null;
}

/** The claim is only read here: the cell verifies the token. */
function ofToken(token: string, tenant_claim: string): HomeQuestion | null {
  try {
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    const tenant_id: unknown = claims?.[tenant_claim];
    return typeof tenant_id === "string" && tenant_id.length <= 63 ? { tenant_id } : null;
  } catch {
    return null;
  }
}
