// The page of a request: what was asked for and how it stands above, and one of its sides below.
import { useEffect, useRef, useState } from "react";
import { useParams } from "wouter";
import { requestVerdict } from "../../../../src/core/shown/request_verdict.js";
import { useGet } from "../../api/hooks.js";
import { type RequestTab, request_tabs, to } from "../../routes.js";
import { announce, Empty, Page, ProblemNote, Safe, Skeleton, Tabs, useNow } from "../../ui/index.js";
import "../job/job.css";
import { VerdictLine } from "../job/job_header.js";
import { RequestEvents } from "./events_tab.js";
import { JobGraph } from "./job_graph.js";
import { Outcome } from "./outcome.js";
import { AskedFor } from "./parameters_tab.js";
import type { Request, Review } from "./records.js";
import { RequestFacts, RequestHeading, RequestVerbs } from "./request_header.js";
import { RequestMap } from "./request_map.js";
import { ReviewTab } from "./review_tab.js";
import "./requests.css";

const AGAIN_MS = 2_000;
const crumbs = [{ href: to.requests(), text: "Requests" }];

export function RequestPage() {
  const { request_id = "", tab = "overview" } = useParams<{ request_id: string; tab: string }>();
  const { request, error } = useRequest(request_id);
  const review = useReview(request);
  if (request === undefined) {
    return (
      <Page title="Request" crumbs={crumbs}>
        {error === null ? (
          <Skeleton lines={8} />
        ) : error.status === 404 || error.status === 400 ? (
          <Empty title="There is no such request" command="fanfold requests list">
            <Safe text={error.message} />
          </Empty>
        ) : (
          <ProblemNote error={error} />
        )}
      </Page>
    );
  }
  const known = (request_tabs as readonly string[]).includes(tab) ? (tab as RequestTab) : "overview";
  return <Shown request={request} review={review} tab={known} problem={error} />;
}

/** Read again when something happens to it or to one of its jobs, and every other second while it is under way. */
function useRequest(request_id: string) {
  const latest = useRef<Request | undefined>(undefined);
  const [open, setOpen] = useState(true);
  const { data, error } = useGet(
    "requests.status",
    { request_id },
    {
      when: ({ kind, job_id, data: told }) =>
        /^(request|release)\./.test(kind)
          ? told?.request_id === latest.current?.request_id
          : job_id !== null && latest.current?.jobs.some((job) => job.job_id === job_id) === true,
      ...(open ? { every_ms: AGAIN_MS } : {}),
    },
  );
  // The request looked at before stays on the page while the next is read: it must not be taken for that.
  const of_this = data !== undefined && isNamed(data, request_id) ? data : undefined;
  latest.current = of_this;
  const is_open = of_this === undefined || of_this.finished_at === null;
  useEffect(() => setOpen(is_open), [is_open]);
  return { request: of_this, error };
}

function isNamed(request: Request, name: string): boolean {
  return request.request_id.startsWith(name) || request.jobs.some(({ job_id }) => job_id?.startsWith(name) === true);
}

function useReview(request: Request | undefined): Review | undefined {
  const { data, refetch } = useGet(
    "requests.review",
    { request_id: request?.request_id ?? "" },
    { enabled: request !== undefined, when: ({ kind }) => kind.startsWith("release.") },
  );
  // What it makes changes with its jobs.
  const at = request?.updated_at ?? "";
  const jobs = request?.jobs.map(({ status }) => status).join() ?? "";
  const was = useRef("");
  useEffect(() => {
    const key = `${at} ${jobs}`;
    if (was.current !== "" && was.current !== key && request !== undefined) void refetch();
    if (request !== undefined) was.current = key;
  }, [at, jobs, request, refetch]);
  return data?.request_id === request?.request_id ? data : undefined;
}

interface ShownProps {
  request: Request;
  review: Review | undefined;
  tab: RequestTab;
  problem: unknown;
}

function Shown({ request, review, tab, problem }: ShownProps) {
  const { dataset_id, resource_id, version_id, request_id } = request;
  useAnnouncedEnd(request);
  return (
    <Page
      title={`${dataset_id}/${resource_id}/${version_id}`}
      heading={<RequestHeading request={request} />}
      crumbs={crumbs}
      actions={<RequestVerbs request={request} review={review} />}
    >
      <Sentence request={request} review={review} />
      {problem !== null && <ProblemNote error={problem} title="This may be out of date" />}
      <RequestFacts request={request} release={review?.release ?? null} />
      <Tabs<RequestTab>
        label="Sides of the request"
        current={tab}
        tabs={[
          { id: "overview", text: "Overview", href: to.request(request_id) },
          { id: "review", text: "Review", href: to.request(request_id, "review") },
          { id: "map", text: "Map", href: to.request(request_id, "map") },
          { id: "events", text: "Events", href: to.request(request_id, "events") },
          { id: "parameters", text: "Asked for", href: to.request(request_id, "parameters") },
        ]}
      />
      <Side request={request} review={review} tab={tab} />
    </Page>
  );
}

/** By the second, without the rest of the page. */
function Sentence({ request, review }: Pick<ShownProps, "request" | "review">) {
  const now_ms = useNow();
  const approval = review?.makes_it_now === true ? (review.release?.approval ?? null) : null;
  const services = request.result_data?.services?.length ?? 0;
  return <VerdictLine verdict={requestVerdict(request, { now_ms, approval, services })} />;
}

function Side({ request, review, tab }: Omit<ShownProps, "problem">) {
  switch (tab) {
    case "review":
      return <ReviewTab request={request} review={review} />;
    case "map":
      return <RequestMap key={request.request_id} request={request} />;
    case "events":
      return <RequestEvents request={request} />;
    case "parameters":
      return <AskedFor request={request} />;
    default:
      return (
        <>
          <JobGraph request={request} review={review} />
          <Outcome request={request} />
        </>
      );
  }
}

/** A screen reader says when the request on the page ends. */
function useAnnouncedEnd({ status, finished_at }: Request): void {
  const was = useRef(status);
  useEffect(() => {
    if (was.current !== status && finished_at !== null) announce(`The request ended: ${status.replaceAll("_", " ")}`);
    was.current = status;
  }, [status, finished_at]);
}
