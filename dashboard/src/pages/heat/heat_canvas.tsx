// The canvas: pointing, dragging and keys become cells; what they mean is decided by the part that shows it.
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import type { Cells } from "../../../../src/core/shown/cells.js";
import type { Range } from "../../selection.js";
import { useTheme } from "../../theme/theme.js";
import { Flash } from "./flash.js";
import {
  cellAt,
  cellsBetween,
  type DragShape,
  type Grid,
  glyph_from,
  layOut,
  moved,
  nearestCell,
  placeOf,
} from "./layout.js";
import { extent } from "./paint.js";
import { type Colouring, type Colours, coloursFor, valuesOf } from "./palette.js";
import { Picture } from "./picture.js";

export interface Pointed {
  cell: number;
  /** In CSS pixels, of the cell on the canvas. */
  x: number;
  y: number;
  size: number;
  width: number;
  /** By finger or key: it stays until something else is pointed at. */
  pinned: boolean;
}

interface HeatCanvasProps {
  cells: Cells;
  by: Colouring;
  high_contrast: boolean;
  /** 1 for each selected cell; null: none is. */
  selected: Uint8Array | null;
  /** Taps and drags select. */
  selecting: boolean;
  shape: DragShape;
  label: string;
  described_by: string;
  onColours(colours: Colours): void;
  onPoint(pointed: Pointed | null): void;
  onSelect(cells: readonly Range[], how: "set" | "add" | "toggle"): void;
  onOpen(cell: number): void;
  onLongPress(cell: number): void;
  onClear(): void;
}

interface Drag {
  from: number;
  to: number;
  shape: DragShape;
}

/** A button or a finger that is down, and what it has dragged so far. */
interface Press {
  cell: number;
  x: number;
  y: number;
  timer: number;
  long: boolean;
  touch: boolean;
  drag: Drag | null;
}

const TARGET_HEIGHT = 500;
const LONG_PRESS_MS = 450;
const DRAG_FROM = 5;

export function HeatCanvas(props: HeatCanvasProps) {
  const { cells, by, high_contrast, selected, selecting, shape, label, described_by } = props;
  const box = useRef<HTMLDivElement>(null);
  const below = useRef<HTMLCanvasElement>(null);
  const above = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture | null>(null);
  const flash = useRef<Flash | null>(null);
  const theme = useTheme();
  const { width, ratio } = useWidth(box);
  const [cursor, setCursor] = useState<number | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const press = useRef<Press | null>(null);

  const grid = useMemo(() => layOut(cells.cells, width, TARGET_HEIGHT, ratio), [cells.cells, width, ratio]);
  const [least, most] = by === "status" || by === "worker" ? [1, 255] : extent(valuesOf(by, cells));
  const glyphs = grid.pitch >= glyph_from * ratio;
  const colours = useMemo(
    () => coloursFor(by, [least, most], grid.fill, { theme, high_contrast, glyphs }),
    [by, least, most, grid.fill, theme, high_contrast, glyphs],
  );
  const { onColours } = props;
  useEffect(() => onColours(colours), [colours, onColours]);

  const drawOver = () =>
    picture.current?.overlay(grid, {
      selected,
      cursor: cursor !== null && cursor < grid.cells ? cursor : null,
      hovered: hovered !== null && hovered < grid.cells ? hovered : null,
      drag: drag !== null && Math.max(drag.from, drag.to) < grid.cells ? drag : null,
      lit: flash.current?.at(performance.now()) ?? [],
    });
  const latest = useRef(drawOver);
  latest.current = drawOver;

  useEffect(() => {
    if (below.current === null || above.current === null) return;
    picture.current = new Picture(below.current, above.current);
    const lights = new Flash(() => latest.current());
    flash.current = lights;
    return () => lights.stop();
  }, []);

  useEffect(() => {
    if (width === 0 || picture.current === null) return;
    const changed = picture.current.draw(grid, valuesOf(by, cells), colours.paint);
    flash.current?.light(changed, performance.now());
  }, [grid, cells, by, colours, width]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn again when any of these is another
  useEffect(() => void drawOver(), [grid, selected, cursor, hovered, drag, theme, colours]);

  const at = (event: { clientX: number; clientY: number }): { x: number; y: number } => {
    const rect = below.current!.getBoundingClientRect();
    return { x: (event.clientX - rect.left) * ratio, y: (event.clientY - rect.top) * ratio };
  };
  const pointAt = (cell: number | null, pinned: boolean) => {
    setHovered(cell);
    props.onPoint(cell === null ? null : pointedAt(grid, cell, ratio, pinned));
  };
  const letGo = () => {
    if (press.current !== null) window.clearTimeout(press.current.timer);
    press.current = null;
    setDrag(null);
  };

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const { x, y } = at(event);
    const cell = cellAt(grid, x, y);
    if (cell === null) return;
    const touch = event.pointerType === "touch";
    const timer = window.setTimeout(() => {
      if (press.current === null || !touch || selecting) return;
      press.current.long = true;
      props.onLongPress(cell);
    }, LONG_PRESS_MS);
    press.current = { cell, x: event.clientX, y: event.clientY, timer, long: false, touch, drag: null };
    if (!touch || selecting) event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    const { x, y } = at(event);
    const pressed = press.current;
    if (pressed === null || (pressed.touch && !selecting)) {
      if (event.pointerType !== "touch") pointAt(cellAt(grid, x, y), false);
      else if (pressed !== null && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > DRAG_FROM * 2)
        letGo();
      return;
    }
    if (pressed.drag === null && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < DRAG_FROM) return;
    window.clearTimeout(pressed.timer);
    pointAt(null, false);
    // Kept with the press, too: a button let go at once is let go before it is drawn.
    pressed.drag = { from: pressed.cell, to: nearestCell(grid, x, y), shape: event.altKey ? "run" : shape };
    setDrag(pressed.drag);
  };
  const onPointerUp = (event: PointerEvent) => {
    const pressed = press.current;
    letGo();
    if (pressed === null || pressed.long) return;
    const dragged = pressed.drag;
    if (dragged !== null) {
      const chosen = cellsBetween(grid, dragged.from, dragged.to, dragged.shape);
      props.onSelect(chosen, event.shiftKey || event.ctrlKey || event.metaKey || pressed.touch ? "add" : "set");
    } else if (selecting || event.shiftKey || event.ctrlKey || event.metaKey) {
      props.onSelect([[pressed.cell, pressed.cell + 1]], "toggle");
    } else if (pressed.touch) pointAt(pressed.cell, true);
    else props.onOpen(pressed.cell);
    setCursor(dragged === null ? pressed.cell : null);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const from = cursor ?? 0;
    const next = cursor === null && event.key.startsWith("Arrow") ? 0 : moved(grid, from, event.key);
    if (next !== null) {
      event.preventDefault();
      setCursor(next);
      pointAt(next, true);
      if (event.shiftKey) props.onSelect([[Math.min(from, next), Math.max(from, next) + 1]], "add");
    } else if (event.key === " ") {
      event.preventDefault();
      props.onSelect([[from, from + 1]], "toggle");
      setCursor(from);
    } else if (event.key === "Enter" && cursor !== null) {
      event.preventDefault();
      props.onOpen(cursor);
    } else if (event.key === "Escape") {
      setCursor(null);
      pointAt(null, false);
      props.onClear();
    }
  };

  const style = { width: `${grid.width / ratio}px`, height: `${grid.height / ratio}px` };
  return (
    <div ref={box} className="heat-box">
      <div
        className="heat-canvas"
        role="application"
        aria-roledescription="heat map"
        aria-label={label}
        aria-describedby={described_by}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move in it
        tabIndex={0}
        data-selecting={selecting || undefined}
        data-cells={cells.cells}
        data-columns={grid.columns}
        data-pitch={grid.pitch / ratio}
        style={style}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={letGo}
        onPointerLeave={(event) => {
          if (event.pointerType !== "touch" && press.current === null) pointAt(null, false);
        }}
        onContextMenu={(event) => {
          // A long press selects.
          if (press.current?.touch) event.preventDefault();
        }}
        onKeyDown={onKeyDown}
        onFocus={(event) => {
          if (cursor === null && event.currentTarget.matches(":focus-visible")) setCursor(0);
        }}
        onBlur={({ relatedTarget }) => {
          // What is pointed at stays while somebody follows the link in its card.
          if (relatedTarget instanceof Element && relatedTarget.closest(".heat-stage") !== null) return;
          setCursor(null);
          pointAt(null, false);
        }}
      >
        <canvas ref={below} style={style} />
        <canvas ref={above} className="heat-above" style={style} />
      </div>
    </div>
  );
}

function pointedAt(grid: Grid, cell: number, ratio: number, pinned: boolean): Pointed {
  const { x, y } = placeOf(grid, cell);
  return { cell, x: x / ratio, y: y / ratio, size: grid.pitch / ratio, width: grid.width / ratio, pinned };
}

/** The width of the element, and how many device pixels there are to one of its own. */
function useWidth(box: React.RefObject<HTMLDivElement | null>): { width: number; ratio: number } {
  const [found, setFound] = useState({ width: 0, ratio: 1 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => {
      const next = { width: Math.floor(element.clientWidth), ratio: Math.min(3, window.devicePixelRatio || 1) };
      setFound((before) => (before.width === next.width && before.ratio === next.ratio ? before : next));
    };
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    // Another zoom, or another screen.
    window.addEventListener("resize", measure);
    measure();
    return () => {
      watcher.disconnect();
      window.removeEventListener("resize", measure);
    };
  }, [box]);
  return found;
}
