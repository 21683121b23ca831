// What a request makes, held against what stood before it: row by row, with what is different. Pure.
import { count } from "../../../../src/core/shown/figures.js";
import { bytesText } from "../catalog/files.js";
import type { ReviewSide } from "./records.js";

export interface Compared {
  name: string;
  before: string | null;
  now: string;
  /** null where there is nothing to hold it against. */
  differs: boolean | null;
  /** What the difference is, where that is a number: "+2", "−120 KB", "×1.5 as wide". */
  by: string | null;
}

export function comparedRows(now: ReviewSide, before: ReviewSide | null): Compared[] {
  const row = (name: string, of: (side: ReviewSide) => string, by: string | null = null): Compared => {
    const [a, b] = [before === null ? null : of(before), of(now)];
    return { name, before: a, now: b, differs: a === null ? null : a !== b, by: a === null || a === b ? null : by };
  };
  const number = (name: string, of: (side: ReviewSide) => number, shown = count): Compared => {
    const difference = before === null ? 0 : of(now) - of(before);
    return row(name, (side) => shown(of(side)), difference === 0 ? null : signed(difference, shown));
  };
  const kinds = [...new Set([...(before?.made ?? []), ...now.made].map(({ media_type }) => media_type))].sort();
  return [
    row("Recipe", ({ data_type }) => data_type),
    number("Files it is made of", ({ file_count }) => file_count),
    number("Tasks completed", ({ tasks }) => tasks.completed),
    number("Tasks failed", ({ tasks }) => tasks.failed),
    number("Files it made", (side) => sum(side, "files")),
    ...kinds.map((kind) =>
      number(`… ${kindText(kind)}`, (side) => side.made.find(({ media_type }) => media_type === kind)?.files ?? 0),
    ),
    number("Size of them", (side) => sum(side, "bytes"), bytesText),
    row("Extent", ({ extent }) => extentText(extent), before === null ? null : areaText(before.extent, now.extent)),
    ...(now.items === null ? [] : [row("Items in the catalogue", itemsText)]),
  ];
}

/** An approved one whose items are not there yet is not one that lost them. */
function itemsText({ items, items_at_least }: ReviewSide): string {
  return items === null ? "–" : `${items_at_least ? "at least " : ""}${count(items)}`;
}

function sum({ made }: ReviewSide, name: "files" | "bytes"): number {
  return made.reduce((all, one) => all + one[name], 0);
}

const kind_words: Readonly<Record<string, string>> = {
  "image/tiff; application=geotiff; profile=cloud-optimized": "COGs",
  "image/tiff": "TIFFs",
  "image/png": "PNG pictures",
  "image/jpeg": "JPEG pictures",
  "image/webp": "WebP pictures",
  "application/json": "JSON documents",
};

function kindText(media_type: string): string {
  return Object.hasOwn(kind_words, media_type) ? (kind_words[media_type] as string) : media_type;
}

function signed(difference: number, shown: (n: number) => string): string {
  return `${difference > 0 ? "+" : "−"}${shown(Math.abs(difference))}`;
}

export function extentText(extent: readonly number[] | null): string {
  if (extent === null) return "no task says where it is";
  return extent.map((edge) => edge.toFixed(3).replace(/\.?0+$/, "")).join(", ");
}

/** How much of the globe, against before: degrees, which is enough to see that a half is missing. */
function areaText(before: readonly number[] | null, now: readonly number[] | null): string | null {
  const [a, b] = [areaOf(before), areaOf(now)];
  if (a === null || b === null || a === 0 || b === 0) return null;
  const times = b / a;
  if (Math.abs(times - 1) < 0.005) return "moved";
  return `${times < 1 ? `${Math.round(times * 100)} %` : `${times.toFixed(times < 10 ? 1 : 0)} times`} of the area`;
}

function areaOf(extent: readonly number[] | null): number | null {
  if (extent === null) return null;
  const [west = 0, south = 0, east = 0, north = 0] = extent;
  return Math.max(0, east - west) * Math.max(0, north - south);
}

export interface ParameterChange {
  path: string;
  before: string | null;
  now: string | null;
}

const MOST_CHANGES = 200;

/** The parameters that were given another value, were not given, or are not any more; down to single values. */
export function parameterChanges(before: unknown, now: unknown, path = ""): ParameterChange[] {
  if (isRecord(before) && isRecord(now)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
    return names
      .flatMap((name) => parameterChanges(before[name], now[name], path === "" ? name : `${path}.${name}`))
      .slice(0, MOST_CHANGES);
  }
  const [a, b] = [written(before), written(now)];
  return a === b ? [] : [{ path: path === "" ? "parameters" : path, before: a, now: b }];
}

/** With its keys in order: {a, b} is {b, a}. */
function written(value: unknown): string | null {
  if (value === undefined) return null;
  return JSON.stringify(value, (_, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([x], [y]) => (x < y ? -1 : 1))) : one,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Files that only one of the two is made of. */
export function fileChanges(before: readonly string[], now: readonly string[]): { added: string[]; gone: string[] } {
  const [had, has] = [new Set(before), new Set(now)];
  return { added: now.filter((file) => !had.has(file)), gone: before.filter((file) => !has.has(file)) };
}
