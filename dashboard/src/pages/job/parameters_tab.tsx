// What a job was given, and submitting it again with changes.

import type { ReactNode } from "react";
import { Link } from "wouter";
import { standingDeadline } from "../../../../src/core/declare/deadline.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { submitLines } from "../../form/form_lines.js";
import { fromPlain } from "../../form/values.js";
import { to } from "../../routes.js";
import { Card, CliAndCurl, JsonOf, Safe, Time } from "../../ui/index.js";
import type { Job } from "./records.js";

export function ParametersTab({ job }: { job: Job }) {
  const forbidden = useForbidden("submit");
  const { job_type, parameters, priority, labels } = job;
  const commands = submitLines(
    pageBase(),
    job_type,
    fromPlain(parameters),
    fromPlain({ priority: priority || undefined, labels }),
  );
  return (
    <div className="stack">
      <Card
        title="Parameters"
        actions={
          forbidden === null ? (
            <Link className="button primary" href={to.submit(job_type, { job: job.job_id })}>
              Submit again with these
            </Link>
          ) : (
            <span className="button" aria-disabled="true" title={forbidden}>
              Submit again with these
            </span>
          )
        }
      >
        {Object.keys(parameters).length === 0 ? (
          <p className="muted">It was submitted without parameters.</p>
        ) : (
          <JsonOf value={parameters} name={`parameters-${job.job_id.slice(0, 12)}`} open={3} />
        )}
        <p className="muted small">
          The same type and parameters are the same job: submitting them unchanged gives this one, unless a new run is
          forced.
        </p>
        <CliAndCurl cli={commands.cli} curl={commands.curl} />
      </Card>
      <Card title="Submitted with">
        <dl className="job-facts">
          <Row name="Type">{job_type}</Row>
          <Row name="Id">
            <code>{job.job_id}</code>
          </Row>
          <Row name="Run">{job.run}</Row>
          <Row name="Priority">{priority}</Row>
          {job.finished_at === null && (
            <Row name="Deadline">
              {job.deadline_at === null ? (standingDeadline(job) ?? "none") : <Time at={job.deadline_at} />}
            </Row>
          )}
          <Row name="Labels">
            {Object.keys(labels).length === 0 ? (
              "none"
            ) : (
              <Safe
                text={Object.entries(labels)
                  .map(([key, value]) => `${key}=${value}`)
                  .join(", ")}
              />
            )}
          </Row>
          <Row name="Group">{job.group_id === null ? "none" : <Safe text={job.group_id} />}</Row>
          <Row name="Correlation id">{job.correlation_id === null ? "none" : <Safe text={job.correlation_id} />}</Row>
        </dl>
      </Card>
    </div>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
