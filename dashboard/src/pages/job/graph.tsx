// What waits for each other, from left to right where there is room; else one below the other. Stages of a job, jobs of a request.
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { edgePath, layoutOf } from "./graph_layout.js";
import "./stages.css";

export interface GraphNode {
  number: number;
  /** Numbers of those it waits for. */
  after: readonly number[];
  key: string;
  status: string;
  ended: boolean;
}

interface Drawn {
  width: number;
  height: number;
  paths: { key: string; d: string; passed: boolean }[];
}

const nothing: Drawn = { width: 0, height: 0, paths: [] };
const NARROWEST = 640;
const LEAST_COLUMN = 190;
const COLUMN_GAP = 44;

/** As wide as there is room, and never too narrow to be read: a long chain scrolls. */
function columnsOf(columns: number) {
  return {
    gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
    minWidth: columns * LEAST_COLUMN + (columns - 1) * COLUMN_GAP,
  };
}

interface GraphProps<Node extends GraphNode> {
  label: string;
  nodes: readonly Node[];
  /** `tells_order`: no lines show what it waits for. */
  card(node: Node, tells_order: boolean): ReactNode;
}

export function Graph<Node extends GraphNode>({ label, nodes, card }: GraphProps<Node>) {
  const shape = JSON.stringify(nodes.map(({ number, after }) => [number, after]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape is all that counts, and it never changes
  const layout = useMemo(() => layoutOf(nodes), [shape]);
  const box = useRef<HTMLOListElement>(null);
  const [wide, setWide] = useState(true);
  const [drawn, setDrawn] = useState(nothing);
  const passed = nodes.map(({ number, ended }) => (ended ? number : 0)).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has passed changes how lines look
  useLayoutEffect(() => {
    const list = box.current;
    if (list === null) return;
    const measure = () => {
      setWide((list.parentElement?.clientWidth ?? 0) >= NARROWEST);
      setDrawn(linesOf(list, layout, new Set(nodes.filter(({ ended }) => ended).map(({ number }) => number))));
    };
    measure();
    // Cards grow and shrink with what they say: lines follow.
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    if (list.parentElement !== null) observer.observe(list.parentElement);
    for (const one of list.querySelectorAll("[data-stage]")) observer.observe(one);
    return () => observer.disconnect();
  }, [layout, passed, wide]);
  return (
    <section className="graph" aria-label={label}>
      <ol
        ref={box}
        className={wide ? "graph-stages wide" : "graph-stages"}
        style={wide ? columnsOf(layout.columns) : undefined}
      >
        {nodes.map((node) => {
          const place = layout.places.get(node.number) ?? { column: 0, row: 0 };
          return (
            <li
              key={node.key}
              data-stage={node.number}
              data-status={node.status}
              className="stage-card"
              style={wide ? { gridColumn: place.column + 1, gridRow: place.row + 1 } : undefined}
            >
              {card(node, !wide)}
            </li>
          );
        })}
      </ol>
      <svg className="graph-lines" width={drawn.width} height={drawn.height} aria-hidden="true">
        <defs>
          <marker id="graph-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0L8 4L0 8Z" className="arrow" />
          </marker>
        </defs>
        {drawn.paths.map(({ key, d, passed: is_passed }) => (
          <path key={key} d={d} className="edge" markerEnd="url(#graph-arrow)" data-passed={is_passed || undefined} />
        ))}
      </svg>
    </section>
  );
}

function linesOf(list: HTMLElement, { edges }: ReturnType<typeof layoutOf>, passed: ReadonlySet<number>): Drawn {
  const boxes = new Map<number, { left: number; top: number; width: number; height: number }>();
  for (const card of list.querySelectorAll<HTMLElement>("[data-stage]")) {
    boxes.set(Number(card.dataset.stage), {
      left: card.offsetLeft,
      top: card.offsetTop,
      width: card.offsetWidth,
      height: card.offsetHeight,
    });
  }
  const all = [...boxes.values()];
  const paths = edges.flatMap(({ from, to }) => {
    const [one, other] = [boxes.get(from), boxes.get(to)];
    if (one === undefined || other === undefined) return [];
    const d = edgePath(one, other, all);
    return d === null ? [] : [{ key: `${from} ${to}`, d, passed: passed.has(from) }];
  });
  return { width: list.scrollWidth, height: list.scrollHeight, paths };
}
