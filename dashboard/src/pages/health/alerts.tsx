// What should not have happened and did, newest first, as it comes.
import { Link } from "wouter";
import { call, type Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { to } from "../../routes.js";
import { Card, CommandLine, FirstRead, Safe, ShapeIcon, Time } from "../../ui/index.js";
import { alertText } from "./health_words.js";
import { Older, useOlder } from "./paged.js";

type Alert = Reply<"alerts">["alerts"][number];
const PAGE = 15;

export function Alerts() {
  const { data, error } = useGet(
    "alerts",
    { limit: PAGE },
    { every_ms: 10_000, when: ({ kind }) => kind.startsWith("alert.") },
  );
  return (
    <Card title="Alerts">
      <p className="muted small">The same about the same thing is told once an hour.</p>
      <FirstRead data={data} error={error} title="The alerts could not be read" lines={3} />
      {data !== undefined && <List newest={data.alerts} next={data.next} />}
    </Card>
  );
}

function List({ newest, next }: { newest: readonly Alert[]; next: string | null }) {
  const older = useOlder<Alert>(newest, next, async (cursor) => {
    const page = await call("alerts", { limit: PAGE, cursor });
    return { rows: page.alerts, next: page.next };
  });
  if (older.rows.length === 0)
    return (
      <>
        <p className="row">
          <ShapeIcon status="ok" /> No alert, ever.
        </p>
        <CommandLine text="fanfold alerts --limit 100" />
      </>
    );
  return (
    <>
      <ol className="health-story" aria-label="Alerts">
        {older.rows.map(({ event_id, at, alert, reason, job_id }) => (
          <li key={event_id} data-alert={alert}>
            <span className="story-when">
              <Time at={at} />
            </span>
            <span>
              <strong>
                <Safe text={alertText(alert)} limit={100} />
              </strong>
              {reason !== null && (
                <>
                  : <Safe text={reason} limit={500} />
                </>
              )}{" "}
              {job_id !== null && <Link href={to.job(job_id)}>job {job_id.slice(0, 8)}</Link>}
            </span>
          </li>
        ))}
      </ol>
      <Older {...older} />
    </>
  );
}
