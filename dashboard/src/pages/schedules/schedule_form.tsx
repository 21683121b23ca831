// A schedule made or changed: its pattern is shown in words and times while it is typed.
import { useDeferredValue, useMemo, useState } from "react";
import { cronInWords } from "../../../../src/core/time/cron_words.js";
import { useGet } from "../../api/hooks.js";
import { FormDialog } from "../../form/form_dialog.js";
import { fromPlain, isRecord, type Value, withValueAt, wordOf } from "../../form/values.js";
import { ProblemNote, Safe } from "../../ui/index.js";
import { TimesTable } from "./next_times.js";
import { scheduleLine, scheduleSchema } from "./schedule_schema.js";
import type { ScheduleRecord } from "./schedules_page.js";

function startOf(schedule: ScheduleRecord | null): Value {
  if (schedule === null) return { time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone };
  const { cron, time_zone, job_type, missed, description, parameters, options } = schedule;
  const given = { cron, time_zone, job_type, missed, ...(description !== null && { description }), parameters };
  return fromPlain({ ...given, ...(Object.keys(options).length === 0 ? {} : { options }) });
}

export function ScheduleForm({ schedule, onClose }: { schedule: ScheduleRecord | null; onClose(): void }) {
  const [value, setValue] = useState<Value>(() => startOf(schedule));
  const { data } = useGet("blueprints.list");
  const given = isRecord(value) ? value : {};
  const job_type = typeof given.job_type === "string" ? given.job_type : null;
  const schema = useMemo(() => {
    const chosen = data?.blueprints.find(({ type }) => type === job_type);
    const types = data?.blueprints.map(({ type }) => type) ?? [];
    return scheduleSchema(types, chosen?.parameters ?? null, schedule === null);
  }, [data, job_type, schedule]);
  const name = schedule?.name ?? wordOf(given.name) ?? "";
  return (
    <FormDialog
      does="schedules.put"
      params={{ name }}
      body={(now) => withValueAt(now, ["name"], undefined)}
      // The server refuses to save over a change made meanwhile, and to make a schedule whose name is taken.
      besides={{ if_version: fromPlain(schedule?.version ?? 0) }}
      title={schedule === null ? "Make a schedule" : `Change ${schedule.name}`}
      wide
      schema={schema}
      start={value}
      onValue={setValue}
      verb={schedule === null ? "Make it" : "Change it"}
      beside={<Preview cron={given.cron} time_zone={given.time_zone} />}
      cli={(now) => scheduleLine(name, now)}
      onClose={onClose}
    />
  );
}

/** In words at once, in times as soon as the server has said. */
function Preview({ cron, time_zone }: { cron: Value; time_zone: Value }) {
  const pattern = typeof cron === "string" ? cron.trim() : "";
  const zone = typeof time_zone === "string" && time_zone !== "" ? time_zone : "UTC";
  const asked = useDeferredValue(pattern);
  const complete = asked.split(/\s+/).length >= 5;
  const { data, error } = useGet(
    "schedules.previewPattern",
    { cron: asked, time_zone: zone, count: 5 },
    { enabled: complete },
  );
  if (pattern === "") return null;
  return (
    <section className="note" aria-label="When it comes">
      <p>
        <strong>
          <Safe text={cronInWords(pattern, zone)} />
        </strong>
      </p>
      {complete && error !== null && <ProblemNote error={error} title="The pattern" />}
      {complete && error === null && data !== undefined && <TimesTable times={data.next} time_zone={zone} />}
    </section>
  );
}
