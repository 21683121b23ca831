// What a task logged: the newest first of all, followed as it is written, and page by page back to the first line.
import { useDeferredValue, useId, useRef, useState } from "react";
import { useQueryState } from "../../routes.js";
import { announce, Button, Card, copyText, download, Empty, ProblemNote, useKeys } from "../../ui/index.js";
import { Lines } from "./log_lines.js";
import { readPage, useLog, useSettled } from "./log_reading.js";
import { empty_log, type Log, plainLines, prepended } from "./log_text.js";

/** Pages of a thousand lines that a download asks for. */
const MOST_PAGES = 200;

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
        const page = await readPage(task_id, { ...filter, q: settled }, { limit: 1000, before: before ?? "" });
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
          {is_open && (
            <Button
              className="small-button"
              aria-pressed={follow}
              onClick={() => setFollow(!follow)}
              title={follow ? "New lines come into sight" : "The log stays where it is"}
            >
              {follow ? "Following" : "Follow"}
            </Button>
          )}
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
