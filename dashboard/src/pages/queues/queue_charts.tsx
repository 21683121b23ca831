// Small charts of a queue, each with its figures; all of them as a table for readers who want numbers.
import type { ReactNode } from "react";
import { Sparkline } from "../../ui/index.js";
import { bridged, chartText, overOnly, type Queue, queueName, rateText } from "./queue_words.js";

export function Charts({ queue: { history, per_minute } }: { queue: Queue }) {
  if (history === null) return <span className="muted small">nothing in this time</span>;
  const { completed, failed, queued, step_s } = history;
  return (
    <div className="queue-charts">
      <Chart
        title={chartText("Completed", completed, step_s)}
        values={overOnly(completed)}
        colour="--st-completed"
        figures={
          <>
            {rateText(per_minute.completed)}
            <span className="muted">/min done</span>
          </>
        }
      />
      <Chart
        title={chartText("Failed", failed, step_s)}
        values={overOnly(failed)}
        colour="--st-failed"
        figures={
          <>
            {rateText(per_minute.failed)}
            <span className="muted">/min failed</span>
          </>
        }
      />
      <Chart
        title={chartText("Waiting", queued, step_s)}
        values={bridged(queued)}
        colour="--st-later"
        figures={
          <>
            {Math.max(0, ...queued.map((n) => n ?? 0)).toLocaleString("en-US")}
            <span className="muted"> most waited</span>
          </>
        }
      />
    </div>
  );
}

interface ChartProps {
  title: string;
  values: readonly number[];
  colour: string;
  figures: ReactNode;
}

function Chart({ title, values, colour, figures }: ChartProps) {
  return (
    <figure className="queue-chart" title={title}>
      <Sparkline values={values} label={title} colour={colour} height={26} />
      <figcaption className="small nowrap">{figures}</figcaption>
    </figure>
  );
}

/** The newest points of every chart, as figures. */
export function ChartTable({ queues }: { queues: readonly Queue[] }) {
  const charted = queues.filter(({ history }) => history !== null);
  const first = charted[0]?.history;
  if (first === null || first === undefined) return null;
  const points = Math.min(12, first.completed.length);
  const starts = Array.from({ length: points }, (_, at) => {
    const point = first.completed.length - points + at;
    return new Date(Date.parse(first.from) + point * first.step_s * 1000);
  });
  return (
    <details className="chart-table">
      <summary className="muted">
        The same in figures: completed (failed){" "}
        {first.step_s === 60 ? "by the minute" : `by ${first.step_s / 60} minutes`}
      </summary>
      <section className="table-box" aria-label="Figures of the charts">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Queue</th>
              {starts.map((start) => (
                <th key={start.getTime()} scope="col">
                  {start.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {charted.map(({ task_type, history }) => (
              <tr key={task_type}>
                <th scope="row" className="mono">
                  {queueName(task_type)}
                </th>
                {starts.map((start, at) => {
                  const point = first.completed.length - points + at;
                  const failed = history?.failed[point] ?? 0;
                  return (
                    <td key={start.getTime()}>
                      {(history?.completed[point] ?? 0).toLocaleString("en-US")}
                      {failed > 0 && ` (${failed.toLocaleString("en-US")})`}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}
