// How the service is: what is wrong first, then the database in figures, the janitor and its actions, alerts, and what of the limits is used.

import { asCommand } from "../../../../src/core/shown/action.js";
import { useGet } from "../../api/hooks.js";
import { useSession } from "../../api/session.js";
import { Card, CommandLine, FirstRead, Page, ShapeIcon } from "../../ui/index.js";
import { Alerts } from "./alerts.js";
import { Checks } from "./checks.js";
import { type Health, troubles } from "./health_words.js";
import { JanitorCard } from "./janitor_card.js";
import { LimitsUsed } from "./limits_used.js";
import { VitalsCard } from "./vitals_card.js";
import "./health.css";

export function HealthPage() {
  const { operator } = useSession();
  const { data, error } = useGet("health.health", {}, { every_ms: 3_000 });
  return (
    <Page title="Health">
      <FirstRead data={data} error={error} title="The server does not say how it is" lines={3} />
      {data !== undefined && <HealthSentence health={data} />}
      {operator ? (
        <>
          <VitalsCard />
          <Checks />
        </>
      ) : (
        <Card title="Database, checks and the shares of tenants">
          <p className="muted">
            These tell of the whole service, so they are for its operators: sign in with an operator's key.
          </p>
          <CommandLine text="fanfold keys create dashboard --scope read,operate,admin --operator" />
        </Card>
      )}
      <div className="health-columns">
        <JanitorCard />
        <Alerts />
      </div>
      <LimitsUsed />
    </Page>
  );
}

function HealthSentence({ health }: { health: Health }) {
  const found = troubles(health);
  const { version, janitor, workers, schema } = health;
  return (
    <section
      className={found.length === 0 ? "note ok health-verdict" : "note danger health-verdict"}
      aria-labelledby="verdict"
      data-told="verdict"
    >
      <h2 id="verdict" className="row">
        <ShapeIcon status={found.length === 0 ? "ok" : "fail"} size={18} />
        {found.length === 0 ? "Everything is as it should be" : "Not everything is as it should be"}
      </h2>
      {found.length > 0 && (
        <ul>
          {found.map(({ what, fix }) => (
            <li key={what}>
              {what}{" "}
              {typeof fix === "string" ? (
                fix
              ) : (
                <>
                  Run <code>{asCommand(fix)}</code>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      <p className="muted small">
        Fanfold {version} ·{" "}
        {schema.current === null ? "schema not known" : schema.current ? "schema current" : "schema not current"} ·{" "}
        {workers.live === null
          ? "workers not known"
          : `${workers.live.toLocaleString("en-US")} live ${workers.live === 1 ? "worker" : "workers"}`}{" "}
        ·{" "}
        {janitor.late === null
          ? "the janitor is not known of"
          : janitor.age_s === null
            ? "the janitor has never run"
            : `the janitor ran ${janitor.age_s} s ago`}
      </p>
    </section>
  );
}
