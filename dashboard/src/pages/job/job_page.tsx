// The page of a job: what it is and how it stands above, and one of its sides below.
import { Suspense, useEffect, useRef, useState } from "react";
import { useParams } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import { verdictOf } from "../../../../src/core/shown/verdict.js";
import { useGet } from "../../api/hooks.js";
import { type JobTab, job_tabs, to, useQueryState } from "../../routes.js";
import { announce, Empty, Page, ProblemNote, Safe, Skeleton, Tabs, useNow } from "../../ui/index.js";
import { ErrorsTab, useErrorGroups } from "./errors_tab.js";
import { EventsTab } from "./events_tab.js";
import "./job.css";
import { JobFacts, JobHeading, JobVerbs, VerdictLine } from "./job_header.js";
import { type LiveJob, useLiveJob } from "./live_job.js";
import { Overview } from "./overview.js";
import { ParametersTab } from "./parameters_tab.js";
import type { Job } from "./records.js";
import { JobMap, JobTimeline, StageHeat } from "./slots.js";
import { StagePicker } from "./stage_picker.js";
import { chosenStage, stagesInTurn } from "./stages_in_turn.js";

const LATELY_MS = 300_000;
const crumbs = [{ href: to.jobs(), text: "Jobs" }];

export function JobPage() {
  const { job_id = "", tab = "overview" } = useParams<{ job_id: string; tab: string }>();
  const live = useLiveJob(job_id);
  const { job, problem } = live;
  // The job looked at before stays on the page while the next is read: it must not be taken for that.
  if (job === undefined || !job.job_id.startsWith(job_id)) {
    return (
      <Page title="Job" crumbs={crumbs}>
        {problem === null ? (
          <Skeleton lines={8} />
        ) : problem.status === 404 || problem.status === 400 ? (
          <Empty title="There is no such job" command="fanfold jobs">
            <Safe text={problem.message} />
          </Empty>
        ) : (
          <ProblemNote error={problem} />
        )}
      </Page>
    );
  }
  const known = (job_tabs as readonly string[]).includes(tab) ? (tab as JobTab) : "overview";
  return <Shown live={live} job={job} tab={known} />;
}

function Shown({ live, job, tab }: { live: LiveJob; job: Job; tab: JobTab }) {
  const failed = job.stages.reduce((sum, stage) => sum + stage.failed, 0);
  const title = `${job.job_type} ${job.job_id.slice(0, 12)}`;
  useAnnouncedEnd(job);
  useEffect(() => {
    // On a phone the tabs are wider than the window.
    if (tab !== "overview")
      document.querySelector(".tab.current")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [tab]);
  return (
    <Page title={title} heading={<JobHeading job={job} />} crumbs={crumbs} actions={<JobVerbs job={job} />}>
      <Sentence live={live} job={job} failed={failed} />
      {live.problem !== null && <ProblemNote error={live.problem} title="This may be out of date" />}
      <JobFacts job={job} />
      <Tabs<JobTab>
        label="Sides of the job"
        current={tab}
        tabs={[
          { id: "overview", text: "Overview", href: to.job(job.job_id) },
          { id: "tasks", text: "Tasks", href: to.job(job.job_id, "tasks") },
          { id: "map", text: "Map", href: to.job(job.job_id, "map") },
          { id: "timeline", text: "Timeline", href: to.job(job.job_id, "timeline") },
          { id: "errors", text: failed > 0 ? `Errors ${count(failed)}` : "Errors", href: to.job(job.job_id, "errors") },
          { id: "events", text: "Events", href: to.job(job.job_id, "events") },
          { id: "parameters", text: "Parameters", href: to.job(job.job_id, "parameters") },
        ]}
      />
      <Side live={live} job={job} tab={tab} />
    </Page>
  );
}

/** By the second, without the rest of the page. */
function Sentence({ live, job, failed }: { live: LiveJob; job: Job; failed: number }) {
  const now_ms = useNow();
  const groups = useErrorGroups(job, job.status === "failed" && failed > 0).data;
  const of_this = groups?.job_id === job.job_id ? groups.groups : undefined;
  const still_running = useStillRunning(job, now_ms);
  const facts = { now_ms, paces: live.paces, still_running, groups: of_this };
  return <VerdictLine verdict={verdictOf(job, facts)} />;
}

/** A cancelled job's handlers stop with the next heartbeat of their workers: the panel below asks the same, and both share the answer. */
function useStillRunning(job: Job, now_ms: number): number {
  const lately = job.status === "cancelled" && now_ms - Date.parse(job.finished_at ?? "") < LATELY_MS;
  const { data } = useGet("why", { job_id: job.job_id }, { enabled: lately });
  if (!lately || data?.id !== job.job_id || data.code !== "CANCELLING") return 0;
  const { running } = data.evidence as { running?: unknown };
  return Array.isArray(running) ? running.length : 0;
}

function Side({ live, job, tab }: { live: LiveJob; job: Job; tab: JobTab }) {
  switch (tab) {
    case "tasks":
      return <TasksSide job={job} />;
    case "map":
      return <MapSide key={job.job_id} job={job} />;
    case "timeline":
      return (
        <Suspense fallback={<Skeleton lines={6} />}>
          <JobTimeline key={job.job_id} job={job} />
        </Suspense>
      );
    case "errors":
      return <ErrorsTab job={job} />;
    case "events":
      return <EventsTab job={job} />;
    case "parameters":
      return <ParametersTab job={job} />;
    default:
      return <Overview live={live} job={job} />;
  }
}

function TasksSide({ job }: { job: Job }) {
  const [{ stage: wanted }] = useQueryState({ stage: "" });
  const stage = chosenStage(job, wanted);
  if (stage === undefined) return null;
  return (
    <>
      <StagePicker job={job} tab="tasks" stage={stage} />
      <Suspense fallback={<Skeleton lines={6} />}>
        <StageHeat key={stage.stage_id} job={job} stage={stage} />
      </Suspense>
    </>
  );
}

/** Unless a stage is asked for, one that is somewhere on the globe. */
function MapSide({ job }: { job: Job }) {
  const [{ stage: wanted }] = useQueryState({ stage: "" });
  const [empty, setEmpty] = useState<ReadonlySet<number>>(new Set());
  const turn = wanted === "" ? stagesInTurn(job) : [];
  const stage = turn.find(({ stage_id }) => !empty.has(stage_id)) ?? chosenStage(job, wanted);
  if (stage === undefined) return null;
  const is_last = turn.every(({ stage_id }) => stage_id === stage.stage_id || empty.has(stage_id));
  return (
    <>
      <StagePicker job={job} tab="map" stage={stage} />
      <Suspense fallback={<Skeleton lines={6} />}>
        <JobMap
          key={stage.stage_id}
          job={job}
          stage={stage}
          onNowhere={is_last ? null : () => setEmpty(new Set([...empty, stage.stage_id]))}
        />
      </Suspense>
    </>
  );
}

/** A reader who cannot see the page is told when the job they look at ends. */
function useAnnouncedEnd(job: Job): void {
  const was = useRef(job.status);
  useEffect(() => {
    if (was.current !== job.status && isTerminal(job.status))
      announce(`The job ended: ${job.status.replaceAll("_", " ")}`);
    was.current = job.status;
  }, [job.status]);
}
