// The story of a request: what happened, who did it and why; newest first.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { call, type Reply } from "../../api/call.js";
import { verbCommands } from "../../api/commands.js";
import { useThrottled } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useEvents } from "../../live/live.js";
import { CliAndCurl, JobLink, More, ProblemNote, Skeleton } from "../../ui/index.js";
import { StoryLine } from "../job/story_line.js";
import type { Request } from "./records.js";
import { storyOf } from "./story.js";

const PAGE = 50;
const AGAIN_MS = 1_000;

export function RequestEvents({ request }: { request: Request }) {
  const { request_id, updated_at, jobs } = request;
  const query = useInfiniteQuery({
    queryKey: ["request events", request_id],
    queryFn: ({ pageParam, signal }) => call("requests.events", { request_id, limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: "",
    getNextPageParam: (page: Reply<"requests.events">) => page.next ?? undefined,
  });
  // Whatever happens to it shows in what the page knows of it.
  const seen = `${updated_at} ${jobs.map(({ status }) => status).join()}`;
  const was = useRef(seen);
  useEffect(() => {
    if (was.current !== seen) void query.refetch();
    was.current = seen;
  }, [seen, query.refetch]);
  // A release is decided without a change of its request.
  const again = useThrottled(() => void query.refetch(), AGAIN_MS);
  useEvents(({ kind, data }) => {
    if (/^(request|release)\./.test(kind) && data?.request_id === request_id) again();
  });
  const events = query.data?.pages.flatMap((page) => page.events) ?? [];
  const { curl } = verbCommands(pageBase(), "requests.events", { request_id });
  return (
    <section className="stack" aria-label="Events">
      <ProblemNote error={query.error} />
      {query.isPending ? (
        <Skeleton lines={5} />
      ) : (
        <ol className="job-story">
          {events.map((event) => (
            <StoryLine
              key={event.event_id}
              event={event}
              {...storyOf(event)}
              about={
                event.job_id !== null && (
                  <>
                    {" "}
                    · <JobLink id={event.job_id} />
                  </>
                )
              }
            />
          ))}
        </ol>
      )}
      <div>
        <More of={query}>Show what happened before</More>
      </div>
      <CliAndCurl curl={curl} />
    </section>
  );
}
