// A style out of a few choices and what a column holds: a colour for each of its commonest values, or steps of its numbers. Pure.

import type { LayerStyle } from "../../../../src/core/api/layers.js";
import type { Reply } from "../../api/call.js";

export type ColumnSummary = Reply<"layers.column">;

/** As the address has them; all of them empty: nobody has chosen anything. */
export const no_choice = { by: "", how: "", classes: "", palette: "", colour: "", opacity: "", width: "" };
export type StyleChoice = Record<keyof typeof no_choice, string>;

export const palettes: Record<string, readonly string[]> = {
  viridis: ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"],
  blues: ["#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08519c", "#08306b"],
  heat: ["#fee391", "#fec44f", "#fe9929", "#d95f0e", "#993404", "#662506"],
  contrast: ["#2166ac", "#67a9cf", "#b8c9d4", "#d9bfae", "#ef8a62", "#b2182b"],
};
/** Told apart by colour-blind readers as far as so many can be (after Okabe and Ito, and Tol). */
const of_values = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#cc79a7",
  "#d55e00",
  "#56b4e9",
  "#b8a800",
  "#6f4fa0",
  "#8c5a2b",
  "#44aa99",
  "#aa4466",
  "#6b7a3c",
];
export const usual_colour = "#0b5cad";
/** What no class is for, or has no value. */
export const other_colour = "#8a94a3";
export const usual = { opacity: 0.7, width: 1.5, classes: 5 };
export const class_counts = [3, 4, 5, 6, 7, 8, 9, 12];

export const isNumber = (type: string) => type === "integer" || type === "number";

/** How a column of this type can be told apart; the first is usual. */
export function waysOf(type: string): { value: string; text: string }[] {
  const values = { value: "categories", text: "a colour for each value" };
  if (!isNumber(type)) return [values];
  return [
    { value: "quantiles", text: "steps with as many features each" },
    { value: "equal", text: "steps of equal size" },
    values,
  ];
}

export function isChosen(choice: StyleChoice): boolean {
  return Object.values(choice).some((value) => value !== "");
}

/** Null while what the column holds is not known, or where it holds nothing to tell features apart by. */
export function styleOf(
  choice: StyleChoice,
  type: string | null,
  summary: ColumnSummary | undefined,
): LayerStyle | null {
  const number = (text: string, least: number, most: number, else_: number) => {
    const value = Number(text);
    return text === "" || !Number.isFinite(value) ? else_ : Math.min(most, Math.max(least, value));
  };
  const shared = {
    opacity: number(choice.opacity, 0.1, 1, usual.opacity),
    width: number(choice.width, 0.25, 20, usual.width),
  };
  const own_colour = /^#[0-9a-f]{6}$/.test(choice.colour) ? choice.colour : null;
  if (choice.by === "" || type === null)
    return { kind: "single", column: null, colour: own_colour ?? usual_colour, classes: [], ...shared };
  if (summary === undefined || summary.name !== choice.by) return null;
  const count = number(choice.classes, 2, of_values.length, usual.classes);
  const about = { column: choice.by, colour: own_colour ?? other_colour, ...shared };
  const how = waysOf(type).find(({ value }) => value === choice.how)?.value ?? waysOf(type)[0]!.value;
  if (how === "categories") {
    const classes = summary.values.slice(0, choice.classes === "" ? of_values.length : count).map(({ value }, at) => ({
      value: type === "boolean" ? value === "true" : isNumber(type) ? Number(value) : value,
      colour: of_values[at % of_values.length]!,
    }));
    return { ...about, kind: "categories", classes };
  }
  const breaks = how === "equal" ? equalBreaks(summary, count) : quantileBreaks(summary, count);
  if (breaks.length === 0) return null;
  const colours = ramp(palettes[choice.palette] ?? palettes.viridis!, breaks.length);
  return { ...about, kind: "steps", classes: breaks.map((value, at) => ({ value, colour: colours[at]! })) };
}

/** Where each class begins. */
function equalBreaks({ least, most }: ColumnSummary, count: number): number[] {
  if (typeof least !== "number" || typeof most !== "number") return [];
  if (least === most) return [least];
  return Array.from({ length: count }, (_, at) =>
    rounded(least + ((most - least) * at) / count, most - least, at === 0),
  );
}

function quantileBreaks({ tenths }: ColumnSummary, count: number): number[] {
  if (tenths === null || tenths.length < 11) return [];
  const span = tenths[10]! - tenths[0]!;
  const breaks = Array.from({ length: count }, (_, at) => {
    const place = (at / count) * 10;
    const low = Math.floor(place);
    const value = tenths[low]! + (tenths[low + 1]! - tenths[low]!) * (place - low);
    return rounded(value, span, at === 0);
  });
  return [...new Set(breaks)].toSorted((a, b) => a - b);
}

/** A number that can be read in a legend: three digits of what the column spans. Down for the first, below which nothing may be. */
function rounded(value: number, span: number, down: boolean): number {
  if (span <= 0 || !Number.isFinite(span)) return value;
  const digits = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(span))));
  const unit = 10 ** digits;
  return Number((down ? Math.floor(value * unit) / unit : Math.round(value * unit) / unit).toFixed(digits));
}

/** So many colours, evenly out of a row of them. */
export function ramp(stops: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const place = count === 1 ? (stops.length - 1) / 2 : (at / (count - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    const [from, to] = [stops[low]!, stops[low + 1]!];
    const part = (start: number) => {
      const [a, b] = [from, to].map((colour) => Number.parseInt(colour.slice(start, start + 2), 16)) as [
        number,
        number,
      ];
      return Math.round(a + (b - a) * (place - low))
        .toString(16)
        .padStart(2, "0");
    };
    return `#${part(1)}${part(3)}${part(5)}`;
  });
}

/** The palette that the colours of these steps are of; null: they were put together by hand. */
export function paletteOf({ classes }: Pick<LayerStyle, "classes">): string | null {
  const colours = classes.map(({ colour }) => colour.toLowerCase()).join();
  const is_of = ([, stops]: [string, readonly string[]]) => ramp(stops, classes.length).join() === colours;
  return Object.entries(palettes).find(is_of)?.[0] ?? null;
}

export interface LegendEntry {
  colour: string;
  text: string;
}

/** What the colours of a style mean, in words. */
export function legendOf({ kind, colour, classes }: LayerStyle): LegendEntry[] {
  if (kind === "single") return [];
  const shown = (value: unknown) =>
    typeof value === "number" ? value.toLocaleString("en-US", { maximumFractionDigits: 12 }) : String(value);
  const entries = classes.map(({ value, colour: one }, at) => {
    const next = classes[at + 1]?.value;
    const text =
      kind === "categories"
        ? shown(value)
        : next === undefined
          ? `${shown(value)} and more`
          : `${shown(value)} to ${shown(next)}`;
    return { colour: one, text };
  });
  return [...entries, { colour, text: "others" }];
}
