import type { WouldSubmit } from "../../../../src/core/api/jobs.js";
import { Count, durationText, JobLink, JsonOf, Safe, StatusBadge, Table, Time } from "../../ui/index.js";

export function DryRun({ told }: { told: WouldSubmit }) {
  const unknown = told.stages.filter(({ tasks }) => tasks === null).length;
  return (
    <div className="stack" data-dry-run={told.would}>
      <div className={`note ${told.would === "reuse" ? "warn" : "ok"}`} role="status">
        <WouldSentence told={told} />
      </div>
      {told.stages.length > 0 && (
        <>
          <Table
            caption="Stages that would run"
            rows={told.stages}
            rowKey={({ number }) => String(number)}
            columns={[
              {
                title: "Stage",
                cell: ({ number, name }) => (
                  <>
                    {number}. <Safe text={name} />
                  </>
                ),
              },
              {
                title: "Tasks",
                align: "right",
                cell: ({ tasks }) => (tasks === null ? <span className="muted">?</span> : <Count n={tasks} />),
              },
              {
                title: "Notes",
                cell: (stage) => <Safe text={notesOf(stage).join(" · ")} />,
              },
            ]}
          />
          <p className="muted small">
            <Count n={told.tasks} /> tasks for certain
            {unknown > 0 && `; ${unknown} ${unknown === 1 ? "stage tells" : "stages tell"} how many only when it opens`}
            .
            {told.deadline_s === null
              ? " No deadline."
              : ` Deadline ${durationText(told.deadline_s * 1000)} from the ${told.deadline_from === "start" ? "start of work" : "submit"}.`}
          </p>
        </>
      )}
      <details>
        <summary>Parameters as they would be kept</summary>
        <JsonOf value={told.parameters} name="parameters" />
      </details>
      <p className="muted small">Nothing was written.</p>
    </div>
  );
}

function notesOf({ why, gate, conditional, served, task }: WouldSubmit["stages"][number]): string[] {
  return [
    why,
    gate === null ? null : `asks first: ${gate}`,
    conditional ? "only if its condition is met" : null,
    served ? null : `no live worker serves ${task}`,
  ].filter((note): note is string => note !== null);
}

function WouldSentence({ told }: { told: WouldSubmit }) {
  const { would, job_id, run, exists, resume, waits_for } = told;
  if (would === "create") {
    return (
      <p>
        <strong>It would be submitted</strong>
        {run === 1 ? " as a new job" : ` as run ${run} of the same content`} (<code>{job_id.slice(0, 12)}</code>).
        {waits_for > 0 && ` It would wait for ${waits_for} ${waits_for === 1 ? "job" : "jobs"} to end well.`}
        {exists !== null && (
          <>
            {" "}
            The run before is <JobLink id={exists.job_id} />: <StatusBadge status={exists.status} />.
          </>
        )}
      </p>
    );
  }
  return (
    <p>
      <strong>{would === "resume" ? "It would go on" : "It exists already"}</strong>: <JobLink id={job_id} />{" "}
      {exists !== null && <StatusBadge status={exists.status} />}
      {exists !== null && (
        <>
          , submitted <Time at={exists.created_at} />
        </>
      )}
      .
      {resume !== null && (
        <>
          {" "}
          From stage {resume.from_stage}: <Count n={resume.again} /> tasks again, <Count n={resume.kept} /> kept.
        </>
      )}
      {would === "reuse" && " Submitting gives this job and starts nothing. Mode resume or force does more."}
    </p>
  );
}
