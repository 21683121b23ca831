// One schedule: its times to come, its history, and what can be done about it.

import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { useForbidden } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import {
  Button,
  Card,
  Empty,
  JobLink,
  JsonOf,
  Page,
  ProblemNote,
  Safe,
  Skeleton,
  StatusBadge,
  Table,
  Time,
  Turn,
  VerbDialog,
} from "../../ui/index.js";
import { TimesTable } from "./next_times.js";
import { ScheduleForm } from "./schedule_form.js";
import { type ScheduleRecord, ScheduleState } from "./schedules_page.js";

/** Not that it is gone: there would be nothing to read. */
const isChange = (kind: string) => kind.startsWith("schedule.") && kind !== "schedule.deleted";

type Doing = "change" | "pause" | "continue" | "run" | "delete";

const missed_words: Record<ScheduleRecord["missed"], string> = {
  skip: "Times that were missed are skipped.",
  one: "Times that were missed are made up for by one job for all of them.",
  all: "Times that were missed are made up for, one job each.",
};

export function SchedulePage({ name }: { name: string }) {
  const { data: schedule, error } = useGet(
    "schedules.get",
    { name },
    { when: ({ kind }) => isChange(kind), every_ms: 15_000 },
  );
  const [doing, setDoing] = useState<Doing | null>(null);
  const operate = useForbidden("operate");
  const submit = useForbidden("submit");
  const crumbs = [{ href: to.schedules(), text: "Schedules" }];
  if (schedule === undefined) {
    return (
      <Page title={name} crumbs={crumbs}>
        {error === null ? <Skeleton lines={5} /> : <ProblemNote error={error} title="This schedule cannot be read" />}
      </Page>
    );
  }
  const paused = schedule.paused_at !== null;
  return (
    <Page
      title={name}
      crumbs={crumbs}
      actions={
        <>
          <Button forbidden={submit} onClick={() => setDoing("run")}>
            Run now
          </Button>
          <Button forbidden={operate} onClick={() => setDoing(paused ? "continue" : "pause")}>
            {paused ? "Continue" : "Pause"}
          </Button>
          <Button forbidden={operate} onClick={() => setDoing("change")}>
            Change
          </Button>
          <Button forbidden={operate} onClick={() => setDoing("delete")}>
            Delete
          </Button>
        </>
      }
    >
      <ProblemNote error={error} title="This schedule cannot be read again" />
      <Card>
        <div className="row">
          <ScheduleState schedule={schedule} />
          <strong>
            <Safe text={schedule.words} />
          </strong>
          <code className="muted">{schedule.cron}</code>
        </div>
        {schedule.description !== null && <Safe text={schedule.description} />}
        {paused && (
          <p className="note warn">
            Paused <Time at={schedule.paused_at} /> by <Safe text={schedule.paused_by} />
            {schedule.pause_reason !== null && (
              <>
                : <Safe text={schedule.pause_reason} />
              </>
            )}
            . Times that pass meanwhile are not made up for.
          </p>
        )}
        <p className="muted">
          Submits{" "}
          <Link href={to.jobs({ q: `label:schedule=${name}` })}>
            <Safe text={schedule.job_type} />
          </Link>
          . {missed_words[schedule.missed]} Version {schedule.version}, changed <Time at={schedule.updated_at} /> by{" "}
          <Safe text={schedule.updated_by} />.
        </p>
      </Card>
      <div className="schedule-parts">
        <Card title="Next times">
          <Upcoming schedule={schedule} />
        </Card>
        <Card title="Parameters">
          <JsonOf value={schedule.parameters} name="parameters" />
          {Object.keys(schedule.options).length > 0 && (
            <>
              <h3>Options</h3>
              <JsonOf value={schedule.options} name="options" />
            </>
          )}
        </Card>
      </div>
      <Card title="What became of its times">
        <Ticks name={name} />
      </Card>
      {doing === "change" && <ScheduleForm schedule={schedule} onClose={() => setDoing(null)} />}
      {doing !== null && doing !== "change" && <ScheduleVerb name={name} verb={doing} onClose={() => setDoing(null)} />}
    </Page>
  );
}

function Upcoming({ schedule }: { schedule: ScheduleRecord }) {
  const { data, error } = useGet(
    "schedules.preview",
    { name: schedule.name, count: 5 },
    { when: ({ kind }) => isChange(kind), every_ms: 60_000 },
  );
  if (schedule.paused_at !== null) return <p className="muted">None while it is paused.</p>;
  if (error !== null) return <ProblemNote error={error} />;
  if (data === undefined) return <Skeleton />;
  if (data.next.length === 0) return <p className="muted">There is no further time.</p>;
  return (
    <>
      <p>
        Next <Time at={schedule.next_at} />
      </p>
      <TimesTable times={data.next} time_zone={schedule.time_zone} />
    </>
  );
}

type Tick = Reply<"schedules.ticks">["ticks"][number];
const tick_looks: Record<Tick["outcome"], { status: string; label: string }> = {
  submitted: { status: "completed", label: "submitted" },
  failed: { status: "failed", label: "not submitted" },
  missed: { status: "skipped", label: "missed" },
};

function Ticks({ name }: { name: string }) {
  const [{ before }, set] = useQueryState({ before: "" });
  const { data, error } = useGet(
    "schedules.ticks",
    { name, limit: 25, cursor: before },
    { when: ({ kind }) => kind === "job.submitted", every_ms: 30_000 },
  );
  if (error !== null) return <ProblemNote error={error} />;
  if (data === undefined) return <Skeleton />;
  if (data.ticks.length === 0)
    return <Empty title="Its first time has not come" command={`fanfold schedules run ${name}`} />;
  return (
    <>
      <Table
        caption="Times, newest first"
        rows={data.ticks}
        rowKey={({ tick_at }) => tick_at}
        columns={[
          { title: "Time", cell: ({ tick_at }) => <Time at={tick_at} /> },
          { title: "Outcome", cell: ({ outcome }) => <StatusBadge {...tick_looks[outcome]} /> },
          {
            title: "Job",
            cell: ({ job_id }) => <JobLink id={job_id} />,
          },
          {
            title: "Notes",
            cell: ({ missed, by_hand, actor, reason }) => (
              <Safe
                text={[
                  missed > 0 ? `stands for ${missed} earlier` : null,
                  by_hand ? `by hand${actor === null ? "" : `: ${actor}`}` : null,
                  reason,
                ]
                  .filter((one) => one !== null)
                  .join(" · ")}
              />
            ),
          },
        ]}
      />
      <Turn page={data} onTurn={(before) => set({ before })} next="Older" />
    </>
  );
}

const verbs: Record<Exclude<Doing, "change">, { title: string; verb: string; what: string; done: string }> = {
  pause: {
    title: "Pause",
    verb: "Pause it",
    what: "Nothing is submitted until it is continued.",
    done: "It is paused.",
  },
  continue: {
    title: "Continue",
    verb: "Continue it",
    what: "It goes on with the first time after now. Times that passed meanwhile are not made up for.",
    done: "It goes on.",
  },
  run: {
    title: "Run now",
    verb: "Run it",
    what: "Submits its job now, whatever the clock says.",
    done: "Its job is submitted.",
  },
  delete: {
    title: "Delete",
    verb: "Delete it",
    what: "The schedule and its history are gone for good. Its jobs stay.",
    done: "It is deleted.",
  },
};

function ScheduleVerb({ name, verb, onClose }: { name: string; verb: Exclude<Doing, "change">; onClose(): void }) {
  const [, navigate] = useLocation();
  const { title, verb: word, what, done } = verbs[verb];
  return (
    <VerbDialog
      does={`schedules.${verb}`}
      fields={{ name }}
      title={`${title}: ${name}`}
      verb={word}
      danger={verb === "delete"}
      reason={verb === "delete" ? "none" : "possible"}
      dry_run={false}
      tell={(told) =>
        "job_id" in told ? (
          <Link href={to.job(told.job_id)} className="nowrap">
            {done}
          </Link>
        ) : (
          done
        )
      }
      onDone={() => verb === "delete" && navigate(to.schedules())}
      onClose={onClose}
    >
      {what}
    </VerbDialog>
  );
}
