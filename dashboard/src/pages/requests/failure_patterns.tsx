// What goes wrong with requests lately, as patterns and not as a list: shown when something does.
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { verbCommands } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { to } from "../../routes.js";
import { CliAndCurl, Safe, ShapeIcon, Table, Time } from "../../ui/index.js";

const HOURS = 24;
const AGAIN_MS = 30_000;

export function FailurePatterns() {
  const { data } = useGet(
    "requests.failures",
    { hours: HOURS, limit: 10 },
    { when: ({ kind }) => /^request\.(failed|partial_success|resumed)$/.test(kind), every_ms: AGAIN_MS },
  );
  if (data === undefined || data.patterns.length === 0) return null;
  const { cli, curl } = verbCommands(pageBase(), "requests.failures", { hours: HOURS });
  return (
    <details className="card request-failures">
      <summary>
        <ShapeIcon status="failed" /> {count(data.failed + data.partial_success)} of {count(data.total)} requests of the
        last {HOURS} hours went wrong, in {data.patterns.length === 1 ? "one way" : `${data.patterns.length} ways`}
      </summary>
      <Table
        caption="What went wrong"
        rows={data.patterns}
        rowKey={({ data_type, job, pattern }) => `${data_type} ${job} ${pattern}`}
        columns={[
          { title: "Requests", align: "right", cell: ({ requests }) => count(requests) },
          { title: "Data type", cell: ({ data_type }) => <Safe text={data_type} /> },
          { title: "Job", cell: ({ job }) => <Safe text={job} limit={60} /> },
          { title: "What", cell: ({ pattern }) => <Safe text={pattern} limit={300} /> },
          { title: "Last", align: "right", cell: ({ last_at }) => <Time at={last_at} /> },
          {
            title: "Newest",
            cell: ({ latest: { request_id } }) =>
              typeof request_id === "string" && (
                <Link href={to.request(request_id)} className="mono">
                  {request_id.slice(0, 8)}
                </Link>
              ),
          },
        ]}
      />
      <CliAndCurl cli={cli} curl={curl} />
    </details>
  );
}
