// The story of a request: what happened, who did it and why; newest first.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { call, type Reply } from "../../api/call.js";
import { verbCommands } from "../../api/commands.js";
import { useThrottled } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useEvents } from "../../live/live.js";
import { to } from "../../routes.js";
import { Button, CliAndCurl, ProblemNote, Safe, ShapeIcon, Skeleton, Time } from "../../ui/index.js";
import "../job/events.css";
import type { Request, RequestEvent } from "./records.js";
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
            <Event key={event.event_id} event={event} />
          ))}
        </ol>
      )}
      {query.hasNextPage && (
        <div>
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show what happened before
          </Button>
        </div>
      )}
      <CliAndCurl curl={curl} />
    </section>
  );
}

function Event({ event }: { event: RequestEvent }) {
  const { text, sign } = storyOf(event);
  return (
    <li data-kind={event.kind}>
      <ShapeIcon status={sign} />
      <div className="grow">
        <p>
          <Safe text={text} limit={500} />
        </p>
        {event.reason !== null && event.reason !== "" && (
          <blockquote>
            <Safe text={event.reason} limit={1_000} />
          </blockquote>
        )}
        <p className="small muted">
          <Time at={event.at} /> · <Safe text={event.actor} limit={80} /> ·{" "}
          <code>
            <Safe text={event.kind} />
          </code>
          {event.job_id !== null && (
            <>
              {" "}
              · <Link href={to.job(event.job_id)}>{event.job_id.slice(0, 12)}</Link>
            </>
          )}
        </p>
      </div>
    </li>
  );
}
