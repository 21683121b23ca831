// The story of a job: what happened, who did it and why; newest first, and what happens now on top.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { count } from "../../../../src/core/shown/figures.js";
import { call, type Reply } from "../../api/call.js";
import { curlLine } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { useEvents, useLive } from "../../live/live.js";
import { useQueryState } from "../../routes.js";
import { absoluteTime, CliAndCurl, JsonOf, More, ProblemNote, Skeleton } from "../../ui/index.js";
import { families, storyOf } from "./event_story.js";
import type { Job, JobEvent } from "./records.js";
import { StoryLine } from "./story_line.js";

const PAGE = 50;
type Page = Reply<"events">;

export function EventsTab({ job }: { job: Job }) {
  const [{ kind }, set] = useQueryState({ kind: "" });
  const client = useQueryClient();
  const { state } = useLive();
  const key = ["events", job.job_id, kind];
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      call("events", { job_id: job.job_id, order: "newest", limit: PAGE, kind, cursor: pageParam }, signal),
    initialPageParam: "",
    getNextPageParam: (page: Page) => page.next ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const fresh = useFresh(job.job_id, kind);
  // What happened while nobody listened is read when the stream is back.
  const was = useRef(state);
  useEffect(() => {
    if (state === "live" && was.current !== "live" && was.current !== "connecting")
      void client.invalidateQueries({ queryKey: ["events", job.job_id] });
    was.current = state;
  }, [state, client, job.job_id]);
  const events = useMemo(() => {
    const read = query.data?.pages.flatMap((page) => page.events) ?? [];
    const known = new Set(read.map(({ event_id }) => event_id));
    return [...fresh.filter(({ event_id }) => !known.has(event_id)), ...read].sort((a, b) => b.event_id - a.event_id);
  }, [query.data, fresh]);
  const stages = useMemo(() => new Map(job.stages.map(({ stage_id, name }) => [stage_id, name])), [job.stages]);
  const asked = { order: "newest", kind };
  return (
    <section className="stack" aria-label="Events">
      <fieldset className="row choices">
        <legend className="sr-only">Kinds of events</legend>
        {families.map(({ id, text }) => (
          <button
            key={id}
            type="button"
            className={kind === id ? "pill current" : "pill"}
            aria-pressed={kind === id}
            onClick={() => set({ kind: id })}
          >
            {text}
          </button>
        ))}
      </fieldset>
      <ProblemNote error={query.error} />
      {query.isPending ? (
        <Skeleton lines={5} />
      ) : events.length === 0 ? (
        <p className="muted">Nothing of this kind happened{query.hasNextPage ? " lately" : ""}.</p>
      ) : (
        <ol className="job-story">
          {events.map((event) => (
            <Event
              key={event.event_id}
              event={event}
              stage={event.stage_id === null ? null : (stages.get(event.stage_id) ?? null)}
            />
          ))}
        </ol>
      )}
      <div>
        <More of={query}>Show what happened before</More>
      </div>
      <CliAndCurl
        cli={`fanfold events ${job.job_id.slice(0, 12)}`}
        curl={curlLine(pageBase(), {
          method: "GET",
          path: "/api/jobs/{job_id}/events",
          params: { job_id: job.job_id },
          query: asked,
        })}
      />
    </section>
  );
}

/** What was told since this is shown, of the kinds that are. */
function useFresh(job_id: string, kind: string): readonly JobEvent[] {
  const [heard, setHeard] = useState<{ of: string; events: readonly JobEvent[] }>({ of: job_id, events: [] });
  useEvents((event) => {
    if (event.job_id !== job_id) return;
    setHeard(({ of, events }) => ({ of: job_id, events: [event, ...(of === job_id ? events : [])].slice(0, 1_000) }));
  });
  return useMemo(() => {
    const wanted = kind === "" ? null : new Set(kind.split(","));
    const fits = ({ kind: one }: JobEvent) => wanted === null || wanted.has(one) || wanted.has(one.split(".")[0] ?? "");
    return heard.of === job_id ? heard.events.filter(fits) : [];
  }, [heard, job_id, kind]);
}

function Event({ event, stage }: { event: JobEvent; stage: string | null }) {
  const { rest, ...told } = storyOf(event, stage);
  const more = Object.keys(rest).length;
  const clock = (
    <>
      <span title={absoluteTime(new Date(event.at))}>{clockOf(event.at)}</span> ·{" "}
    </>
  );
  return (
    <StoryLine event={event} {...told} clock={clock}>
      {more > 0 && (
        <details className="small">
          <summary className="muted">
            {count(more)} more {more === 1 ? "thing" : "things"}
          </summary>
          <JsonOf value={rest} name={`event-${event.event_id}`} />
        </details>
      )}
    </StoryLine>
  );
}

function clockOf(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { timeStyle: "medium" });
}
