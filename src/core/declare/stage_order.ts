// The order of stages: resolves `after` and `of`, finds circles, and numbers the stages so that each comes after those it
// waits for. A list without `after` keeps its order. Pure.
import { quoted, suggestion } from "../errors/problems.js";
import type { Parallelism } from "../shown/statuses.js";
import type { Report } from "./report.js";

export interface OrderedStage {
  name: string;
  parallelism: Parallelism;
  after: unknown;
  of: unknown;
  report: Report;
}

/** What is ordered, and what it is a part of. */
export interface OrderWords {
  one: string;
  whole: string;
}

const of_jobs: OrderWords = { one: "stage", whole: "job" };

/** Positions in the list as it was declared. */
export interface StagePosition {
  after: number[];
  of: number | null;
}

/** For every stage its place, and the positions in an order in which they can run. */
export function orderStages(
  stages: readonly OrderedStage[],
  words: OrderWords = of_jobs,
): { places: StagePosition[]; order: number[] } {
  const positions = new Map<string, number>();
  stages.forEach(({ name }, position) => {
    if (!positions.has(name)) positions.set(name, position);
  });
  const places = stages.map((stage, position) => {
    const after = readAfter(stage, position, positions, words);
    return { after, of: readOf(stage, after, positions) };
  });
  const edges = places.map(({ after }) => after);
  const circle = findCircle(edges);
  if (circle === null) return { places, order: topological(edges) };
  const names = circle.map((position) => stages[position]!.name).join(" → ");
  const first = stages[circle[0]!]!;
  first.report.add(
    "after",
    `makes a circle: ${names}`,
    `Remove one of these; no ${words.one} of a circle could ever start.`,
  );
  return { places, order: stages.map((_, position) => position) };
}

function readAfter(
  stage: OrderedStage,
  position: number,
  positions: ReadonlyMap<string, number>,
  { one, whole }: OrderWords,
): number[] {
  const { after, report } = stage;
  if (after === undefined) return position === 0 ? [] : [position - 1];
  if (!Array.isArray(after)) {
    report.add("after", `must be a list of ${one} names, not ${quoted(after)}`, 'Write after: ["name"].');
    return [];
  }
  const found = new Set<number>();
  for (const name of after as unknown[]) {
    const target = typeof name === "string" ? positions.get(name) : undefined;
    if (target === undefined) {
      const fix = typeof name === "string" ? suggestion(name, positions.keys()) : `Name ${one}s by their names.`;
      report.add("after", `${quoted(name)} is no ${one} of this ${whole}`, fix);
    } else if (target === position) {
      report.add("after", `names the ${one} itself`, `Name the ${one} it waits for.`);
    } else if (found.has(target)) {
      report.add("after", `names ${quoted(name)} twice`, "Name it once.");
    } else {
      found.add(target);
    }
  }
  return [...found].sort((a, b) => a - b);
}

function readOf(stage: OrderedStage, after: readonly number[], positions: ReadonlyMap<string, number>): number | null {
  const { of, parallelism, report } = stage;
  if (of !== undefined && of !== null) {
    const target = typeof of === "string" ? positions.get(of) : undefined;
    if (target !== undefined && after.includes(target)) return target;
    report.add(
      "of",
      `${quoted(of)} is not among the stages in after`,
      "Name one of them, or leave it out when there is only one.",
    );
    return null;
  }
  if (after.length === 1) return after[0]!;
  if (after.length > 1 && parallelism !== "single") {
    report.add(
      "of",
      `is missing: a ${parallelism} stage after several stages must say whose results it takes`,
      'Add of: "name".',
    );
  }
  return null;
}

/** The positions of one circle, first and last the same; null when there is none. */
function findCircle(edges: readonly (readonly number[])[]): number[] | null {
  const done = new Set<number>();
  const trail: number[] = [];
  const visit = (position: number): number[] | null => {
    if (done.has(position)) return null;
    const seen_at = trail.indexOf(position);
    if (seen_at !== -1) return [...trail.slice(seen_at), position].reverse();
    trail.push(position);
    for (const before of edges[position]!) {
      const circle = visit(before);
      if (circle !== null) return circle;
    }
    trail.pop();
    done.add(position);
    return null;
  };
  for (let position = 0; position < edges.length; position++) {
    const circle = visit(position);
    if (circle !== null) return circle;
  }
  return null;
}

/** Always the first stage of the list whose predecessors are placed, so that a list in good order stays as it is. */
function topological(edges: readonly (readonly number[])[]): number[] {
  const placed = new Set<number>();
  while (placed.size < edges.length) {
    const next = edges.findIndex(
      (after, position) => !placed.has(position) && after.every((before) => placed.has(before)),
    );
    placed.add(next);
  }
  return [...placed];
}
