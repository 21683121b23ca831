// @ts-check
// Words the result as tables. Pure: takes the result, returns text.

/** @typedef {import("./measures/index.js").MeasureResult} MeasureResult */
/**
 * @typedef {object} Result
 * @property {Record<string, unknown>} environment
 * @property {MeasureResult[]} measures
 * @property {import("./goals.js").Verdict[]} goals
 * @property {{ sqlstate: string, database: string, count: number }[]} server_errors
 * @property {number} took_s
 */

/** @param {Result} result */
export function wordResult({ environment, measures, goals, server_errors, took_s }) {
  const parts = [
    Object.entries(environment)
      .map(([name, value]) => `${name} ${value}`)
      .join(" · "),
  ];
  for (const measure of measures) parts.push(wordMeasure(measure));
  parts.push(wordGoals(goals));
  const others = server_errors.map(({ sqlstate, database, count }) => `${sqlstate} in ${database}: ${count}`);
  parts.push(
    `Errors in the server's log: ${others.length > 0 ? others.join(", ") : "none"}. Took ${Math.round(took_s)} s.`,
  );
  return `${parts.join("\n\n")}\n`;
}

/** Ratios are ours divided by theirs, once for each of our rows. @param {MeasureResult} measure */
function wordMeasure({ title, unit, rows, left_out }) {
  const ours = rows.filter(({ contender, values }) => contender === "fanfold" && values.length > 0).slice(0, 3);
  const has_peers = rows.some(({ contender }) => contender !== "fanfold");
  const letters = ["A", "B", "C"];
  const head = ["", unit, "all rounds", ...(has_peers ? ours.map((_, i) => `${letters[i]}/this`) : []), "more"];
  const lines = rows.map((row) => {
    const letter = has_peers && ours.includes(row) ? `${letters[ours.indexOf(row)]} ` : "";
    const ratios = has_peers
      ? ours.map((our) => (our === row || row.values.length === 0 ? "" : (our.median / row.median).toFixed(2)))
      : [];
    const more = Object.entries(row.details).map(([name, value]) => `${name} ${figure(value)}`);
    if (row.errors.length > 0) more.unshift(`FAILED ${row.errors.length}x: ${row.errors[0]?.split("\n")[0]}`);
    const values = row.values.map(figure).join(" ");
    return [
      `${letter}${row.label}`,
      row.values.length > 0 ? figure(row.median) : "-",
      values,
      ...ratios,
      more.join(", "),
    ];
  });
  const cut = left_out > 0 ? `\n(time was up: ${left_out} runs left out)` : "";
  return `${title}\n${columns([head, ...lines])}${cut}`;
}

/** @param {import("./goals.js").Verdict[]} goals */
function wordGoals(goals) {
  const lines = goals.map(({ goal, wanted, found, met }) => [
    met === null ? "-" : met ? "PASS" : "MISS",
    goal,
    found === null ? "not measured" : figure(found),
    wanted,
  ]);
  return `Goals\n${columns([["", "", "found", "wanted"], ...lines])}`;
}

/** The first column and the last are set left, what lies between right. @param {string[][]} rows */
function columns(rows) {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
  const last = widths.length - 1;
  return rows
    .map((row) =>
      row
        .map((text, i) =>
          i === 0 || i === last || Number.isNaN(Number(text[0] ?? "0"))
            ? text.padEnd(widths[i] ?? 0)
            : text.padStart(widths[i] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join("\n");
}

/** @param {number} value */
function figure(value) {
  if (!Number.isFinite(value)) return "-";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
