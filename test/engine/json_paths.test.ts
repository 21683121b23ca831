// Which JSONPaths are taken: the same in TypeScript and in SQL, by shared vectors and by paths that chance puts together.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pathProblem } from "../../src/core/declare/json_path.js";
import { type FreshDatabase, freshDatabase } from "../postgres.js";
import vectors from "../vectors/json_paths.json" with { type: "json" };

/** Postgres knows the whole grammar; without it only some of what is malformed is noticed, in other words. */
const malformed = "is not a JSONPath as Postgres speaks it";
const all = vectors as { of: "when" | "each"; path: string; problem: string | null }[];

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

interface Told {
  problem: string;
  fix: string;
}

async function bySql(paths: readonly string[], is_condition: boolean): Promise<(Told | null)[]> {
  const rows = await fresh.db.sql<{ told: Told | null }>`
    select app.path_problem(p.value, ${is_condition}::boolean) as told
      from jsonb_array_elements_text(${JSON.stringify(paths)}::text::jsonb) with ordinality p(value, position) order by position`;
  return rows.map(({ told }) => told);
}

describe.each(["when", "each"] as const)("the shared vectors of %s", (of) => {
  const own = all.filter((vector) => vector.of === of);

  test("are told by SQL as they stand", async () => {
    const told = await bySql(
      own.map(({ path }) => path),
      of === "when",
    );
    expect(told.map((one, at) => ({ ...own[at], problem: one?.problem ?? null }))).toEqual(own);
  });

  test("are told by TypeScript in the same words, with the same advice", async () => {
    const told = await bySql(
      own.map(({ path }) => path),
      of === "when",
    );
    for (const [at, { path, problem }] of own.entries()) {
      const found = pathProblem(path, of === "when");
      if (problem !== malformed) expect({ path, found }).toEqual({ path, found: told[at] });
    }
  });
});

/** Numbers that are the same in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("paths that chance puts together are taken or refused by both alike", async () => {
  const pieces =
    '$ @ .a .b."c d" .* .** [*] [0] [0,1] [last] [1to2] ?( ( ) ) == != < && || ! exists( 1 -2 1e9 "x" true null + - .size() .keyvalue() starts_with like_regex is_unknown $.stages.a.total'.split(
      " ",
    );
  const next = chance(7);
  const spelled = (piece: string) =>
    piece.replace("starts_with", ' starts with "x"').replace("is_u", " is u").replace("1to2", "1 to 2");
  const paths = Array.from({ length: 6_000 }, () => {
    const tail = Array.from({ length: 1 + next(8) }, () => spelled(pieces[next(pieces.length)]!));
    return `$${next(2) === 0 ? ".a[*]" : ""}${tail.join(next(3) === 0 ? " " : "")}`;
  });
  const simple = Array.from({ length: 1_000 }, () => {
    const term = () =>
      `@${[".a", "[*]", ".size()", ""][next(4)]} ${["==", "<", "!="][next(3)]} ${["1", '"x"', "@.b", "$.c"][next(4)]}`;
    return `$.a[*] ? (${term()} ${["&&", "||"][next(2)]} ${["", "!", "exists"][next(3)]}(${next(3) === 0 ? "@.x" : term()}))`;
  });
  let taken = 0;
  for (const is_condition of [true, false]) {
    const told = await bySql([...paths, ...simple], is_condition);
    for (const [at, path] of [...paths, ...simple].entries()) {
      if (told[at]?.problem === malformed) continue;
      const found = pathProblem(path, is_condition);
      if (found === null) taken++;
      expect({ path, found }).toEqual({ path, found: told[at] });
    }
  }
  expect(taken).toBeGreaterThan(100);
});
