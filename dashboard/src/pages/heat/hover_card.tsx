// What a cell stands for, beside the pointer: what the cells tell at once, and soon what the tasks themselves say.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { type Cells, cell_statuses, durationOf, many_workers, tasksOfCell } from "../../../../src/core/shown/cells.js";
import { call, type Reply } from "../../api/call.js";
import { to } from "../../routes.js";
import { Duration, durationText, Safe, StatusBadge } from "../../ui/index.js";
import type { Pointed } from "./heat_canvas.js";
import { lookedAt } from "./words.js";

export type HeatTask = Reply<"tasks.of_job">["tasks"][number];

const WAIT_MS = 120;
const MOST_SHOWN = 6;

/** Tasks of ordinals [from, to) of a stage, the first so many. */
export function readTasks(
  job_id: string,
  stage: string,
  query: { from?: number; to?: number; limit: number; status?: HeatTask["status"]; cursor?: string },
  signal?: AbortSignal,
): Promise<Reply<"tasks.of_job">> {
  return call("tasks.of_job", { job_id, stage, ...query }, signal);
}

export function HoverCard({ cells, pointed, is_bin }: { cells: Cells; pointed: Pointed; is_bin: boolean }) {
  const [lo, hi] = tasksOfCell(cells, pointed.cell);
  const settled = useSettled(pointed.cell, WAIT_MS);
  const { data } = useQuery({
    queryKey: ["cell tasks", cells.job_id, cells.stage_id, lo, hi, cells.status_codes[pointed.cell]],
    queryFn: ({ signal }) => readTasks(cells.job_id, cells.stage, { from: lo, to: hi, limit: MOST_SHOWN }, signal),
    enabled: settled === pointed.cell,
    staleTime: 10_000,
  });
  const tasks = data?.tasks ?? [];
  // To the right of the cell, or to its left where there is no room.
  const left = pointed.x + pointed.size + 12 + 280 < pointed.width;
  const style = left
    ? { left: `${pointed.x + pointed.size + 12}px`, top: `${pointed.y}px` }
    : {
        right: `max(0px, calc(100% - ${Math.max(pointed.x - 12, Math.min(292, pointed.width))}px))`,
        top: `${pointed.y + pointed.size + 8}px`,
      };
  return (
    <div className="heat-card" style={style} data-pinned={pointed.pinned || undefined}>
      {is_bin ? (
        <Bin cells={cells} cell={pointed.cell} lo={lo} hi={hi} tasks={tasks} />
      ) : (
        <One cells={cells} cell={pointed.cell} ordinal={lo} task={tasks[0]} />
      )}
    </div>
  );
}

interface OneProps {
  cells: Cells;
  cell: number;
  ordinal: number;
  task: HeatTask | undefined;
}

function One({ cells, cell, ordinal, task }: OneProps) {
  const status = cell_statuses[cells.status_codes[cell] as number] as string;
  const ms = task?.duration_ms ?? durationOf(cells.duration_classes[cell] as number, cells.steps_per_doubling);
  const attempt = task?.attempt ?? (cells.attempts[cell] || null);
  return (
    <>
      <div className="heat-card-head">
        <Link href={to.task(`${cells.stage_id}-${ordinal}`)} tabIndex={-1}>
          Task {cells.stage_id}-{ordinal}
        </Link>
        <StatusBadge status={status} label={lookedAt(status)} />
      </div>
      {task !== undefined && task.index !== String(ordinal) && (
        <div className="heat-card-index">
          <Safe text={task.index} limit={120} />
        </div>
      )}
      <dl>
        {attempt !== null && <Fact name="attempt">{attempt}</Fact>}
        {ms !== null && (
          <Fact name="took">
            <Duration ms={ms} />
          </Fact>
        )}
        <Fact name="worker">{workerText(cells, cells.worker_numbers[cell] as number)}</Fact>
      </dl>
      {task?.error?.message !== undefined && task.error.message !== null && (
        <p className="heat-card-error">
          <Safe text={firstLine(task.error.message)} limit={200} />
        </p>
      )}
    </>
  );
}

function Bin(props: { cells: Cells; cell: number; lo: number; hi: number; tasks: HeatTask[] }) {
  const { cells, cell, lo, hi, tasks } = props;
  const status = cell_statuses[cells.status_codes[cell] as number] as string;
  const ms = durationOf(cells.duration_classes[cell] as number, cells.steps_per_doubling);
  const first_error = tasks.find(({ error }) => error !== null)?.error?.message;
  return (
    <>
      <div className="heat-card-head">
        <span>
          Tasks {lo.toLocaleString("en-US")} to {(hi - 1).toLocaleString("en-US")}
        </span>
        <StatusBadge
          status={status}
          label={
            hi - lo === 1 ? lookedAt(status) : status === "completed" ? "all completed" : `worst: ${lookedAt(status)}`
          }
        />
      </div>
      <dl>
        <Fact name="attempts">up to {cells.attempts[cell]}</Fact>
        {ms !== null && <Fact name="slowest">about {durationText(ms)}</Fact>}
        <Fact name="worker">{workerText(cells, cells.worker_numbers[cell] as number)}</Fact>
      </dl>
      {tasks.length > 0 && (
        <ul className="heat-card-tasks">
          {tasks.map((task) => (
            <li key={task.task_id}>
              <StatusBadge status={shownStatus(task)} label={String(task.ordinal)} />
            </li>
          ))}
          {hi - lo > tasks.length && <li className="muted">and {hi - lo - tasks.length} more</li>}
        </ul>
      )}
      {first_error !== undefined && first_error !== null && (
        <p className="heat-card-error">
          <Safe text={firstLine(first_error)} limit={200} />
        </p>
      )}
    </>
  );
}

/** As the cells tell tasks apart. */
export function shownStatus({ status, attempt, run_at }: HeatTask): string {
  if (status !== "queued") return status;
  if ((attempt ?? 1) > 1) return "retrying";
  return run_at !== null && Date.parse(run_at) > Date.now() ? "later" : "queued";
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function workerText({ workers }: Cells, number: number): string {
  if (number === 0) return "none yet";
  if (number === many_workers) return "several";
  const worker = workers[number - 1];
  if (worker === undefined) return "unknown";
  return worker.host === null ? worker.worker_id.slice(0, 8) : `${worker.host} (${worker.worker_id.slice(0, 8)})`;
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? "";
}

/** The value once it has stayed the same for so long. */
function useSettled<T>(value: T, ms: number): T | null {
  const [settled, setSettled] = useState<T | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
