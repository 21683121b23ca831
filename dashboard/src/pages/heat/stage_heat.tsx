// All tasks of a stage at a glance, each a cell; what is selected here is selected on the map too, and can be acted on.

import { useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { type CellStatus, type Cells, cell_codes, tasksOfCell } from "../../../../src/core/shown/cells.js";
import { tasks } from "../../../../src/core/shown/figures.js";
import type { Reply } from "../../api/call.js";
import { to, useQueryState } from "../../routes.js";
import { joined, type Range, useSelection } from "../../selection.js";
import {
  announce,
  Button,
  Checkbox,
  Empty,
  IconButton,
  ProblemNote,
  Segments,
  Skeleton,
  Time,
} from "../../ui/index.js";
import { HeatCanvas, type Pointed } from "./heat_canvas.js";
import { HoverCard } from "./hover_card.js";
import { cellsOfOrdinals, cellsWith, type DragShape, ordinalsOfCells, toggled } from "./layout.js";
import { Legend } from "./legend.js";
import { type Colouring, type Colours, colourings } from "./palette.js";
import { TaskTable } from "./task_table.js";
import { useCells } from "./use_cells.js";
import { VerbsBar } from "./verbs_bar.js";
import { cellText, lookedAt, summaryOf } from "./words.js";
import "./heat.css";

type Job = Reply<"jobs.status">;

interface StageHeatProps {
  job: Pick<Job, "job_id" | "finished_at">;
  stage: Pick<Job["stages"][number], "stage_id" | "name" | "status" | "failed">;
}

export function StageHeat({ job, stage }: StageHeatProps) {
  const { data: cells, error, isPending, refetch, dataUpdatedAt } = useCells(job.job_id, stage);
  if (error !== null && cells === undefined) return <ProblemNote error={error} title="The tasks cannot be shown" />;
  if (isPending || cells === undefined) return <Skeleton lines={6} />;
  if (cells.total === 0) return <NoTasks status={cells.status} name={cells.stage} />;
  const read_at = new Date(dataUpdatedAt).toISOString();
  return <Heat job={job} cells={cells} read_at={read_at} refetch={() => void refetch()} />;
}

function NoTasks({ status, name }: { status: string; name: string }) {
  if (status === "planning") return <Empty title="Its tasks are being planned">They appear here as they are.</Empty>;
  if (status === "waiting" || status === "waiting_approval") {
    return <Empty title="No tasks yet">The stage {name} gets its tasks when what it follows has ended.</Empty>;
  }
  return <Empty title="This stage has no tasks">There was nothing for it to do.</Empty>;
}

const by_names: Record<Colouring, string> = {
  status: "Status",
  duration: "Duration",
  attempts: "Attempts",
  worker: "Worker",
};

const drag_shapes: { value: DragShape; text: string; title: string }[] = [
  { value: "box", text: "Box", title: "Drag a rectangle of cells" },
  { value: "run", text: "Run", title: "Drag from one task to another, and all between them" },
];

interface HeatProps {
  job: StageHeatProps["job"];
  cells: Cells;
  /** When the server said last that they are so. */
  read_at: string;
  refetch(): void;
}

function Heat({ job, cells, read_at, refetch }: HeatProps) {
  const [query, setQuery] = useQueryState({ by: "status", contrast: "" });
  const by = (colourings as readonly string[]).includes(query.by) ? (query.by as Colouring) : "status";
  const high_contrast = query.contrast === "high";
  const selection = useSelection(cells.stage_id);
  const [selecting, setSelecting] = useState(false);
  const [shape, setShape] = useState<DragShape>("box");
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [zoomed, setZoomed] = useState<number | null>(null);
  const [colours, setColours] = useState<Colours | null>(null);
  const [, navigate] = useLocation();
  const described_by = useId();
  const is_bin = cells.tasks_per_cell > 1;
  const { first, total, tasks_per_cell, cells: n } = cells;
  const selected = useMemo(
    () => (selection.size === 0 ? null : cellsOfOrdinals({ first, total, tasks_per_cell, cells: n }, selection.ranges)),
    [selection, first, total, tasks_per_cell, n],
  );

  const select = (chosen: readonly Range[], how: "set" | "add" | "toggle") => {
    const ordinals = ordinalsOfCells(cells, chosen);
    if (how === "set") selection.set(ordinals);
    else if (how === "add") selection.add(ordinals);
    else selection.set(ordinals.reduce<Range[]>((all, one) => toggled(joined(all), one), [...selection.ranges]));
  };
  const selectWhere = (bytes: Uint8Array, value: number, what: string) => {
    const chosen = cellsWith(bytes, (byte) => byte === value);
    select(chosen, "set");
    announce(`Selected: ${what}`);
  };
  const onStatus = (status: string) =>
    selectWhere(cells.status_codes, cell_codes[status as CellStatus], lookedAt(status));
  const open = (cell: number) => {
    const [lo, hi] = tasksOfCell(cells, cell);
    if (hi - lo > 1) setZoomed(cell);
    else navigate(to.task(`${cells.stage_id}-${lo}`));
  };
  const onPoint = useCallback((next: Pointed | null) => setPointed(next), []);
  useSpoken(cells, pointed, selected);

  return (
    <div className="heat stack">
      <div className="view-tools">
        <Segments
          label="Colour by"
          choices={colourings.map((value) => ({ value, text: by_names[value] }))}
          current={by}
          onChoose={(next) => setQuery({ by: next })}
        />
        <Segments label="Select by" choices={drag_shapes} current={shape} onChoose={(next) => setShape(next)}>
          <Button aria-pressed={selecting} title="Each click or tap selects" onClick={() => setSelecting(!selecting)}>
            Tap to select
          </Button>
        </Segments>
        <Checkbox
          label="High contrast"
          checked={high_contrast}
          onChange={({ target }) => setQuery({ contrast: target.checked ? "high" : "" })}
        />
        <span className="muted heat-as-of">
          as of <Time at={read_at} />
        </span>
      </div>
      {colours !== null && (
        <Legend
          cells={cells}
          by={by}
          colours={colours}
          high_contrast={high_contrast}
          onStatus={onStatus}
          onWorker={(number) => selectWhere(cells.worker_numbers, number, "the tasks of this worker")}
        />
      )}
      <p className="sr-only" id={described_by}>
        {summaryOf(cells)} Arrow keys move, space selects, Shift with an arrow selects further, Enter opens, Escape
        clears.
      </p>
      <div className="heat-stage">
        <HeatCanvas
          cells={cells}
          by={by}
          high_contrast={high_contrast}
          selected={selected}
          selecting={selecting}
          shape={shape}
          label={`Tasks of ${cells.stage}`}
          described_by={described_by}
          onColours={setColours}
          onPoint={onPoint}
          onSelect={select}
          onOpen={open}
          onLongPress={(cell) => {
            setSelecting(true);
            select([[cell, cell + 1]], "toggle");
            announce("Taps select now");
          }}
          onClear={selection.clear}
        />
        {pointed !== null && pointed.cell < n && <HoverCard cells={cells} pointed={pointed} is_bin={is_bin} />}
      </div>
      {(is_bin || cells.sampled !== null) && (
        <p className="muted heat-note">
          Each cell stands for {tasks(tasks_per_cell)} and shows the worst of them.
          {cells.sampled !== null &&
            ` Durations, attempts and workers are those of ${cells.sampled} tasks of each cell; what failed, waits or runs is complete.`}
        </p>
      )}
      <VerbsBar
        job_id={job.job_id}
        job_ended={job.finished_at !== null}
        stage={cells.stage}
        stage_id={cells.stage_id}
        selection={selection}
        onDone={refetch}
      />
      {zoomed !== null && zoomed < n && (
        <Zoomed job_id={job.job_id} cells={cells} cell={zoomed} onClose={() => setZoomed(null)} />
      )}
      <AsTable job_id={job.job_id} cells={cells} ranges={selection.ranges} size={selection.size} />
    </div>
  );
}

function Zoomed({ job_id, cells, cell, onClose }: { job_id: string; cells: Cells; cell: number; onClose(): void }) {
  const [lo, hi] = tasksOfCell(cells, cell);
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time another cell is opened
  useEffect(() => heading.current?.focus(), [cell]);
  const caption = `Tasks ${lo.toLocaleString("en-US")} to ${(hi - 1).toLocaleString("en-US")}`;
  return (
    <section className="card heat-zoomed">
      <header className="row">
        <h3 ref={heading} tabIndex={-1}>
          {caption}
        </h3>
        <IconButton label="Close" className="ends" onClick={onClose}>
          ✕
        </IconButton>
      </header>
      <TaskTable job_id={job_id} stage={cells.stage} caption={caption} of={[[lo, hi]]} version={cells.as_of} />
    </section>
  );
}

/** The same for readers who cannot see the cells, and for those who want rows. */
function AsTable(props: { job_id: string; cells: Cells; ranges: readonly Range[]; size: number }) {
  const { job_id, cells, ranges, size } = props;
  const [shown, setShown] = useState(false);
  const failed = cells.counts.failed;
  const what = size > 0 ? `the ${tasks(size)} selected` : `the ${tasks(failed)} that failed`;
  if (size === 0 && failed === 0) return null;
  return (
    <details className="heat-table" open={shown} onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
      <summary>As a table: {what}</summary>
      {shown && (
        <TaskTable
          job_id={job_id}
          stage={cells.stage}
          caption={`Table of ${what}`}
          of={size > 0 ? ranges : "failed"}
          version={cells.as_of}
        />
      )}
    </details>
  );
}

/** What the cursor stands on is said, once it stands. */
function useSpoken(cells: Cells, pointed: Pointed | null, selected: Uint8Array | null): void {
  const cell = pointed?.pinned === true ? pointed.cell : null;
  const latest = useRef({ cells, selected });
  latest.current = { cells, selected };
  useEffect(() => {
    if (cell === null) return;
    const timer = setTimeout(() => {
      const { cells: now, selected: marks } = latest.current;
      if (cell < now.cells) announce(cellText(now, cell, marks?.[cell] === 1));
    }, 250);
    return () => clearTimeout(timer);
  }, [cell]);
}
