// The cells of stages that somebody looks at: read once for all who do, and not again before they can have changed enough to see.
// What cost much is kept longer, so that a large stage never takes more than a tenth of a connection. Not a source of truth.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { encodeCells } from "../core/cells.js";
import type { Engine } from "../engine/engine.js";
import { readStageCells, type StageCells } from "../engine/stage_cells.js";

const zip = promisify(gzip);

const FRESH_MS = 1_000;
/** The dashboard asks once more after this long (heat/freshness.ts): what is kept longer it would never see. */
export const LONGEST_FRESH_MS = 15_000;
const SHARE = 10;
const MOST_KEPT = 64;

export interface KeptCells {
  etag: string;
  body: Buffer;
  /** Made for the first who takes it. */
  zipped(): Promise<Buffer>;
}

interface Place {
  cells: KeptCells | null;
  fresh_until: number;
  reading: Promise<KeptCells> | null;
}

type Read = (engine: Engine, job_id: string, stage: string, known: string | null) => Promise<StageCells>;

export class StageCellsKeeper {
  readonly #places = new Map<string, Place>();

  constructor(
    private readonly read: Read = readStageCells,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Of a tenant's stage; those who ask at the same time share one reading. */
  async of(engine: Engine, job_id: string, stage: string): Promise<KeptCells> {
    const name = JSON.stringify([engine.tenant, job_id, stage]);
    const place = this.#places.get(name) ?? { cells: null, fresh_until: 0, reading: null };
    // The one that was asked for last is the last to go.
    this.#places.delete(name);
    this.#places.set(name, place);
    for (const [oldest] of this.#places) {
      if (this.#places.size <= MOST_KEPT) break;
      this.#places.delete(oldest);
    }
    if (place.cells !== null && this.now() < place.fresh_until) return place.cells;
    place.reading ??= this.#refresh(place, engine, job_id, stage).finally(() => {
      place.reading = null;
    });
    try {
      return await place.reading;
    } catch (error) {
      if (this.#places.get(name) === place) this.#places.delete(name);
      throw error;
    }
  }

  async #refresh(place: Place, engine: Engine, job_id: string, stage: string): Promise<KeptCells> {
    const begun = this.now();
    const { etag, header, columns } = await this.read(engine, job_id, stage, place.cells?.etag ?? null);
    const took = this.now() - begun;
    place.fresh_until = this.now() + Math.min(LONGEST_FRESH_MS, Math.max(FRESH_MS, took * SHARE));
    if (columns !== null || place.cells === null) {
      const body = Buffer.from(encodeCells(header, columns ?? new Uint8Array()).buffer);
      let zipped: Promise<Buffer> | null = null;
      place.cells = { etag, body, zipped: () => (zipped ??= zip(body)) };
    }
    return place.cells;
  }
}
