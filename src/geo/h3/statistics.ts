// The statistics that a cell can have, by name: the columns they are, and their values as text of COPY. And tallies of one task as such
// text, for the task that puts them together. Pure.
import type { LayerColumn } from "../vector.js";
import { majority, percentile, type Tally, type ValueCounts } from "./tallies.js";

const plain = ["count", "sum", "mean", "min", "max"] as const;
const by_value = ["majority", "dominant", "variety", "shares"] as const;

/** p0 to p100 are percentiles. */
export const statistic_rule = /^(count|sum|mean|min|max|majority|variety|shares|p(100|[1-9]?[0-9]))$/;
export const statistic_names: readonly string[] = [...plain, "p0 … p100", "majority", "variety", "shares"];

export function keepsValues(statistics: readonly string[]): boolean {
  return statistics.some((name) => !(plain as readonly string[]).includes(name));
}

/** What cannot be told of a sketch. */
export function needsEachValue(statistics: readonly string[]): boolean {
  return statistics.some((name) => (by_value as readonly string[]).includes(name));
}

export function statisticColumns(statistics: readonly string[], prefix = ""): LayerColumn[] {
  return statistics.map((statistic) => {
    const name = `${prefix}${statistic}`;
    const column = (type: LayerColumn["type"], pg_type: string) => ({ name, type, pg_type, source_name: statistic });
    if (statistic === "count") return column("integer", "bigint");
    if (statistic === "dominant") return column("string", "text");
    if (statistic === "variety") return column("integer", "integer");
    if (statistic === "shares") return column("json", "jsonb");
    return column("number", "double precision");
  });
}

/** A statistic of a tally that foldTallies gave. */
export function statisticText(tally: Tally, statistic: string): string {
  const sum = tally.sums[0]!;
  switch (statistic) {
    case "count":
      return String(tally.count);
    case "sum":
      return String(sum);
    case "mean":
      return String(sum / tally.count);
    case "min":
      return String(tally.min);
    case "max":
      return String(tally.max);
    case "majority":
      return String(majority(tally));
    // The same of categories, which are texts.
    case "dominant":
      return escaped(String(majority(tally)));
    case "variety":
      return String(tally.values!.counts.size);
    case "shares":
      return escaped(
        JSON.stringify(
          Object.fromEntries(
            [...tally.values!.counts]
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([value, by]) => [String(value), by / tally.count]),
          ),
        ),
      );
    default:
      return String(percentile(tally, Number(statistic.slice(1))));
  }
}

/** Columns of a table of tallies, and a tally as theirs. */
export const tally_columns = ["count", "sums", "min", "max", "counts"] as const;

export function tallyText({ count, sums, min, max, values }: Tally): string {
  const counts = values === null ? "\\N" : escaped(JSON.stringify([values.kind, [...values.counts]]));
  return [count, JSON.stringify(sums), finite(min), finite(max), counts].join("\t");
}

/** No rows have no least value, and JSON has no infinity. */
function finite(value: number): string {
  return Number.isFinite(value) ? String(value) : "\\N";
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** As COPY wants a text. */
function escaped(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (char) => escapes[char]!);
}

/** As read_rows gives them: lists and numbers, texts of JSON within. */
export function readTally([count, sums, min, max, counts]: unknown[]): Tally {
  const values =
    counts === null ? null : (JSON.parse(String(counts)) as [ValueCounts["kind"], [number | string, number][]]);
  return {
    count: Number(count),
    sums: JSON.parse(String(sums)) as number[],
    min: Number(min),
    max: Number(max),
    values: values === null ? null : { kind: values[0], counts: new Map(values[1]) },
  };
}
