// What a task logged: the newest first of all, followed as it is written, and page by page back to the first line.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useDeferredValue, useEffect, useId, useRef, useState } from "react";
import type { task_pages_api } from "../../../../src/core/api/task_pages.js";
import { count } from "../../../../src/core/figures.js";
import { callText } from "../../api/call.js";
import { useLive } from "../../live/live.js";
import { useQueryState } from "../../routes.js";
import {
  absoluteTime,
  announce,
  Button,
  Card,
  copyText,
  download,
  Empty,
  Json,
  ProblemNote,
  Safe,
  useKeys,
} from "../../ui/index.js";
import {
  appended,
  empty_log,
  type Log,
  type LogLine,
  piecesOf,
  plainLines,
  prepended,
  readLogPage,
  withoutColours,
} from "./log_text.js";

const path = "/api/tasks/{task_id}/logs";
const TAIL_MS = 1000;
const PAGE_LINES = 300;
/** Pages of a thousand lines that a download asks for. */
const MOST_PAGES = 200;

interface Filter {
  attempt: string;
  level: string;
  q: string;
}

async function readPage(task_id: string, filter: Filter, more: Record<string, string | number>, signal?: AbortSignal) {
  const query = { ...filter, limit: PAGE_LINES, ...more };
  const given = { params: { task_id }, query: query as object, ...(signal === undefined ? {} : { signal }) };
  return readLogPage(await callText<typeof task_pages_api.logs>("GET", path, given as never));
}

function useLog(task_id: string, filter: Filter, is_open: boolean) {
  const { attempt, level, q } = filter;
  const [log, setLog] = useState<Log>(empty_log);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [ready, setReady] = useState(false);
  const { state } = useLive();
  const cursors = useRef(log);
  cursors.current = log;
  useEffect(() => {
    const gone = new AbortController();
    const wanted = { attempt, level, q };
    readPage(task_id, wanted, {}, gone.signal).then(
      (page) => {
        setLog({ lines: page.lines, older: page.older, newer: page.newer });
        setProblem(null);
        setReady(true);
      },
      (error) => {
        if (!gone.signal.aborted) setProblem(error);
      },
    );
    return () => gone.abort();
  }, [task_id, attempt, level, q]);
  const live = ready && state !== "paused";
  useEffect(() => {
    if (!live) return;
    const gone = new AbortController();
    const wanted = { attempt, level, q };
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      const after = cursors.current.newer;
      if (after !== null && document.visibilityState === "visible") {
        try {
          const page = await readPage(task_id, wanted, { after }, gone.signal);
          if (gone.signal.aborted) return;
          if (page.lines.length > 0 || page.newer !== after) setLog((known) => appended(known, page));
        } catch {
          // The page says itself that the server cannot be reached; the next look may succeed.
        }
      }
      // Once more after the end: the last lines come with the result.
      if (is_open && !gone.signal.aborted) timer = setTimeout(look, TAIL_MS);
    };
    timer = setTimeout(look, TAIL_MS);
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [task_id, attempt, level, q, live, is_open]);
  const back = useCallback(async () => {
    const before = cursors.current.older;
    if (before === null || busy) return;
    setBusy(true);
    try {
      const page = await readPage(task_id, { attempt, level, q }, { before });
      setLog((known) => prepended(known, page));
      setProblem(null);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  }, [task_id, attempt, level, q, busy]);
  return { log, problem, busy, ready, back };
}

export function Logs({ task_id, attempts, is_open }: { task_id: string; attempts: number; is_open: boolean }) {
  const [filter, setFilter] = useQueryState({ attempt: "", level: "", q: "" });
  const deferred = useDeferredValue(filter.q.trim().slice(0, 200));
  const settled = useSettled(deferred, 250);
  const { log, problem, busy, ready, back } = useLog(task_id, { ...filter, q: settled }, is_open);
  const [follow, setFollow] = useState(true);
  const [saving, setSaving] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const ids = { q: useId(), level: useId(), attempt: useId() };
  useKeys([
    { keys: "/", what: "Search in the log", run: () => input.current?.focus() },
    { keys: "f", what: "Follow the log, or stop", run: () => setFollow(!follow) },
  ]);
  const save = async () => {
    setSaving(true);
    try {
      let whole: Log = empty_log;
      for (let pages = 0, before: string | null | undefined; before !== null && pages < MOST_PAGES; pages++) {
        const page = await readPage(
          task_id,
          { ...filter, q: settled },
          { limit: 1000, ...(before === undefined ? {} : { before }) },
        );
        whole = prepended(whole, page);
        before = page.older;
      }
      download(`${plainLines(whole.lines)}\n`, `task-${task_id}.log`, "text/plain");
    } finally {
      setSaving(false);
    }
  };
  const filtered = filter.attempt !== "" || filter.level !== "" || settled !== "";
  return (
    <Card
      title="Log"
      className="task-log"
      actions={
        <>
          <Button
            className="small-button"
            aria-pressed={follow}
            onClick={() => setFollow(!follow)}
            title={follow ? "New lines come into sight" : "The log stays where it is"}
          >
            {follow ? "Following" : "Follow"}
          </Button>
          <Button
            className="small-button"
            onClick={async () =>
              announce(
                (await copyText(plainLines(log.lines)))
                  ? "Copied the lines that are loaded"
                  : "The browser does not allow copying",
              )
            }
          >
            Copy
          </Button>
          <Button className="small-button" busy={saving} onClick={() => void save()}>
            Download
          </Button>
        </>
      }
    >
      <div className="log-filter">
        <label className="sr-only" htmlFor={ids.q}>
          Search in the log
        </label>
        <input
          id={ids.q}
          ref={input}
          type="search"
          className="text-input"
          placeholder="Search in the log"
          value={filter.q}
          maxLength={200}
          onChange={({ target }) => setFilter({ q: target.value }, { replace: true })}
        />
        <label className="sr-only" htmlFor={ids.level}>
          Level
        </label>
        <select
          id={ids.level}
          className="text-input"
          value={filter.level}
          onChange={({ target }) => setFilter({ level: target.value })}
        >
          <option value="">All levels</option>
          <option value="info">Info and graver</option>
          <option value="warn">Warnings and errors</option>
          <option value="error">Errors</option>
        </select>
        {attempts > 1 && (
          <>
            <label className="sr-only" htmlFor={ids.attempt}>
              Attempt
            </label>
            <select
              id={ids.attempt}
              className="text-input"
              value={filter.attempt}
              onChange={({ target }) => setFilter({ attempt: target.value })}
            >
              <option value="">All attempts</option>
              {Array.from({ length: Math.min(attempts, 200) }, (_, n) => n + 1).map((one) => (
                <option key={one} value={one}>
                  Attempt {one}
                </option>
              ))}
            </select>
          </>
        )}
      </div>
      <ProblemNote error={problem} title="The log cannot be read" />
      {ready && log.lines.length === 0 && problem === null ? (
        <>
          {filtered ? (
            <p className="muted">
              No line is like that{log.older === null ? "." : " among the 20,000 that were looked at."}
            </p>
          ) : (
            <Empty title="Nothing was logged">
              A handler writes here with <code>ctx.log.info("…")</code>.
            </Empty>
          )}
          {log.older !== null && (
            <Button busy={busy} onClick={() => void back()}>
              Look further back
            </Button>
          )}
        </>
      ) : (
        <Lines
          log={log}
          words={settled}
          follow={follow}
          setFollow={setFollow}
          back={back}
          busy={busy}
          is_open={is_open}
        />
      )}
    </Card>
  );
}

/** The value once it has not changed for so long. */
function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

interface LinesProps {
  log: Log;
  words: string;
  follow: boolean;
  setFollow(follow: boolean): void;
  back(): Promise<void>;
  busy: boolean;
  is_open: boolean;
}

function Lines({ log, words, follow, setFollow, back, busy, is_open }: LinesProps) {
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new last line is what it follows
  useEffect(() => {
    if (follow && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: "end" });
  }, [follow, last, virtual]);
  // What is put in front must not push away what is being read.
  const first = useRef<number | undefined>(undefined);
  useEffect(() => {
    const before = first.current;
    first.current = lines[0]?.log_id;
    if (before === undefined || follow) return;
    const moved = lines.findIndex(({ log_id }) => log_id === before);
    if (moved > 0) virtual.scrollToIndex(moved, { align: "start" });
  }, [lines, follow, virtual]);
  const onScroll = () => {
    const shown = box.current;
    if (shown === null) return;
    const at_end = shown.scrollHeight - shown.scrollTop - shown.clientHeight < 30;
    if (!at_end && follow && !virtual.isScrolling) return;
    if (!at_end && follow) setFollow(false);
    if (shown.scrollTop < 40 && older !== null && !follow && !busy) void back();
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
