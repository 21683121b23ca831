// The janitor: when it last did all its duties, and what it did about this tenant's work.
import { Link } from "wouter";
import { call } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { to } from "../../routes.js";
import { Card, FirstRead, Safe, ShapeIcon, Time } from "../../ui/index.js";
import { type Action, actionText, type Janitor } from "./health_words.js";
import { Older, useOlder } from "./paged.js";

const PAGE = 15;

export function JanitorCard() {
  const { data, error } = useGet(
    "vitals.janitor",
    { limit: PAGE },
    { every_ms: 3_000, when: ({ kind }) => kind.startsWith("janitor.") },
  );
  return (
    <Card title="Janitor">
      <p className="muted small">
        Every worker and every server looks after dead workers, deadlines and stuck states, every few seconds.
      </p>
      <FirstRead data={data} error={error} title="The janitor's story could not be read" lines={3} />
      {data !== undefined && (
        <>
          <State janitor={data} />
          <Actions janitor={data} />
        </>
      )}
    </Card>
  );
}

function State({ janitor: { last_run_at, last_success_at, last_error, failing, late } }: { janitor: Janitor }) {
  return (
    <p className="row" data-told="janitor">
      <ShapeIcon status={late ? "fail" : failing ? "warn" : "ok"} />
      {last_success_at === null ? (
        <span>It has never done all its duties.</span>
      ) : (
        <span>
          Did all its duties <Time at={last_success_at} />
          {late && <strong>, which is too long ago</strong>}
          {last_run_at !== null && Date.parse(last_run_at) > Date.parse(last_success_at) + 5_000 && (
            <>
              ; last began <Time at={last_run_at} />
            </>
          )}
          .
        </span>
      )}
      {failing && (
        <span className="note warn">
          Its last round failed
          {last_error === null ? (
            "; an operator's key sees why."
          ) : (
            <>
              : <Safe text={last_error} limit={500} />
            </>
          )}
        </span>
      )}
    </p>
  );
}

function Actions({ janitor }: { janitor: Janitor }) {
  const older = useOlder<Action>(janitor.actions, janitor.next, async (cursor) => {
    const page = await call("vitals.janitor", { limit: PAGE, cursor });
    return { rows: page.actions, next: page.next };
  });
  if (older.rows.length === 0) return <p className="muted">It has had nothing to do for this tenant.</p>;
  return (
    <>
      <ol className="health-story" aria-label="What the janitor did">
        {older.rows.map((action) => (
          <li key={action.event_id}>
            <span className="story-when">
              <Time at={action.at} />
            </span>
            <span>
              <Safe text={actionText(action)} limit={300} />
              {action.reason !== null && (
                <span className="muted">
                  : <Safe text={action.reason} limit={300} />
                </span>
              )}{" "}
              {action.job_id !== null && <Link href={to.job(action.job_id)}>job {action.job_id.slice(0, 8)}</Link>}
            </span>
          </li>
        ))}
      </ol>
      <Older {...older} />
    </>
  );
}
