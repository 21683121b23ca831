// Draws a timeline on a canvas: only the rows in sight, each bar at least a pixel wide.

import type { SegmentKind } from "../../../../src/core/shown/timeline.js";
import { printable } from "../../../../src/core/values/printable.js";
import { colourOf, stage_look } from "../../status.js";
import { type Bar, type Row, rowAt, type Stage, ticksOf } from "./layout.js";
import { axis_height, type Scene, xOf } from "./scene.js";

const fills: Record<SegmentKind, string> = {
  waiting: "--st-queued",
  retry_gap: "--st-retrying",
  running: "--st-processing",
  completed: "--st-completed",
  failed: "--st-failed",
  lost: "--st-failed",
  released: "--st-later",
  late: "--st-cancelled",
};

export function segmentColour(kind: SegmentKind): string {
  return fills[kind];
}

interface Inks {
  text: string;
  muted: string;
  line: string;
  surface: string;
  sunken: string;
  accent: string;
  selected: string;
  of(kind: SegmentKind): string;
  stage(stage: Stage): string;
  hatch: CanvasPattern | string;
}

function inksOf(context: CanvasRenderingContext2D): Inks {
  const kinds = Object.fromEntries(Object.entries(fills).map(([kind, name]) => [kind, colourOf(name)]));
  const stages = Object.fromEntries(
    Object.entries(stage_look).map(([status, { colour }]) => [status, colourOf(colour)]),
  );
  return {
    text: colourOf("--text"),
    muted: colourOf("--muted"),
    line: colourOf("--line"),
    surface: colourOf("--surface"),
    sunken: colourOf("--sunken"),
    accent: colourOf("--accent"),
    selected: colourOf("--st-selected"),
    of: (kind) => kinds[kind] as string,
    stage: ({ status }) => stages[status] ?? colourOf("--st-queued"),
    hatch: hatchOf(context, colourOf("--line-strong")),
  };
}

/** Stripes, so that waiting is told from running without colour. */
function hatchOf(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 12;
  const ink = tile.getContext("2d");
  if (ink === null) return colour;
  ink.strokeStyle = colour;
  ink.lineWidth = 2.4;
  ink.beginPath();
  for (const shift of [-12, 0, 12]) {
    ink.moveTo(shift - 2, 14);
    ink.lineTo(shift + 14, -2);
  }
  ink.stroke();
  return context.createPattern(tile, "repeat") ?? colour;
}

export function draw(canvas: HTMLCanvasElement, scene: Scene): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { width, height, gutter } = scene;
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const inks = inksOf(context);
  context.fillStyle = inks.surface;
  context.fillRect(0, 0, width, height);
  context.font = `12px ${colourOf("--font")}`;
  context.textBaseline = "middle";
  const first = Math.max(0, rowAt(scene.tops, scene.scroll));
  const shown: { row: Row; y: number }[] = [];
  for (let at = first; at < scene.rows.length; at++) {
    const y = axis_height + (scene.tops[at] as number) - scene.scroll;
    if (y > height) break;
    shown.push({ row: scene.rows[at] as Row, y });
  }
  drawGrid(context, scene, inks);
  context.save();
  context.beginPath();
  context.rect(gutter, axis_height, width - gutter, height - axis_height);
  context.clip();
  for (const { row, y } of shown) drawRow(context, scene, inks, row, y);
  drawNow(context, scene, inks);
  context.restore();
  context.save();
  context.beginPath();
  context.rect(0, axis_height, width, height - axis_height);
  context.clip();
  for (const { row, y } of shown) drawLabel(context, scene, inks, row, y);
  context.restore();
  drawAxis(context, scene, inks);
}

function ticks({ view, origin, width, gutter }: Scene): number[] {
  const zone_ms = -new Date(origin + view.from).getTimezoneOffset() * 60_000;
  return ticksOf(view, origin, width - gutter, zone_ms);
}

function drawGrid(context: CanvasRenderingContext2D, scene: Scene, inks: Inks): void {
  context.fillStyle = inks.line;
  context.globalAlpha = 0.6;
  for (const at of ticks(scene))
    context.fillRect(Math.round(xOf(scene, at)), axis_height, 1, scene.height - axis_height);
  context.globalAlpha = 1;
}

function drawAxis(context: CanvasRenderingContext2D, scene: Scene, inks: Inks): void {
  context.fillStyle = inks.surface;
  context.fillRect(0, 0, scene.width, axis_height);
  context.fillStyle = inks.line;
  context.fillRect(0, axis_height - 1, scene.width, 1);
  context.fillStyle = inks.muted;
  context.textAlign = "left";
  const span = scene.view.to - scene.view.from;
  for (const at of ticks(scene)) {
    const x = xOf(scene, at);
    if (x < scene.gutter - 1) continue;
    context.fillText(clockText(new Date(scene.origin + at), span), x + 4, axis_height / 2);
    context.fillRect(Math.round(x), axis_height - 6, 1, 6);
  }
}

/** As fine as the part that is shown. */
export function clockText(date: Date, span_ms: number): string {
  if (span_ms > 2 * 86_400_000)
    return date.toLocaleDateString(undefined, { month: "short", day: "numeric", hour: "2-digit" });
  const clock = date.toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    ...(span_ms < 20 * 60_000 ? { second: "2-digit" } : {}),
    hour12: false,
  });
  return span_ms < 5000 ? `${clock}.${String(date.getMilliseconds()).padStart(3, "0")}` : clock;
}

function drawRow(context: CanvasRenderingContext2D, scene: Scene, inks: Inks, row: Row, y: number): void {
  if (row.kind === "stage") drawStage(context, scene, inks, row.stage, y, row.height);
  if (row.kind === "density") drawDensity(context, scene, inks, row, y);
  if (row.kind === "stage" || row.kind === "density") return;
  if (row.key === scene.focused) {
    context.fillStyle = inks.accent;
    context.globalAlpha = 0.12;
    context.fillRect(scene.gutter, y, scene.width - scene.gutter, row.height);
    context.globalAlpha = 1;
  }
  for (const bar of row.bars) drawBar(context, scene, inks, bar, y, row.height);
  if (row.kind === "task" && row.on_path) outlinePath(context, scene, inks, row.bars, y, row.height);
  if (row.kind === "worker")
    for (const bar of row.bars) if (bar.on_path) outlinePath(context, scene, inks, [bar], y, row.height);
}

function drawStage(
  context: CanvasRenderingContext2D,
  scene: Scene,
  inks: Inks,
  stage: Stage,
  y: number,
  height: number,
): void {
  context.fillStyle = inks.sunken;
  context.fillRect(scene.gutter, y, scene.width - scene.gutter, height);
  if (stage.opened === null) return;
  const [from, to] = [xOf(scene, stage.opened), xOf(scene, stage.closed ?? scene.now)];
  context.fillStyle = inks.stage(stage);
  context.globalAlpha = 0.35;
  context.fillRect(from, y + height / 2 - 4, Math.max(2, to - from), 8);
  context.globalAlpha = 1;
  context.fillRect(from, y + height / 2 - 7, 2, 14);
  if (stage.closed !== null) context.fillRect(Math.max(to - 2, from + 2), y + height / 2 - 7, 2, 14);
}

function drawDensity(
  context: CanvasRenderingContext2D,
  scene: Scene,
  inks: Inks,
  row: Extract<Row, { kind: "density" }>,
  y: number,
): void {
  const most = Math.max(1, ...row.running);
  const room = row.height - 8;
  const width = (scene.bins.to - scene.bins.from) / row.running.length;
  for (const [at, running] of row.running.entries()) {
    if (running === 0) continue;
    const from = xOf(scene, scene.bins.from + at * width);
    const to = xOf(scene, scene.bins.from + (at + 1) * width);
    const tall = Math.max(1, (running / most) * room);
    context.fillStyle = inks.of("completed");
    context.globalAlpha = 0.55;
    context.fillRect(from, y + 4 + room - tall, Math.max(1, to - from), tall);
    context.globalAlpha = 1;
    if ((row.failed[at] ?? 0) > 0) {
      context.fillStyle = inks.of("failed");
      context.fillRect(from, y + row.height - 5, Math.max(2, to - from), 4);
    }
  }
}

function drawBar(
  context: CanvasRenderingContext2D,
  scene: Scene,
  inks: Inks,
  bar: Bar,
  y: number,
  height: number,
): void {
  const from = Math.max(xOf(scene, bar.from), scene.gutter - 4);
  const to = Math.min(xOf(scene, bar.to), scene.width + 4);
  if (to < scene.gutter || from > scene.width) return;
  const wide = Math.max(bar.kind === "waiting" || bar.kind === "retry_gap" ? 0.5 : 1.5, to - from);
  const is_thin = bar.kind === "retry_gap";
  const top = is_thin ? y + height / 2 - 1 : bar.kind === "late" ? y + height - 5 : y + 3;
  const tall = is_thin ? 2 : bar.kind === "late" ? 3 : height - 6;
  if (bar.kind === "waiting") {
    context.fillStyle = inks.hatch;
    context.globalAlpha = 0.75;
    context.fillRect(from, top + 2, wide, tall - 4);
    context.globalAlpha = 1;
    return;
  }
  context.fillStyle = inks.of(bar.kind);
  if (bar.kind === "lost" && bar.run?.from === null) {
    // When it began is not known: only an outline, filled at its end.
    context.globalAlpha = 0.35;
    context.fillRect(from, top, wide, tall);
    context.globalAlpha = 1;
    context.fillRect(Math.max(from, from + wide - 3), top, Math.min(3, wide), tall);
  } else context.fillRect(from, top, wide, tall);
  if (bar.kind === "failed" || bar.kind === "lost") {
    // A shape besides the colour.
    const x = from + wide;
    context.strokeStyle = inks.surface;
    context.lineWidth = 1.4;
    if (wide > 9) {
      context.beginPath();
      context.moveTo(x - 8, top + tall / 2 - 3);
      context.lineTo(x - 2, top + tall / 2 + 3);
      context.moveTo(x - 2, top + tall / 2 - 3);
      context.lineTo(x - 8, top + tall / 2 + 3);
      context.stroke();
    }
  }
  if (bar.task_id === scene.hovered) {
    context.strokeStyle = inks.text;
    context.lineWidth = 1;
    context.strokeRect(from - 0.5, top - 0.5, wide + 1, tall + 1);
  }
}

function outlinePath(
  context: CanvasRenderingContext2D,
  scene: Scene,
  inks: Inks,
  bars: readonly Bar[],
  y: number,
  height: number,
): void {
  const solid = bars.filter(({ kind }) => kind !== "late");
  const [first, last] = [solid[0], solid.at(-1)];
  if (first === undefined || last === undefined) return;
  const [from, to] = [xOf(scene, first.from), xOf(scene, last.to)];
  context.strokeStyle = inks.selected;
  context.lineWidth = 2;
  context.strokeRect(from - 1, y + 1.5, Math.max(4, to - from + 2), height - 3);
}

function drawNow(context: CanvasRenderingContext2D, scene: Scene, inks: Inks): void {
  if (!scene.rows.some((row) => row.kind !== "worker" && row.kind !== "task" && row.stage.closed === null)) return;
  const x = xOf(scene, scene.now);
  context.fillStyle = inks.accent;
  context.fillRect(x, axis_height, 1, scene.height - axis_height);
}

function drawLabel(context: CanvasRenderingContext2D, scene: Scene, inks: Inks, row: Row, y: number): void {
  const strong = row.kind === "stage";
  context.fillStyle = row.kind === "stage" ? inks.sunken : inks.surface;
  context.fillRect(0, y, scene.gutter, row.height);
  if (row.kind === "worker" && row.first && y > axis_height) {
    context.fillStyle = inks.line;
    context.fillRect(0, y, scene.width, 1);
  }
  context.fillStyle = strong ? inks.text : inks.muted;
  context.font = `${strong ? "600 " : row.kind === "task" && row.on_path ? "600 " : ""}12px ${colourOf("--font")}`;
  context.textAlign = "left";
  const words =
    row.kind === "stage" && row.stage.total !== null
      ? `${row.label} · ${row.stage.total.toLocaleString("en-US")}`
      : row.label;
  context.fillText(
    fitted(context, printable(words, 200), scene.gutter - (strong ? 12 : 20)),
    strong ? 6 : 14,
    y + row.height / 2 + 0.5,
  );
  if (row.kind === "task" && row.on_path) {
    context.fillStyle = inks.selected;
    context.fillRect(4, y + 4, 4, row.height - 8);
  }
}

/** As much of the text as there is room for. */
function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
