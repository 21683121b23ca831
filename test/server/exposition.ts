// A strict reader of Prometheus's text format: what a scraper would refuse, or quietly misread, is an error here.
import { expect } from "vitest";

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  type: string;
  help: string;
  samples: Sample[];
}

const name_shape = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

export function readExposition(text: string): Map<string, Family> {
  expect(text.endsWith("\n")).toBe(true);
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let current: { name: string; family: Family } | null = null;
  let helped: { name: string; help: string } | null = null;
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = "", rest = ""] = comment;
      if (!name_shape.test(name)) throw new Error(`bad name: ${line}`);
      if (kind === "HELP") helped = { name, help: rest };
      else {
        if (families.has(name)) throw new Error(`told twice: ${line}`);
        if (helped?.name !== name) throw new Error(`no HELP before ${line}`);
        if (!["counter", "gauge", "histogram"].includes(rest)) throw new Error(`bad type: ${line}`);
        current = { name, family: { type: rest, help: helped.help, samples: [] } };
        families.set(name, current.family);
      }
      continue;
    }
    const sample = readSample(line);
    const base = current?.family.type === "histogram" ? sample.name.replace(/_(bucket|sum|count)$/, "") : sample.name;
    if (current === null || base !== current.name) throw new Error(`outside its family: ${line}`);
    if (current.family.type === "counter" && !base.endsWith("_total"))
      throw new Error(`a counter ends in _total: ${line}`);
    if (current.family.type !== "gauge" && !(sample.value >= 0)) throw new Error(`below zero: ${line}`);
    const series = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
    if (seen.has(series)) throw new Error(`given twice: ${line}`);
    seen.add(series);
    current.family.samples.push(sample);
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

function readSample(line: string): Sample {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  let rest = match[3] ?? "";
  while (rest !== "") {
    const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/.exec(rest);
    if (label === null) throw new Error(`bad labels: ${line}`);
    if (label[1]! in labels) throw new Error(`a label given twice: ${line}`);
    labels[label[1]!] = label[2]!.replaceAll(/\\(["\\n])/g, (_, one) => (one === "n" ? "\n" : one));
    rest = rest.slice(label[0].length);
  }
  const value = match[4] === "+Inf" ? Number.POSITIVE_INFINITY : Number(match[4]);
  if (Number.isNaN(value)) throw new Error(`not a number: ${line}`);
  return { name: match[1]!, labels, value };
}

function checkHistogram(name: string, { samples }: Family): void {
  const series = new Map<string, { le: number; value: number }[]>();
  const keyOf = ({ le: _, ...labels }: Record<string, string>) => JSON.stringify(Object.entries(labels).sort());
  for (const { name: one, labels, value } of samples) {
    if (one !== `${name}_bucket`) continue;
    const key = keyOf(labels);
    const le = labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le);
    series.set(key, [...(series.get(key) ?? []), { le, value }]);
  }
  for (const [key, buckets] of series) {
    const sorted = buckets.every(
      ({ le, value }, at) => at === 0 || (le > buckets[at - 1]!.le && value >= buckets[at - 1]!.value),
    );
    const last = buckets.at(-1)!;
    const count = samples.find((one) => one.name === `${name}_count` && keyOf(one.labels) === key);
    const sum = samples.find((one) => one.name === `${name}_sum` && keyOf(one.labels) === key);
    if (!sorted || last.le !== Number.POSITIVE_INFINITY || count?.value !== last.value || sum === undefined) {
      throw new Error(`${name}${key} is no histogram`);
    }
  }
}

/** The value of the one sample with these labels; NaN when there is none. */
export function sampleValue(families: Map<string, Family>, name: string, labels: Record<string, string> = {}): number {
  const base = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ""));
  const found = (base?.samples ?? []).filter(
    (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  );
  return found.length === 1 ? found[0]!.value : Number.NaN;
}
