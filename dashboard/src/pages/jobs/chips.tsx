// Statuses with how many jobs are in each, of those that the rest of the filter lets through. A click adds or takes away.

import type { JobCondition, JobTerms, job_conditions } from "../../../../src/core/shown/job_filter.js";
import { type JobStatus, job_statuses } from "../../../../src/core/shown/statuses.js";
import type { Reply } from "../../api/call.js";
import { lookOf } from "../../status.js";
import { ShapeIcon } from "../../ui/index.js";

type Counts = Reply<"jobs.counts">;

const conditions: Record<JobCondition, { label: string; status: string; title: string }> = {
  retrying: { label: "retrying", status: "retrying", title: "Under way, and something is tried again" },
  paused: { label: "paused", status: "paused", title: "Nothing of it is started until it is continued" },
  waiting: { label: "waits for jobs", status: "waiting", title: "Waits for other jobs to end" },
  approval: { label: "needs approval", status: "waiting_approval", title: "A stage waits for a person" },
};

interface ChipsProps {
  terms: JobTerms;
  counts: Counts | undefined;
  onChange(terms: JobTerms): void;
}

export function Chips({ terms, counts, onChange }: ChipsProps) {
  const toggled = <One,>(list: readonly One[], one: One) =>
    list.includes(one) ? list.filter((other) => other !== one) : [...list, one];
  return (
    <div className="chips">
      <fieldset className="chip-group">
        <legend className="sr-only">Status</legend>
        {job_statuses.map((status) => (
          <Chip
            key={status}
            status={status}
            label={lookOf(status).label}
            pressed={terms.statuses.includes(status)}
            count={counts === undefined ? "…" : countText(counts, status)}
            title={counts?.at_least.includes(status) ? "At least so many: counting all would take too long" : undefined}
            onClick={() => onChange({ ...terms, statuses: toggled(terms.statuses, status) })}
          />
        ))}
      </fieldset>
      <fieldset className="chip-group">
        <legend className="sr-only">Also</legend>
        {(
          ["retrying", "approval", "paused", "waiting"] as const satisfies readonly (typeof job_conditions)[number][]
        ).map((one) => (
          <Chip
            key={one}
            status={conditions[one].status}
            label={conditions[one].label}
            pressed={terms.conditions.includes(one)}
            title={conditions[one].title}
            onClick={() => onChange({ ...terms, conditions: toggled(terms.conditions, one) })}
          />
        ))}
      </fieldset>
    </div>
  );
}

function countText({ counts, at_least }: Counts, status: JobStatus): string {
  return `${counts[status].toLocaleString("en-US")}${at_least.includes(status) ? "+" : ""}`;
}

interface ChipProps {
  status: string;
  label: string;
  pressed: boolean;
  count?: string;
  title?: string | undefined;
  onClick(): void;
}

function Chip({ status, label, pressed, count, title, onClick }: ChipProps) {
  return (
    <button
      type="button"
      className="status-chip"
      data-status={status}
      aria-pressed={pressed}
      title={title}
      onClick={onClick}
    >
      <ShapeIcon status={status} />
      {label}
      {count !== undefined && <span className="chip-count number">{count}</span>}
    </button>
  );
}
