// What a dry run told: which recipe, which jobs, which names, and what is wrong.
import { Link } from "wouter";
import type { WouldRequest } from "../../../../src/core/api/platform/requests.js";
import { to } from "../../routes.js";
import { JsonOf, Safe, StatusBadge, Table, Time } from "../../ui/index.js";

export function Would({ told }: { told: WouldRequest }) {
  const { would, problems, jobs, names, parameters, data_type } = told;
  const wrong = problems.length > 0 || would === "refuse";
  return (
    <div className="stack" data-would={would}>
      <div className={`note ${wrong ? "warn" : "ok"}`} role="status">
        <Sentence told={told} />
        {problems.length > 0 && (
          <ul>
            {problems.map(({ path, problem, fix }) => (
              <li key={`${path} ${problem}`}>
                <code>
                  <Safe text={path} limit={120} />
                </code>
                : <Safe text={problem} limit={300} /> {fix !== "" && <Safe text={`(${fix})`} limit={300} />}
              </li>
            ))}
          </ul>
        )}
      </div>
      <p>
        By the recipe <strong>{data_type}</strong>, {jobs.length === 1 ? "in 1 job" : `in ${jobs.length} jobs`}:
      </p>
      <Table
        caption="Jobs that it would be"
        rows={jobs}
        rowKey={({ name }) => name}
        columns={[
          { title: "", cell: ({ sequence }) => <span className="muted">{sequence}</span> },
          { title: "Job", cell: ({ name }) => <Safe text={name} /> },
          { title: "Type", cell: ({ job_type }) => <Safe text={job_type} /> },
          {
            title: "Notes",
            cell: ({ gate, conditional, importance }) => (
              <Safe
                text={[
                  gate === null ? "" : `may ask first: ${gate}`,
                  conditional ? "only if its condition is met" : "",
                  importance === "critical" ? "" : importance,
                ]
                  .filter((note) => note !== "")
                  .join(" · ")}
                limit={300}
              />
            ),
          },
        ]}
      />
      <dl className="job-facts">
        {Object.entries(names).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Safe text={String(value)} limit={120} />
            </dd>
          </div>
        ))}
      </dl>
      <details>
        <summary>Parameters as they would be kept</summary>
        <JsonOf value={parameters} name="parameters" />
      </details>
      <p className="muted small">Nothing was written.</p>
    </div>
  );
}

function Sentence({ told: { would, exists, run, request_id } }: { told: WouldRequest }) {
  const there = exists !== null && (
    <>
      <Link href={to.request(exists.request_id)}>{exists.request_id.slice(0, 12)}</Link>{" "}
      <StatusBadge status={exists.status} />, asked for <Time at={exists.created_at} />
    </>
  );
  switch (would) {
    case "create":
      return (
        <p>
          <strong>It would be asked for</strong>
          {run > 1 ? `, as run ${run}` : ""} (<code>{request_id.slice(0, 12)}</code>).
          {there !== false && <> The run before is {there}.</>}
        </p>
      );
    case "resume":
      return (
        <p>
          <strong>It would go on</strong>: {there}.
        </p>
      );
    case "reuse":
      return (
        <p>
          <strong>It exists already</strong>: {there}. Asking gives this request and starts nothing.
        </p>
      );
    default:
      return (
        <p>
          <strong>It would be refused</strong>: {there}, and was asked for with other files or parameters. Choose to
          process it again, or name another version.
        </p>
      );
  }
}
