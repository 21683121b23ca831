// What the colours mean, with numbers; in the colouring by status each part selects what it names.
import { type Cells, durationOf, many_workers } from "../../../../src/core/shown/cells.js";
import { Count, durationText, ShapeIcon } from "../../ui/index.js";
import { workerText } from "./hover_card.js";
import { extent } from "./paint.js";
import type { Colouring, Colours } from "./palette.js";
import { countsOf, lookedAt } from "./words.js";

interface LegendProps {
  cells: Cells;
  by: Colouring;
  colours: Colours;
  high_contrast: boolean;
  onStatus(status: string): void;
  onWorker(number: number): void;
}

export function Legend({ cells, by, colours, high_contrast, onStatus, onWorker }: LegendProps) {
  if (by === "status") {
    return (
      <ul className="heat-legend" aria-label="Statuses">
        {countsOf(cells).map(({ status, tasks }) => (
          <li key={status}>
            <button
              type="button"
              className="heat-key"
              title={`Select all that are ${lookedAt(status)}`}
              onClick={() => onStatus(status)}
            >
              {high_contrast && (
                <span
                  className="heat-swatch"
                  style={{ background: colours.css(cells.statuses.indexOf(status)) }}
                  aria-hidden="true"
                />
              )}
              <ShapeIcon status={status} />
              {lookedAt(status)} <Count n={tasks} />
              <span className="sr-only">: select them</span>
            </button>
          </li>
        ))}
      </ul>
    );
  }
  if (by === "worker") return <WorkerLegend cells={cells} colours={colours} onWorker={onWorker} />;
  const values = by === "duration" ? cells.duration_classes : cells.attempts;
  const [least, most] = extent(values);
  const text = (value: number) =>
    by === "duration" ? durationText(durationOf(value, cells.steps_per_doubling) ?? 0) : String(value);
  if (!values.some((value) => value > 0)) return <p className="muted heat-legend">Nothing has run yet.</p>;
  const steps = Array.from({ length: 24 }, (_, at) => Math.round(least + ((most - least) * at) / 23));
  return (
    <div className="heat-legend heat-ramp" role="img" aria-label={`From ${text(least)} to ${text(most)}`}>
      <span>{text(least)}</span>
      <span className="heat-ramp-bar">
        {steps.map((value, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps of a ramp are told apart by their place
          <i key={at} style={{ background: colours.css(value) }} />
        ))}
      </span>
      <span>
        {text(most)}
        {by === "attempts" && most === 1 ? " attempt" : ""}
      </span>
    </div>
  );
}

const MOST_WORKERS = 10;

function WorkerLegend({ cells, colours, onWorker }: Pick<LegendProps, "cells" | "colours" | "onWorker">) {
  const numbers = cells.workers.slice(0, MOST_WORKERS).map((_, at) => at + 1);
  if (cells.worker_numbers.includes(many_workers)) numbers.push(many_workers);
  if (numbers.length === 0) return <p className="muted heat-legend">No worker has taken any of these tasks yet.</p>;
  return (
    <ul className="heat-legend" aria-label="Workers">
      {numbers.map((number) => (
        <li key={number}>
          <button
            type="button"
            className="heat-key"
            title={
              number === many_workers ? "Cells with tasks of several workers" : cells.workers[number - 1]?.worker_id
            }
            onClick={() => onWorker(number)}
          >
            <span className="heat-swatch" style={{ background: colours.css(number) }} aria-hidden="true" />
            {workerText(cells, number)}
          </button>
        </li>
      ))}
      {cells.workers.length > MOST_WORKERS && <li className="muted">and {cells.workers.length - MOST_WORKERS} more</li>}
    </ul>
  );
}
