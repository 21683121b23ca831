// The picture: a canvas that shows the rows in sight, moved and zoomed by wheel, drag, fingers and keys.
import {
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useLocation } from "wouter";
import { to as links } from "../../routes.js";
import { useTheme } from "../../theme/theme.js";
import { announce } from "../../ui/index.js";
import { draw } from "./draw.js";
import { HoverCard, type Hovered } from "./hover_card.js";
import { moved, placed, type Row, type Timeline, type View, zoomed } from "./layout.js";
import { axis_height, barAt, type Scene, timeAt } from "./scene.js";

interface PaneProps {
  timeline: Timeline;
  rows: readonly Row[];
  view: View;
  whole: View;
  now: number;
  setView(view: View | null): void;
  label: string;
}

const MOST_HEIGHT = 560;

export function Pane({ timeline, rows, view, whole, now, setView, label }: PaneProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [scroll, setScroll] = useState(0);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const [focused, setFocused] = useState<number | null>(null);
  const theme = useTheme();
  const [, navigate] = useLocation();
  const { tops, height: all } = useMemo(() => placed(rows), [rows]);
  const height = Math.min(MOST_HEIGHT, Math.max(160, all + axis_height + 8));
  const gutter = useMemo(() => gutterFor(rows, width), [rows, width]);
  useLayoutEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    const watcher = new ResizeObserver(() => setWidth(shown.clientWidth));
    watcher.observe(shown);
    setWidth(shown.clientWidth);
    return () => watcher.disconnect();
  }, []);
  const scene: Scene = {
    rows,
    tops,
    view,
    now,
    scroll,
    width,
    height,
    gutter,
    origin: Date.parse(timeline.origin),
    hovered: hovered?.bar?.task_id ?? null,
    focused: focused === null ? null : (rows[focused]?.key ?? null),
    bins: { from: timeline.from, to: timeline.to },
  };
  const latest = useRef(scene);
  latest.current = scene;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme's colours are read while drawing
  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, latest.current);
  }, [rows, tops, view, now, scroll, width, height, hovered, focused, theme]);

  const changed = useCallback((next: View) => setView(next), [setView]);
  useEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    // Not passive: zooming must not zoom the page.
    const onWheel = (event: WheelEvent) => {
      const { view: current, gutter: edge, width: across } = latest.current;
      const per_px = (current.to - current.from) / Math.max(across - edge, 1);
      if (event.ctrlKey || event.metaKey || event.altKey) {
        event.preventDefault();
        const at = timeAt(latest.current, Math.max(edge, event.clientX - shown.getBoundingClientRect().left));
        changed(zoomed(current, Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), at, whole));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        changed(moved(current, (event.deltaX || event.deltaY) * per_px, whole));
      }
    };
    shown.addEventListener("wheel", onWheel, { passive: false });
    return () => shown.removeEventListener("wheel", onWheel);
  }, [changed, whole]);

  const drag = useRef<{ id: number; x: number; y: number; view: View; top: number; moved: boolean } | null>(null);
  const placeOf = (event: PointerEvent) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const onPointerDown = (event: PointerEvent<HTMLCanvasElement>) => {
    if (event.button !== 0) return;
    drag.current = {
      id: event.pointerId,
      x: event.clientX,
      y: event.clientY,
      view,
      top: box.current?.scrollTop ?? 0,
      moved: false,
    };
    if (event.pointerType === "mouse") event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent<HTMLCanvasElement>) => {
    const begun = drag.current;
    if (begun !== null && begun.id === event.pointerId) {
      const [dx, dy] = [event.clientX - begun.x, event.clientY - begun.y];
      begun.moved ||= Math.abs(dx) > 4 || Math.abs(dy) > 4;
      if (begun.moved) {
        setHovered(null);
        const per_px = (begun.view.to - begun.view.from) / Math.max(width - gutter, 1);
        changed(moved(begun.view, -dx * per_px, whole));
        if (box.current !== null && event.pointerType === "mouse") box.current.scrollTop = begun.top - dy;
        return;
      }
    }
    const { x, y } = placeOf(event);
    const found = barAt(latest.current, x, y);
    setHovered(found === null ? null : { ...found, x, y });
  };
  const onPointerUp = (event: PointerEvent<HTMLCanvasElement>) => {
    const begun = drag.current;
    drag.current = null;
    if (begun === null || begun.moved || begun.id !== event.pointerId) return;
    const { x, y } = placeOf(event);
    const found = barAt(latest.current, x, y);
    const task_id = found?.bar?.task_id ?? (found?.row.kind === "task" ? found.row.task_id : undefined);
    if (task_id === undefined) return;
    // A finger has no hover: the first touch tells, the second opens.
    if (event.pointerType !== "mouse" && hovered?.bar?.task_id !== task_id) setHovered({ ...found!, x, y });
    else navigate(links.task(task_id));
  };

  const focusRow = (index: number) => {
    const at = Math.max(0, Math.min(rows.length - 1, index));
    const row = rows[at];
    if (row === undefined) return;
    setFocused(at);
    const shown = box.current;
    const top = tops[at] as number;
    if (shown !== null) {
      const room = height - axis_height - row.height;
      shown.scrollTop = Math.min(top, Math.max(shown.scrollTop, top - room));
    }
    announce(rowWords(row));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const middle = (view.from + view.to) / 2;
    const step = (view.to - view.from) / 8;
    const done: Record<string, () => void> = {
      ArrowLeft: () => changed(moved(view, -step, whole)),
      ArrowRight: () => changed(moved(view, step, whole)),
      ArrowDown: () => focusRow((focused ?? -1) + 1),
      ArrowUp: () => focusRow((focused ?? 1) - 1),
      Home: () => focusRow(0),
      End: () => focusRow(rows.length - 1),
      "+": () => changed(zoomed(view, 0.7, middle, whole)),
      "=": () => changed(zoomed(view, 0.7, middle, whole)),
      "-": () => changed(zoomed(view, 1.4, middle, whole)),
      "0": () => setView(null),
      Enter: () => {
        const row = focused === null ? undefined : rows[focused];
        const task_id =
          row?.kind === "task" ? row.task_id : row?.kind === "worker" ? row.bars.at(-1)?.task_id : undefined;
        if (task_id !== undefined) navigate(links.task(task_id));
      },
    };
    const act =
      Object.hasOwn(done, event.key) && !event.ctrlKey && !event.metaKey && !event.altKey ? done[event.key] : undefined;
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  return (
    <div
      className="tl-box"
      ref={box}
      style={{ height }}
      onScroll={({ currentTarget }) => setScroll(currentTarget.scrollTop)}
    >
      <div
        className="tl-stick"
        role="application"
        aria-label={label}
        aria-roledescription="timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is moved by keys
        tabIndex={0}
        onKeyDown={onKeyDown}
        onBlur={() => setFocused(null)}
      >
        <canvas
          ref={canvas}
          className="tl-canvas"
          style={{ width, height }}
          data-hovers={hovered?.bar?.task_id}
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerCancel={() => {
            drag.current = null;
          }}
          onPointerLeave={() => setHovered(null)}
        />
        {hovered !== null && (
          <HoverCard hovered={hovered} timeline={timeline} width={width} height={height} now={now} />
        )}
      </div>
      <div style={{ height: Math.max(0, all + axis_height + 8 - height) }} />
    </div>
  );
}

/** Room for the longest name, and no more than a part of the width. */
function gutterFor(rows: readonly Row[], width: number): number {
  const longest = rows.reduce((most, { label, kind }) => Math.max(most, label.length + (kind === "stage" ? 8 : 0)), 0);
  return Math.round(Math.min(Math.max(longest * 7 + 24, 72), width < 520 ? 96 : 200));
}

function rowWords(row: Row): string {
  if (row.kind === "stage") return `Stage ${row.label}, ${row.stage.status}`;
  if (row.kind === "density") return `All tasks of stage ${row.stage.name}`;
  if (row.kind === "worker")
    return `Worker ${row.label === "" ? row.worker_id.slice(0, 8) : row.label}, ${row.bars.length} runs`;
  return `Task ${row.label}, ${row.task.status}${row.on_path ? ", on the slowest path" : ""}`;
}
