// @ts-check
// The command line, read once into one frozen object with every count of the run.
import { parseArgs } from "node:util";
import { CONTENDERS } from "./contenders/index.js";

/** What has a goal comes first: a quick run that runs out of time leaves out the end. */
export const MEASURES = ["creation", "drain", "fold", "latency", "tiny", "fold_wide", "drain_8", "drain_32", "history"];

/**
 * @typedef {object} Options
 * @property {boolean} quick
 * @property {boolean} json
 * @property {Set<string>} measures
 * @property {Set<string>} contenders
 * @property {number | null} budget_s measures that would start later than this are left out
 * @property {{ tasks: number, single: number, tiny: number, samples: number, fold: number, fold_wide: number, history: number }} n
 * @property {{ main: number, setups: number, history: number }} rounds
 */

const FULL = {
  tasks: 100_000,
  single: 100_000,
  tiny: 100_000,
  samples: 200,
  fold: 10_000,
  fold_wide: 100_000,
  history: 1_000_000,
};
const QUICK = {
  tasks: 50_000,
  single: 10_000,
  tiny: 10_000,
  samples: 150,
  fold: 10_000,
  fold_wide: 100_000,
  history: 0,
};

export const USAGE = `npm run bench -- [--quick] [--only name,name] [--json] [--n tasks] [--rounds n]

  --quick    within four minutes: smaller counts, no history
  --only     these measures and contenders only
             measures:   ${MEASURES.join(" ")}
             contenders: ${CONTENDERS.map(({ name }) => name).join(" ")}
  --json     the whole result as JSON on stdout instead of tables
  --n        no count larger than this one, for a trial
  --rounds   rounds of every measure
`;

export class UsageError extends Error {}

/** @param {string[]} args @returns {Options | null} null = help was asked for */
export function readOptions(args) {
  const { values } = parse(args);
  if (values.help) return null;
  const quick = values.quick ?? false;
  const cap = count("--n", values.n) ?? Number.POSITIVE_INFINITY;
  const rounds = count("--rounds", values.rounds);
  const names = (values.only ?? "").split(",").filter(Boolean);
  const contender_names = CONTENDERS.map(({ name }) => name);
  const unknown = names.filter((name) => !MEASURES.includes(name) && !contender_names.includes(name));
  if (unknown.length > 0) throw new UsageError(`--only: nothing is called ${unknown.join(", ")}`);
  const chosen = (/** @type {string[]} */ all) => {
    const named = all.filter((name) => names.includes(name));
    return new Set(named.length > 0 ? named : all);
  };
  const measures = chosen(MEASURES);
  if (quick) measures.delete("history");
  const n = Object.fromEntries(
    Object.entries(quick ? QUICK : FULL).map(([name, value]) => [name, Math.min(value, cap)]),
  );
  return Object.freeze({
    quick,
    json: values.json ?? false,
    measures,
    contenders: chosen(contender_names),
    budget_s: quick ? 190 : null,
    n: /** @type {Options["n"]} */ (n),
    rounds: { main: rounds ?? 3, setups: rounds ?? (quick ? 1 : 3), history: rounds ?? 5 },
  });
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        quick: { type: "boolean" },
        json: { type: "boolean" },
        only: { type: "string" },
        n: { type: "string" },
        rounds: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} option @param {string | undefined} text */
function count(option, text) {
  if (text === undefined) return null;
  const value = Number(text.replaceAll("_", ""));
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`${option}: ${text} is not a whole number above zero`);
  return value;
}
