// The lines of a task's log as they are read: the newest page, what is logged next, and page by page what came before.
import { useCallback, useEffect, useRef, useState } from "react";
import { callText } from "../../api/call.js";
import { useLive } from "../../live/live.js";
import { appended, empty_log, type Log, prepended, readLogPage } from "./log_text.js";

const TAIL_MS = 1000;
const PAGE_LINES = 300;

export interface Filter {
  attempt: string;
  level: string;
  q: string;
}

export async function readPage(
  task_id: string,
  filter: Filter,
  more: Record<string, string | number>,
  signal?: AbortSignal,
) {
  const asked = { task_id, ...filter, limit: PAGE_LINES, ...more };
  return readLogPage(await callText("tasks.logs", asked as never, signal));
}

export function useLog(task_id: string, filter: Filter, is_open: boolean) {
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

/** The value once it has not changed for so long. */
export function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
