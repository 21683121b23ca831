// @ts-check
// What is measured, with whom and how often; and the rounds themselves: contenders take turns inside each round, and
// each round starts with another one, so that a slow minute of the machine hits all of them.
import { median } from "../statistics.js";
import { create } from "./creation.js";
import { drain } from "./drain.js";
import { fold } from "./fold.js";
import { drainsWithHistory } from "./history.js";
import { latency } from "./latency.js";
import { tinyJobs } from "./tiny.js";

/**
 * @typedef {{ value: number, details: Record<string, number> }} Run
 * @typedef {import("./drain.js").Entry & { label: string, rounds?: number }} Row
 * @typedef {object} Measure
 * @property {string} name
 * @property {string} title
 * @property {string} unit
 * @property {"higher" | "lower"} better
 * @property {number} rounds
 * @property {Row[]} rows
 * @property {(bench: import("../cell.js").Bench, row: Row) => Promise<Run>} [run] one cell
 * @property {(bench: import("../cell.js").Bench, row: Row) => Promise<{ label: string, runs: Run[] }[]>} [series] all rounds of a row
 *
 * @typedef {object} RowResult
 * @property {string} contender
 * @property {string} kind
 * @property {string} label
 * @property {number[]} values one per round
 * @property {number} median
 * @property {Record<string, number>} details medians
 * @property {Record<string, number[]>} all_details one per round
 * @property {string[]} errors
 *
 * @typedef {object} MeasureResult
 * @property {string} name
 * @property {string} title
 * @property {string} unit
 * @property {"higher" | "lower"} better
 * @property {RowResult[]} rows
 * @property {number} left_out cells not run because the time was up
 */

/** @type {Row[]} */
const PEER_DRAINS = [
  { contender: "hand_loop", kind: "wide", label: "hand-written range-claim loop" },
  { contender: "graphile_worker", kind: "lone", label: "graphile-worker (keeps nothing)" },
  { contender: "pg_boss", kind: "lone", label: "pg-boss (one result per batch)" },
  { contender: "pg_boss_results", kind: "lone", label: "pg-boss (result per job)" },
];
/** @type {Row[]} */
const OUR_DRAINS = [
  { contender: "fanfold", kind: "wide", label: "Fanfold, one wide stage" },
  { contender: "fanfold", kind: "lone", label: "Fanfold, lone tasks enqueued in bulk" },
];

/** @param {import("../options.js").Options} options @returns {Measure[]} */
export function allMeasures({ n, rounds }) {
  const number = (/** @type {number} */ count) => count.toLocaleString("en");
  /** @param {string} name @param {string} title @param {number} processes @param {number | null} connections @param {number} times @param {Row[]} rows @returns {Measure} */
  const drains = (name, title, processes, connections, times, rows) => ({
    name,
    title: `Drain of ${number(n.tasks)} no-op tasks, ${title}`,
    unit: "tasks/s",
    better: "higher",
    rounds: times,
    rows,
    run: (bench, row) => drain(bench, row, { n: row.n ?? n.tasks, processes, connections }),
  });
  /** @type {Measure[]} */
  const measures = [
    {
      name: "creation",
      title: `Bulk creation of ${number(n.tasks)} tasks`,
      unit: "tasks/s",
      better: "higher",
      rounds: rounds.main,
      rows: [
        { contender: "fanfold", kind: "lone", label: "Fanfold, enqueueMany" },
        { contender: "fanfold", kind: "wide", label: "Fanfold, submit and plan one wide stage" },
        { contender: "graphile_worker", kind: "lone", label: "graphile-worker, add_jobs" },
        { contender: "pg_boss", kind: "lone", label: "pg-boss, insert" },
      ],
      run: (bench, row) => create(bench, row, { n: n.tasks }),
    },
    drains("drain", "one process", 1, null, rounds.main, [
      ...OUR_DRAINS,
      {
        contender: "fanfold",
        kind: "lone_single",
        n: n.single,
        label: `Fanfold, ${number(n.single)} lone tasks enqueued singly`,
      },
      ...PEER_DRAINS,
    ]),
    {
      name: "fold",
      title: `Fan-out to ${number(n.fold)} and fold`,
      unit: "ms",
      better: "lower",
      rounds: rounds.main,
      rows: [
        { contender: "fanfold", kind: "fold", label: "Fanfold, plan, fan out, fold over the results" },
        { contender: "pg_boss", kind: "fold", label: "pg-boss, flow() (its fold reads nothing)" },
        {
          contender: "graphile_worker",
          kind: "fold",
          rounds: rounds.setups,
          label: "graphile-worker, counter by hand",
        },
      ],
      run: (bench, row) => fold(bench, row, { n: n.fold }),
    },
    {
      name: "latency",
      title: `Submit to start when idle, p95 of ${n.samples}`,
      unit: "ms",
      better: "lower",
      rounds: rounds.setups,
      rows: [
        { contender: "fanfold", kind: "idle_task", label: "Fanfold, enqueue" },
        { contender: "fanfold", kind: "idle_job", label: "Fanfold, submit of a job" },
        { contender: "graphile_worker", kind: "idle_task", label: "graphile-worker, add_job" },
        { contender: "pg_boss", kind: "idle_task", label: "pg-boss, send with notify" },
      ],
      run: (bench, row) => latency(bench, row, { n: n.samples }),
    },
    {
      name: "tiny",
      title: `${number(n.tiny)} tiny jobs of two tasks`,
      unit: "jobs/s",
      better: "higher",
      rounds: rounds.setups,
      rows: [{ contender: "fanfold", kind: "tiny", label: "Fanfold, run to completion" }],
      run: (bench, row) => tinyJobs(bench, row, { n: n.tiny }),
    },
    {
      name: "fold_wide",
      title: `Fan-out to ${number(n.fold_wide)} and fold`,
      unit: "ms",
      better: "lower",
      rounds: 1,
      rows: [{ contender: "fanfold", kind: "fold", label: "Fanfold, plan, fan out, fold over the results" }],
      run: (bench, row) => fold(bench, row, { n: n.fold_wide }),
    },
    drains("drain_8", "two processes, 8 connections", 2, 4, rounds.setups, [...OUR_DRAINS, ...PEER_DRAINS]),
    drains("drain_32", "two processes, 32 connections", 2, 16, rounds.setups, [...OUR_DRAINS, ...PEER_DRAINS]),
    {
      name: "history",
      title: `Drain of ${number(n.tasks)} with ${number(n.history)} finished tasks in the tables`,
      unit: "tasks/s",
      better: "higher",
      rounds: rounds.history,
      rows: [
        { contender: "fanfold", kind: "wide", label: "Fanfold, one wide stage" },
        { contender: "fanfold", kind: "lone", label: "Fanfold, lone tasks" },
      ],
      series: async (bench, row) => {
        const { none, some } = await drainsWithHistory(bench, row, {
          n: n.tasks,
          history: n.history,
          rounds: rounds.history,
        });
        return [
          { label: `${row.label}, no history`, runs: none },
          { label: `${row.label}, with history`, runs: some },
        ];
      },
    },
  ];
  return measures;
}

/** @param {import("../cell.js").Bench} bench @param {Measure} measure @param {() => boolean} time_is_up @returns {Promise<MeasureResult>} */
export async function runMeasure(bench, measure, time_is_up) {
  const rows = measure.rows.filter(({ contender }) => bench.options.contenders.has(contender));
  /** @type {Map<string, { row: Row, runs: Run[], errors: string[] }>} */
  const found = new Map(measure.series ? [] : rows.map((row) => [row.label, { row, runs: [], errors: [] }]));
  let left_out = 0;
  for (let round = 0; round < (measure.series ? 1 : measure.rounds); round++) {
    for (let turn = 0; turn < rows.length; turn++) {
      const row = /** @type {Row} */ (rows[(turn + round) % rows.length]);
      if (round >= (row.rounds ?? measure.rounds)) continue;
      if (time_is_up()) {
        left_out += 1;
        continue;
      }
      try {
        if (measure.series) {
          bench.say(`${measure.name}: ${row.label}`);
          for (const { label, runs } of await measure.series(bench, row)) found.set(label, { row, runs, errors: [] });
        } else if (measure.run) {
          const run = await measure.run(bench, row);
          found.get(row.label)?.runs.push(run);
          bench.say(
            `${measure.name} ${round + 1}/${measure.rounds}: ${row.label}: ${figure(run.value)} ${measure.unit}`,
          );
        }
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        bench.say(`${measure.name} ${round + 1}/${measure.rounds}: ${row.label}: FAILED: ${text}`);
        const failed = found.get(row.label) ?? { row, runs: [], errors: [] };
        failed.errors.push(text);
        found.set(row.label, failed);
      }
    }
  }
  const { name, title, unit, better } = measure;
  return {
    name,
    title,
    unit,
    better,
    left_out,
    rows: [...found].map(([label, { row, runs, errors }]) => summary(label, row, runs, errors)),
  };
}

/** @param {number} value */
const figure = (value) => (value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2));

/** @param {string} label @param {Row} row @param {Run[]} runs @param {string[]} errors @returns {RowResult} */
function summary(label, { contender, kind }, runs, errors) {
  const values = runs.map(({ value }) => value);
  const names = Object.keys(runs[0]?.details ?? {});
  const all_details = Object.fromEntries(
    names.map((name) => [name, runs.map(({ details }) => details[name] ?? Number.NaN)]),
  );
  const details = Object.fromEntries(Object.entries(all_details).map(([name, all]) => [name, median(all)]));
  return { contender, kind, label, values, median: median(values), details, all_details, errors };
}
