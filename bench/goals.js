// @ts-check
// The goals a run is held against. Each takes what was measured and says what it found, or nothing when it was not measured.

/**
 * @typedef {object} Verdict
 * @property {string} goal
 * @property {string} wanted
 * @property {number | null} found null = not measured in this run
 * @property {boolean | null} met
 */

/** @param {import("./measures/index.js").MeasureResult[]} results @param {{ sqlstate: string, database: string, count: number }[]} errors
 * @returns {Verdict[]} */
export function verdicts(results, errors) {
  const rows = (/** @type {string} */ measure) => results.find(({ name }) => name === measure)?.rows ?? [];
  const row = (/** @type {string} */ measure, /** @type {string} */ contender, /** @type {string} */ kind) =>
    rows(measure).find((each) => each.contender === contender && each.kind === kind && each.values.length > 0);
  const value = (/** @type {string} */ measure, /** @type {string} */ contender, /** @type {string} */ kind) =>
    row(measure, contender, kind)?.median ?? Number.NaN;

  const drains = ["drain", "drain_8", "drain_32"];
  /** The best median of some rows over some setups. @param {string[]} setups @param {string[]} contenders @param {string} kind */
  const best = (setups, contenders, kind) => {
    const medians = setups.flatMap((setup) => contenders.map((contender) => value(setup, contender, kind)));
    const found = medians.filter(Number.isFinite);
    return found.length > 0 ? Math.max(...found) : Number.NaN;
  };
  const boss = ["pg_boss", "pg_boss_results"];
  const one = ["drain"];
  const past = (/** @type {string} */ kind) =>
    rows("history").filter((each) => each.kind === kind && each.values.length > 0);
  const [none, some] = past("wide");
  const [none_lone, some_lone] = past("lone");
  const rises = rows("history").flatMap(({ all_details }) =>
    Object.entries(all_details).flatMap(([name, all]) => (name.endsWith("_rise") ? all : [])),
  );
  const memory = ["drain", "fold", "fold_wide"].flatMap((measure) =>
    rows(measure).flatMap(({ contender, kind, all_details }) =>
      contender === "fanfold" && kind !== "lone_single" ? (all_details.rss_mb ?? []) : [],
    ),
  );
  const deadlocks = errors.filter(({ sqlstate }) => sqlstate === "40P01").reduce((sum, { count }) => sum + count, 0);

  return [
    atLeast(
      "wide stage / graphile-worker, one process",
      2,
      best(one, ["fanfold"], "wide") / best(one, ["graphile_worker"], "lone"),
    ),
    atLeast(
      "wide stage / graphile-worker, each at its best setup",
      2,
      best(drains, ["fanfold"], "wide") / best(drains, ["graphile_worker"], "lone"),
    ),
    atLeast("wide stage / pg-boss, one process", 4, best(one, ["fanfold"], "wide") / best(one, boss, "lone")),
    atLeast(
      "wide stage / pg-boss, each at its best setup",
      4,
      best(drains, ["fanfold"], "wide") / best(drains, boss, "lone"),
    ),
    atLeast(
      "wide stage / hand-written loop, one process",
      0.5,
      best(one, ["fanfold"], "wide") / best(one, ["hand_loop"], "wide"),
    ),
    atLeast(
      "lone tasks / graphile-worker, one process",
      1,
      value("drain", "fanfold", "lone") / value("drain", "graphile_worker", "lone"),
    ),
    atLeast(
      "lone tasks enqueued singly / graphile-worker",
      1,
      value("drain", "fanfold", "lone_single") / value("drain", "graphile_worker", "lone"),
    ),
    atMost(
      "fan-out and fold / pg-boss flow(), time",
      1 / 3,
      value("fold", "fanfold", "fold") / value("fold", "pg_boss", "fold"),
    ),
    atLeast(
      "bulk creation, enqueueMany / graphile-worker",
      1,
      value("creation", "fanfold", "lone") / value("creation", "graphile_worker", "lone"),
    ),
    atLeast(
      "bulk creation, wide stage / graphile-worker",
      1,
      value("creation", "fanfold", "wide") / value("creation", "graphile_worker", "lone"),
    ),
    atMost(
      "idle latency p95, enqueue / graphile-worker",
      1,
      value("latency", "fanfold", "idle_task") / value("latency", "graphile_worker", "idle_task"),
    ),
    atMost(
      "idle latency p95, submit / graphile-worker",
      1,
      value("latency", "fanfold", "idle_job") / value("latency", "graphile_worker", "idle_task"),
    ),
    atLeast("wide stage with history / with none", 0.85, (some?.median ?? Number.NaN) / (none?.median ?? Number.NaN)),
    atLeast(
      "lone tasks with history / with none",
      0.85,
      (some_lone?.median ?? Number.NaN) / (none_lone?.median ?? Number.NaN),
    ),
    atMost(
      "rise of seq_scan and n_dead_tup of tasks and results",
      0,
      rises.length > 0 ? Math.max(...rises) : Number.NaN,
    ),
    atMost("worker memory, MB (largest of all runs)", 300, memory.length > 0 ? Math.max(...memory) : Number.NaN),
    atMost("deadlocks (40P01) in the server's log", 0, deadlocks),
  ];
}

/** @param {string} goal @param {number} limit @param {number} found @returns {Verdict} */
const atLeast = (goal, limit, found) => verdict(goal, `>= ${short(limit)}`, found, found >= limit);

/** @param {string} goal @param {number} limit @param {number} found @returns {Verdict} */
const atMost = (goal, limit, found) => verdict(goal, `<= ${short(limit)}`, found, found <= limit);

/** @param {string} goal @param {string} wanted @param {number} found @param {boolean} met @returns {Verdict} */
function verdict(goal, wanted, found, met) {
  return Number.isFinite(found) ? { goal, wanted, found, met } : { goal, wanted, found: null, met: null };
}

/** @param {number} value */
const short = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(2));
