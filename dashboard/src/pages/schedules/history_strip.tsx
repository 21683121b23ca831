// The last times of a schedule as a row of signs, oldest first: how the job of each stands, or that there was none.

import { Link } from "wouter";
import type { Reply } from "../../api/call.js";
import { to } from "../../routes.js";
import { lookOf } from "../../status.js";
import { absoluteTime, ShapeIcon } from "../../ui/index.js";

type RecentTick = NonNullable<Reply<"schedules.get">["recent"]>[number];

/** A time at which nobody was there looks skipped; one whose submit was refused looks failed. */
function statusOf({ outcome, job_status }: RecentTick): string {
  if (outcome === "missed") return "skipped";
  return outcome === "failed" ? "failed" : (job_status ?? "queued");
}

function wordsOf(tick: RecentTick): string {
  const when = absoluteTime(new Date(tick.tick_at));
  const by = tick.by_hand ? `, by hand${tick.actor === null ? "" : ` by ${tick.actor}`}` : "";
  if (tick.outcome === "missed") return `${when}: missed${by}`;
  if (tick.outcome === "failed")
    return `${when}: could not be submitted${tick.reason === null ? "" : ` (${tick.reason})`}${by}`;
  const stands = tick.missed > 0 ? `, stands for ${tick.missed} earlier` : "";
  return `${when}: ${lookOf(statusOf(tick)).label}${stands}${by}`;
}

export function HistoryStrip({ ticks }: { ticks: readonly RecentTick[] }) {
  if (ticks.length === 0) return <span className="muted">never yet</span>;
  const oldest_first = [...ticks].reverse();
  const bad = ticks.filter((tick) => ["failed", "skipped"].includes(statusOf(tick))).length;
  return (
    <ol
      className="history-strip"
      aria-label={`Last ${ticks.length} times, ${bad === 0 ? "none" : bad} failed or missed`}
    >
      {oldest_first.map((tick) => {
        const words = wordsOf(tick);
        return (
          <li key={tick.tick_at} title={words}>
            {tick.job_id === null ? (
              <span role="img" aria-label={words}>
                <ShapeIcon status={statusOf(tick)} size={12} />
              </span>
            ) : (
              <Link href={to.job(tick.job_id)} aria-label={words}>
                <ShapeIcon status={statusOf(tick)} size={12} />
              </Link>
            )}
          </li>
        );
      })}
    </ol>
  );
}
