// The colours of the heat map: those of the theme, as a table for the painter.
import { type Cells, cell_codes, cell_statuses, many_workers, no_worker } from "../../../../src/core/shown/cells.js";
import { colourOf, lookOf } from "../../status.js";
import { type Paint, pixel, rampTable, statusGlyphs } from "./paint.js";

export const colourings = ["status", "duration", "attempts", "worker"] as const;
export type Colouring = (typeof colourings)[number];

type Rgb = readonly [number, number, number];

let context: CanvasRenderingContext2D | null = null;

/** Any colour of CSS, read by the browser itself. */
function rgb(colour: string): Rgb {
  context ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (context === null) return [136, 136, 136];
  context.fillStyle = "#888888";
  context.fillStyle = colour;
  const found = /^#(..)(..)(..)$/.exec(context.fillStyle);
  return found === null ? [136, 136, 136] : [parseInt(found[1]!, 16), parseInt(found[2]!, 16), parseInt(found[3]!, 16)];
}

const pixelOf = ([r, g, b]: Rgb): number => pixel(r, g, b);
const cssOf = ([r, g, b]: Rgb): string => `rgb(${r} ${g} ${b})`;
/** Black or white, whichever can be seen on it. */
const inkOn = ([r, g, b]: Rgb): Rgb => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? [20, 24, 32] : [255, 255, 255]);

/** A low-contrast mark: visible to readers who look for it, not alarming. */
const between = (a: Rgb, b: Rgb): Rgb =>
  [0, 1, 2].map((at) => Math.round(a[at]! * 0.45 + b[at]! * 0.55)) as unknown as Rgb;
const loud = new Set([cell_codes.failed, cell_codes.retrying]);

/** Told apart by lightness alone: what is done steps back, what needs somebody stands out. */
const stark: Record<"light" | "dark", Record<string, string>> = {
  light: {
    completed: "#e3e6ea",
    skipped: "#c3c8d0",
    waiting: "#f4f5f7",
    queued: "#cfd4db",
    later: "#b3bac4",
    processing: "#3d8bd4",
    cancelled: "#7d7196",
    retrying: "#b06c00",
    failed: "#000000",
  },
  dark: {
    completed: "#2b333f",
    skipped: "#475162",
    waiting: "#1c232d",
    queued: "#3a4454",
    later: "#55617a",
    processing: "#3f86c4",
    cancelled: "#8d7fb5",
    retrying: "#ffb638",
    failed: "#ffffff",
  },
};

export interface Colours {
  paint: Paint;
  /** The colour of a cell's byte, for the legend. */
  css(value: number): string;
}

export function coloursFor(
  by: Colouring,
  [least, most]: readonly [number, number],
  fill: number,
  { theme, high_contrast, glyphs }: { theme: "light" | "dark"; high_contrast: boolean; glyphs: boolean },
): Colours {
  const empty = rgb(colourOf("--sunken"));
  const rows = new Array<Rgb>(256).fill(empty);
  if (by === "status") {
    cell_statuses.forEach((status, code) => {
      const own = high_contrast ? stark[theme][status] : undefined;
      rows[code] = code === 0 ? empty : rgb(own ?? colourOf(lookOf(status).colour));
    });
  } else if (by === "worker") {
    for (let number = 1; number < many_workers; number++) rows[number] = workerColour(number, theme);
    rows[no_worker] = empty;
    rows[many_workers] = rgb(colourOf("--line-strong"));
  } else {
    const stops = [1, 2, 3, 4, 5].map((stop) => rgb(colourOf(`--ramp-${stop}`)));
    const table = rampTable(stops, least, most, pixelOf(empty));
    for (let value = 1; value < 256; value++) {
      const found = table[value] as number;
      rows[value] = [found & 255, (found >> 8) & 255, (found >> 16) & 255];
    }
  }
  return {
    paint: {
      colours: Uint32Array.from(rows, pixelOf),
      ink: Uint32Array.from(rows, (row, value) =>
        pixelOf(loud.has(value) || high_contrast ? inkOn(row) : between(row, inkOn(row))),
      ),
      // Nothing: what is below shows between the cells.
      background: 0,
      glyphs: by === "status" && glyphs ? statusGlyphs(fill) : null,
    },
    css: (value) => cssOf(rows[value] ?? empty),
  };
}

export function valuesOf(by: Colouring, cells: Cells): Uint8Array {
  if (by === "status") return cells.status_codes;
  if (by === "duration") return cells.duration_classes;
  return by === "attempts" ? cells.attempts : cells.worker_numbers;
}

/** The first ones as far from each other as colours can be (after Okabe and Ito), the rest around the circle. */
const first_workers: readonly Rgb[] = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [86, 180, 233],
  [213, 94, 0],
  [170, 160, 30],
  [110, 84, 160],
];

function workerColour(number: number, theme: "light" | "dark"): Rgb {
  const known = first_workers[number - 1];
  if (known !== undefined) return known;
  const hue = (number * 137.508) % 360;
  const light = (theme === "dark" ? 60 : 45) + (number % 3) * 7;
  return rgb(`hsl(${hue.toFixed(0)} 55% ${light}%)`);
}
