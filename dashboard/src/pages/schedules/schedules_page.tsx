// Schedules: when each comes next, and what became of its last times.

import { useState } from "react";
import { Link, useParams } from "wouter";
import type { Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { useForbidden } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import { Button, Empty, FirstRead, Page, Safe, StatusBadge, Table, Turn } from "../../ui/index.js";
import { HistoryStrip } from "./history_strip.js";
import { NextTimes } from "./next_times.js";
import { ScheduleForm } from "./schedule_form.js";
import { SchedulePage } from "./schedule_page.js";
import "./schedules.css";

export type ScheduleRecord = Reply<"schedules.get">;

export function SchedulesPage() {
  const { name } = useParams<{ name?: string }>();
  return name === undefined ? <Schedules /> : <SchedulePage key={name} name={name} />;
}

function Schedules() {
  const [{ cursor }, set] = useQueryState({ cursor: "" });
  const [making, setMaking] = useState(false);
  const forbidden = useForbidden("operate");
  const { data, error } = useGet(
    "schedules.list",
    { limit: 50, recent: 20, fires: 5, cursor },
    { when: ({ kind }) => kind.startsWith("schedule."), every_ms: 15_000 },
  );
  return (
    <Page
      title="Schedules"
      actions={
        <Button kind="primary" forbidden={forbidden} onClick={() => setMaking(true)}>
          Make a schedule
        </Button>
      }
    >
      <FirstRead data={data} error={error} title="The schedules cannot be read" lines={5} />
      {data !== undefined && data.schedules.length === 0 && (
        <Empty
          title="No schedules yet"
          command="fanfold schedules set morning hello_world --cron '30 6 * * 1-5' --time-zone Europe/Zurich"
        >
          A schedule submits a job at the times of a pattern, each time exactly one.
        </Empty>
      )}
      {data !== undefined && data.schedules.length > 0 && (
        <Table
          caption="Schedules by name"
          rows={data.schedules}
          rowKey={({ name }) => name}
          href={({ name }) => to.schedules(name)}
          columns={[
            {
              title: "Name",
              cell: ({ name, description, job_type }) => (
                <div className="schedule-name">
                  <Link href={to.schedules(name)}>{name}</Link>
                  <span className="muted small">
                    <Safe text={description ?? job_type} limit={120} />
                  </span>
                </div>
              ),
            },
            {
              title: "When",
              cell: ({ words, cron }) => (
                <div className="schedule-name">
                  <Safe text={words} />
                  <code className="muted small">{cron}</code>
                </div>
              ),
            },
            { title: "State", cell: (schedule) => <ScheduleState schedule={schedule} /> },
            {
              title: "Next times",
              cell: ({ fires, time_zone, paused_at }) => (
                <NextTimes
                  times={paused_at === null ? (fires ?? []) : []}
                  time_zone={time_zone}
                  is_paused={paused_at !== null}
                />
              ),
            },
            { title: "Last times", cell: ({ recent }) => <HistoryStrip ticks={recent ?? []} /> },
          ]}
        />
      )}
      <Turn page={data} onTurn={(cursor) => set({ cursor })} next="More" />
      {making && <ScheduleForm schedule={null} onClose={() => setMaking(false)} />}
    </Page>
  );
}

export function ScheduleState({ schedule }: { schedule: ScheduleRecord }) {
  if (schedule.paused_at !== null) return <StatusBadge status="paused" />;
  if (schedule.next_at === null) return <StatusBadge status="skipped" label="no further time" />;
  return schedule.last?.outcome === "failed" ? (
    <StatusBadge status="failed" label="last one failed" />
  ) : (
    <StatusBadge status="completed" label="active" />
  );
}
