// One worker: its state, how full its slots and its memory are, when it was last heard of, what it takes, and what it does now.
import { useId, useState } from "react";
import { Button, Copy, Safe, StatusBadge, Time, useNow } from "../../ui/index.js";
import { Meter } from "./meter.js";
import { WorkerTasks } from "./worker_tasks.js";
import { nameOf, stateOf, typesOf, type Worker } from "./worker_words.js";

const TYPES_SHOWN = 6;

export function WorkerCard({ worker, skewed }: { worker: Worker; skewed: boolean }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const state = stateOf(worker);
  const waiting = Math.max(0, worker.held - worker.running);
  const others = worker.held_by_others ?? 0;
  return (
    <article className="card worker" data-state={state} data-worker={worker.worker_id} aria-labelledby={`${id}-name`}>
      <header className="worker-head">
        <h2 id={`${id}-name`}>
          <Safe text={nameOf(worker)} />
        </h2>
        <StatusBadge status={state} />
      </header>
      <Heartbeat worker={worker} />
      <div className="stack meters">
        <Meter
          label="Slots"
          value={worker.running}
          most={worker.slots}
          more={waiting > 0 ? `+ ${waiting.toLocaleString("en-US")} waiting in it` : undefined}
        />
        <Memory worker={worker} />
      </div>
      <dl className="worker-facts">
        <div>
          <dt>Version</dt>
          <dd className={skewed ? "skewed" : undefined}>
            <Safe text={worker.version ?? "unknown"} />
          </dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            <Time at={worker.started_at} />
          </dd>
        </div>
        <div>
          <dt>Serves</dt>
          <dd>{worker.shared ? "all tenants" : "this tenant"}</dd>
        </div>
        {others > 0 && (
          <div>
            <dt>For others</dt>
            <dd>{others.toLocaleString("en-US")} tasks</dd>
          </div>
        )}
        <div>
          <dt>Id</dt>
          <dd className="row id">
            <code title={worker.worker_id}>{worker.worker_id.slice(0, 8)}</code>
            <Copy text={worker.worker_id} label="Copy the worker's id" />
          </dd>
        </div>
      </dl>
      <Types worker={worker} />
      <footer>
        <Button
          className="small-button"
          aria-expanded={open}
          aria-controls={`${id}-tasks`}
          onClick={() => setOpen(!open)}
          data-verb="tasks"
        >
          {open ? "Hide its tasks" : `Show its tasks (${worker.held.toLocaleString("en-US")})`}
        </Button>
        <div id={`${id}-tasks`}>{open && <WorkerTasks worker_id={worker.worker_id} />}</div>
      </footer>
    </article>
  );
}

/** Told by the database's clock; what is left of the lease counts down while it is looked at. */
function Heartbeat({
  worker: { heartbeat_at, lease_ends_at, lease_s, status, silent_s, draining_at },
}: {
  worker: Worker;
}) {
  const left_s = Math.round((Date.parse(lease_ends_at) - useNow()) / 1000);
  return (
    <p className="heartbeat">
      Heard of <Time at={heartbeat_at} />
      {silent_s !== null && left_s >= 0 ? (
        <span className="muted">
          {" "}
          · silent for {lease_s - left_s} s: others get its tasks in {left_s} s, unless it is heard of before
        </span>
      ) : status === "silent" || left_s < 0 ? (
        <span className="muted">
          {" "}
          · its lease of {lease_s} s is over: the janitor gives its tasks to others, unless it comes back before
        </span>
      ) : (
        left_s < (lease_s * 2) / 3 - 2 && <span className="muted"> · its lease ends in {left_s} s</span>
      )}
      {draining_at !== null && (
        <span className="muted">
          {" "}
          · was told <Time at={draining_at} /> to take nothing more, leaves when what runs has ended
        </span>
      )}
    </p>
  );
}

function Memory({ worker: { memory_mb, memory_used_mb, rss_mb, shared } }: { worker: Worker }) {
  const process = rss_mb === null ? undefined : `· process ${rss_mb.toLocaleString("en-US")} MB`;
  if (memory_mb !== null && memory_mb > 0 && memory_used_mb !== null)
    return <Meter tight label="Memory" value={memory_used_mb} most={memory_mb} unit=" MB" more={process} />;
  return (
    <div className="meter-line">
      <span className="meter-label">Memory</span>
      <span className="meter-figures wide">
        {memory_mb !== null && memory_mb > 0 && <>isolated tasks may use {memory_mb.toLocaleString("en-US")} MB </>}
        <span className="muted">
          {process ?? (shared ? "what a shared worker uses is told to an operator's key" : "not told yet")}
        </span>
      </span>
    </div>
  );
}

function Types({ worker }: { worker: Worker }) {
  const [all, setAll] = useState(false);
  const { handlers, plans } = typesOf(worker.types);
  const shown = all ? handlers : handlers.slice(0, TYPES_SHOWN);
  const too_large = Object.entries(worker.too_large);
  return (
    <div className="types">
      {shown.map((type) => (
        <code key={type} className="type">
          <Safe text={type} />
        </code>
      ))}
      {handlers.length > TYPES_SHOWN && (
        <Button className="small-button" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "fewer" : `${handlers.length - TYPES_SHOWN} more types`}
        </Button>
      )}
      {plans && <span className="muted small">plans stages</span>}
      {handlers.length === 0 && <span className="muted small">no handlers of its own</span>}
      {too_large.length > 0 && (
        <p className="muted small">
          Leaves to others, because one task needs more memory than it has:{" "}
          {too_large.map(([type, mb], at) => (
            <span key={type}>
              {at > 0 && ", "}
              <code>
                <Safe text={type} />
              </code>{" "}
              ({mb.toLocaleString("en-US")} MB)
            </span>
          ))}
        </p>
      )}
    </div>
  );
}
