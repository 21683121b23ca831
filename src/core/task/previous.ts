// Which results of the stages before a task may read, and how: for handlers and planners in a worker on the database, and for
// handlers in one that came over HTTP. Where pages come from is the caller's part. Pure.

import { Permanent } from "../errors/errors.js";
import type { Loose, Previous, PreviousItem } from "./context.js";

export interface PreviousStage {
  number: number;
  name: string;
  stage_id: number;
  total: number | null;
  status: string;
}

/** What must be known of a stage to say what its tasks may read. */
export interface ReadingStage {
  stage: string;
  parallelism: "single" | "fan_out" | "fan_in" | "match_previous";
  batch: number | null;
  previous: readonly PreviousStage[];
  of: number | null;
}

/** Ordinals of one stage, the last one not itself; null: to the end. */
export interface ResultRange {
  stage: PreviousStage;
  from: number;
  to: number | null;
}

export interface ResultPages {
  items(range: ResultRange): AsyncGenerator<PreviousItem, void, void>;
  pages(range: ResultRange): AsyncGenerator<PreviousItem[], void, void>;
}

/** The reader a task or planner gets: of its `of` stage, of the only stage before, or of the one it names. */
export function openPrevious(source: ResultPages, stage: ReadingStage, ordinal: number): Previous {
  const named = (name: string): Previous => {
    const found = stage.previous.find((candidate) => candidate.name === name);
    if (found === undefined) {
      const known = stage.previous.map((candidate) => `"${candidate.name}"`).join(", ") || "none";
      throw new Permanent(`stage "${stage.stage}" does not come after a stage "${name}"; it comes after: ${known}`);
    }
    return reader(source, () => rangeOf(stage, found, ordinal), named);
  };
  return reader(source, () => rangeOf(stage, onlyPrevious(stage), ordinal), named);
}

function onlyPrevious(stage: ReadingStage): PreviousStage {
  const found =
    stage.of === null
      ? stage.previous.length === 1
        ? stage.previous[0]
        : undefined
      : stage.previous.find((candidate) => candidate.number === stage.of);
  if (found !== undefined) return found;
  if (stage.previous.length === 0) throw new Permanent(`stage "${stage.stage}" has no stage before it to read from`);
  const names = stage.previous.map((candidate) => `previous("${candidate.name}")`).join(" or ");
  throw new Permanent(`stage "${stage.stage}" comes after several stages: say which, with ${names}`);
}

/** Task k of a batched fan-in sees the ordinals [k*batch, (k+1)*batch) of the stage it folds, and all of any other. */
function rangeOf(stage: ReadingStage, previous: PreviousStage, ordinal: number): ResultRange {
  const folded = stage.parallelism === "fan_in" && stage.batch !== null && ordinal >= 0;
  if (!folded || previous !== onlyPrevious(stage)) return { stage: previous, from: 0, to: null };
  return { stage: previous, from: ordinal * stage.batch!, to: (ordinal + 1) * stage.batch! };
}

function reader(source: ResultPages, range: () => ResultRange, named: (name: string) => Previous): Previous {
  const items = () => source.items(range());
  const read = Object.assign((name: string) => named(name), {
    [Symbol.asyncIterator]: items,
    one: () => readOne(items(), range()),
    all: async () => {
      const results: Loose[] = [];
      for await (const item of items()) results.push(item.result);
      return results;
    },
    results: () => source.pages(range()),
    count: 0,
  });
  Object.defineProperty(read, "count", { get: () => countOf(range()) });
  return read;
}

/** Tasks planned in that range, whatever became of them: how many results to expect at most. */
function countOf({ stage, from, to }: ResultRange): number {
  const total = stage.total ?? 0;
  return Math.max(0, Math.min(to ?? total, total) - from);
}

async function readOne(items: AsyncGenerator<PreviousItem, void, void>, { stage }: ResultRange): Promise<Loose> {
  const first = await items.next();
  if (first.done) throw new Permanent(`previous.one(): stage "${stage.name}" has no completed result`);
  const second = await items.next();
  if (!second.done) {
    await items.return();
    throw new Permanent(
      `previous.one(): stage "${stage.name}" has more than one result; iterate over previous instead`,
    );
  }
  return first.value.result;
}
