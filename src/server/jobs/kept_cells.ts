// The cells of stages that somebody looks at: read once for all who do, and not again before they can have changed enough to see.
// What cost much is kept longer, so that a large stage never takes more than a tenth of a connection. Not a source of truth.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { encodeCells } from "../../core/shown/cells.js";
import type { Engine } from "../../engine/engine.js";
import { readStageCells, type StageCells } from "../../engine/verbs/stage_cells.js";

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

type Read = (engine: Engine, job_id: string, stage: string, known: string | null) => Promise<StageCells>;

export class StageCellsKeeper {
  readonly #kept: LRUCache<string, KeptCells, Parameters<StageCellsKeeper["of"]>>;

  constructor(read: Read = readStageCells, now: () => number = () => performance.now()) {
    this.#kept = new LRUCache({
      max: MOST_KEPT,
      ttl: FRESH_MS,
      ttlResolution: 0,
      perf: { now },
      ignoreFetchAbort: true,
      fetchMethod: async (_name, known, { options, context }) => {
        const begun = now();
        const { etag, header, columns } = await read(...context, known?.etag ?? null);
        options.ttl = Math.min(LONGEST_FRESH_MS, Math.max(FRESH_MS, (now() - begun) * SHARE));
        if (columns === null && known !== undefined) return known;
        const body = Buffer.from(encodeCells(header, columns ?? new Uint8Array()).buffer);
        let zipped: Promise<Buffer> | null = null;
        return { etag, body, zipped: () => (zipped ??= zip(body)) };
      },
    });
  }

  /** The cells of a tenant's stage; callers that ask at the same time share one reading. */
  of(...asked: [engine: Engine, job_id: string, stage: string]): Promise<KeptCells> {
    const [{ tenant }, job_id, stage] = asked;
    return this.#kept.forceFetch(JSON.stringify([tenant, job_id, stage]), { context: asked });
  }
}
