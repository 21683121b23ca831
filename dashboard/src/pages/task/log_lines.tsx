// The lines in sight, however many there are.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { count } from "../../../../src/core/shown/figures.js";
import { absoluteTime, Button, Json, Safe } from "../../ui/index.js";
import { type Log, type LogLine, piecesOf, withoutColours } from "./log_text.js";

interface LinesProps {
  log: Log;
  words: string;
  follow: boolean;
  setFollow(follow: boolean): void;
  back(): Promise<void>;
  busy: boolean;
  is_open: boolean;
}

export function Lines({ log, words, follow, setFollow, back, busy, is_open }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const { lines, older } = log;
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => 22,
    overscan: 30,
    getItemKey: (index) => lines[index]?.log_id ?? index,
  });
  const last = lines.at(-1)?.log_id;
  const begun = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new last line is what it follows
  useEffect(() => {
    if (lines.length === 0 || (begun.current && !(follow && is_open))) return;
    // Also of a task that has ended the newest lines are seen first.
    begun.current = true;
    virtual.scrollToIndex(lines.length - 1, { align: "end" });
  }, [follow, is_open, last, virtual]);
  // What is put in front must not push away what is being read.
  const first = useRef<number | undefined>(undefined);
  useEffect(() => {
    const before = first.current;
    first.current = lines[0]?.log_id;
    if (before === undefined || (follow && is_open)) return;
    const moved = lines.findIndex(({ log_id }) => log_id === before);
    if (moved > 0) virtual.scrollToIndex(moved, { align: "start" });
  }, [lines, follow, is_open, virtual]);
  const onScroll = () => {
    const shown = box.current;
    if (shown === null) return;
    if (shown.scrollTop < 40 && older !== null && !(follow && is_open) && begun.current && !busy) void back();
  };
  return (
    <>
      <div className="log-note small muted">
        <span>
          {count(lines.length)} {lines.length === 1 ? "line" : "lines"}
          {older === null ? "" : " loaded"}
          {is_open ? " · live" : ""}
        </span>
        {older !== null && (
          <Button className="small-button" busy={busy} onClick={() => void back()}>
            Load older lines
          </Button>
        )}
      </div>
      <div
        className="log-box"
        ref={box}
        onScroll={onScroll}
        onWheel={({ deltaY }) => deltaY < 0 && follow && setFollow(false)}
        // The bar beside it, taken by hand.
        onPointerDown={({ target, currentTarget }) => target === currentTarget && setFollow(false)}
        onTouchMove={() => follow && setFollow(false)}
        onKeyDown={({ key }) => ["ArrowUp", "PageUp", "Home"].includes(key) && setFollow(false)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        tabIndex={0}
        role="log"
        aria-label="Log lines"
        aria-live="off"
      >
        <div className="log-lines" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="log-place"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Line line={lines[index] as LogLine} words={words} />
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

function Line({ line, words }: { line: LogLine; words: string }) {
  const [open, setOpen] = useState(false);
  const { at, attempt, level, message, data } = line;
  const date = new Date(at);
  return (
    <div className="log-line" data-level={level}>
      <time dateTime={at} title={absoluteTime(date)} className="log-time">
        {date.toLocaleTimeString(undefined, { hour12: false })}.{String(date.getMilliseconds()).padStart(3, "0")}
      </time>
      <span className="log-attempt" title={`Attempt ${attempt}`}>
        {attempt}
      </span>
      <span className="log-level">{level}</span>
      <span className="log-message">
        <Marked text={withoutColours(message)} words={words} />
        {data !== null && (
          <>
            {" "}
            <button type="button" className="log-data" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? "▾" : "▸"} <Marked text={data.length > 120 ? `${data.slice(0, 120)}…` : data} words={words} />
            </button>
            {open && <Json text={data} name="data" />}
          </>
        )}
      </span>
    </div>
  );
}

function Marked({ text, words }: { text: string; words: string }) {
  const pieces = piecesOf(text, words);
  let at = 0;
  return pieces.map((piece) => {
    const key = at;
    at += piece.text.length;
    return piece.hit ? (
      <mark key={key}>
        <Safe text={piece.text} />
      </mark>
    ) : (
      <Safe key={key} text={piece.text} />
    );
  });
}
