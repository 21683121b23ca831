// A job as it is now: its status, the counts that came since, and how quickly its stages go.
import { useEffect, useMemo, useRef, useState } from "react";
import { type Pace, paces as pacesOf, remember, type Sample } from "../../../../src/core/shown/pace.js";
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import type { ApiProblem } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { type StageCounts, useProgress } from "../../live/live.js";
import { paceOf, withCounts } from "./live_counts.js";
import type { Job } from "./records.js";
import { type Stills, stillSince, stillsOf } from "./stillness.js";

/** Counts come by themselves; what they do not tell (retries, gates, deliverables) is asked for so often. */
const AGAIN_MS = 4_000;

/** When each batch of counts came: an object is told once. */
const told_at = new WeakMap<StageCounts, number>();

function arrival(counts: StageCounts): number {
  const known = told_at.get(counts);
  if (known !== undefined) return known;
  const now = Date.now();
  told_at.set(counts, now);
  return now;
}

export interface LiveJob {
  job: Job | undefined;
  problem: ApiProblem | null;
  /** By stage number, of the stages that run. */
  paces: ReadonlyMap<number, Pace>;
  /** When the open stage that has stood still the longest last moved, by this browser's clock. */
  moved_at: number;
}

export function useLiveJob(wanted: string): LiveJob {
  const [open, setOpen] = useState(true);
  const latest = useRef<Job | undefined>(undefined);
  const { data, error, dataUpdatedAt } = useGet(
    "jobs.get",
    { job_id: wanted },
    {
      // Also what becomes of jobs that it waits for.
      when: (event) =>
        event.job_id !== null && (event.job_id.startsWith(wanted) || waitsFor(latest.current, event.job_id)),
      ...(open ? { every_ms: AGAIN_MS } : {}),
    },
  );
  latest.current = data;
  const progress = useProgress(data?.job_id ?? wanted);
  const job = useMemo(
    () => (data === undefined ? undefined : withCounts(data, progress, (counts) => arrival(counts) > dataUpdatedAt)),
    [data, progress, dataUpdatedAt],
  );
  useEffect(() => {
    if (job !== undefined) setOpen(!isTerminal(job.status));
  }, [job]);
  return { job, problem: error, ...usePaces(job) };
}

function waitsFor(job: Job | undefined, job_id: string): boolean {
  return job?.waits_for !== undefined && job.waits_for > 0 && job.depends_on.some((one) => one.job_id === job_id);
}

function usePaces(job: Job | undefined): { paces: ReadonlyMap<number, Pace>; moved_at: number } {
  const samples = useRef<{ key: string; list: Sample[]; stills: Stills }>({ key: "", list: [], stills: new Map() });
  const [seen, setSeen] = useState<{ paces: ReadonlyMap<number, Pace>; moved_at: number }>(() => ({
    paces: new Map(),
    moved_at: Date.now(),
  }));
  useEffect(() => {
    if (job === undefined) return;
    // What was watched of another job, or of the epoch before, says nothing about this one.
    const key = `${job.job_id} ${job.epoch}`;
    const kept = samples.current.key === key ? samples.current : { key, list: [], stills: new Map() };
    const list = remember(kept.list, job, performance.now());
    const stills = stillsOf(kept.stills, job.stages, Date.now());
    const watched_ms = (list.at(-1)?.at_ms ?? 0) - (list[0]?.at_ms ?? 0);
    const watched = pacesOf(list, job);
    const now = new Map<number, Pace>();
    for (const stage of job.stages) {
      const pace = paceOf(stage, watched, watched_ms);
      if (pace !== null) now.set(stage.number, pace);
    }
    samples.current = { key, list, stills };
    setSeen({ paces: now, moved_at: stillSince(stills, Date.now()) });
  }, [job]);
  return seen;
}
