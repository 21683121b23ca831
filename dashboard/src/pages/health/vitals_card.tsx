import { bytes } from "../../../../src/core/shown/figures.js";
import { useGet } from "../../api/hooks.js";
import { Card, Count, Duration, FirstRead, Safe, ShapeIcon, Sparkline, StackedBar } from "../../ui/index.js";
import { type Sign, signsOf, type Vitals } from "./vital_signs.js";

export function VitalsCard() {
  const { data, error } = useGet("vitals.read", { minutes: 60 }, { every_ms: 5_000 });
  return (
    <>
      <Card title="Database">
        <FirstRead data={data} error={error} title="The database could not be measured" lines={5} />
        {data !== undefined && (
          <>
            <ul className="signs" aria-label="Figures of the database">
              {signsOf(data).map((sign) => (
                <SignTile key={sign.id} sign={sign} />
              ))}
            </ul>
            {data.database?.stats_visible === false && (
              <p className="muted small">
                Sessions of other roles are not seen, so old transactions of theirs are missing here: grant
                pg_read_all_stats to fanfold_owner.
              </p>
            )}
            <DeadRows vitals={data} />
          </>
        )}
      </Card>
      {data !== undefined && (
        <div className="health-columns">
          <ThisServer vitals={data} />
          <Tenants vitals={data} />
        </div>
      )}
    </>
  );
}

function SignTile({ sign: { id, title, value, level, means, fix, history } }: { sign: Sign }) {
  return (
    <li className="sign" data-level={level} data-sign={id}>
      <h3 className="row">
        <ShapeIcon status={level} size={12} />
        {title}
      </h3>
      <strong className="sign-value">{value}</strong>
      <Sparkline
        values={history}
        height={24}
        colour={level === "ok" ? "--accent" : "--st-retrying"}
        label={
          history.length < 2
            ? `${title}: no history yet`
            : `${title} over the last ${history.length} minutes: at least ${figure(Math.min(...history))}, at most ${figure(Math.max(...history))}`
        }
      />
      <p className="muted small">{means}</p>
      {fix !== undefined && <p className="small sign-fix">{fix}</p>}
    </li>
  );
}

function figure(n: number): string {
  return (Math.round(n * 10) / 10).toLocaleString("en-US");
}

function DeadRows({ vitals: { database } }: { vitals: Vitals }) {
  if (database === null) return null;
  const tables = [...database.tables].sort((a, b) => b.dead - a.dead || b.live - a.live).slice(0, 10);
  return (
    <details className="dead-rows">
      <summary className="muted">Tables with most rows to vacuum</summary>
      <section className="table-box" aria-label="Tables with most rows to vacuum">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Table</th>
              <th scope="col" data-align="right">
                To vacuum
              </th>
              <th scope="col" data-align="right">
                Rows (estimated)
              </th>
            </tr>
          </thead>
          <tbody>
            {tables.map(({ table, dead, live }) => (
              <tr key={table}>
                <td className="mono" data-title="Table">
                  app.{table}
                </td>
                <td data-align="right" data-title="To vacuum">
                  <Count n={dead} />
                </td>
                <td data-align="right" data-title="Rows">
                  <Count n={live} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}

interface ThisServerProps {
  vitals: Vitals;
}

function ThisServer({ vitals: { version, node, uptime_s, rss_bytes, pool, schema, jobs, workers } }: ThisServerProps) {
  const facts: [string, React.ReactNode][] = [
    ["Version", `Fanfold ${version}, Node ${node}`],
    ["Up for", <Duration key="up" ms={uptime_s * 1000} />],
    ["Memory", bytes(rss_bytes)],
    [
      "Connections",
      pool === null
        ? "one session, the embedded database's"
        : `${pool.busy} busy, ${pool.open} open, of ${pool.most}${pool.waiting > 0 ? `; ${pool.waiting} wait for one` : ""}`,
    ],
    [
      "Schema",
      schema.pending.length === 0
        ? `${schema.database_version ?? "none"}, current`
        : `${schema.database_version ?? "none"}; ${schema.pending.length} changes wait for fanfold migrate`,
    ],
    [
      "Open jobs",
      `${jobs.processing.toLocaleString("en-US")} running, ${jobs.queued.toLocaleString("en-US")} queued, ${jobs.paused.toLocaleString("en-US")} paused`,
    ],
    [
      "Slots",
      `${workers.busy.toLocaleString("en-US")} of ${workers.slots.toLocaleString("en-US")} at work, on ${workers.live} ${workers.live === 1 ? "worker" : "workers"}`,
    ],
  ];
  return (
    <Card title="This server">
      <dl className="vital-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Tenants({ vitals: { tenants } }: { vitals: Vitals }) {
  const sorted = [...tenants].sort((a, b) => b.running + b.due - a.running - a.due);
  const most = Math.max(1, ...sorted.map(({ due, later, running }) => due + later + running));
  return (
    <Card title="Shares of tenants">
      {sorted.length === 0 && <p className="muted">No tenant has anything that waits or runs.</p>}
      <ul className="stack bare-list shares">
        {sorted.map(({ tenant_id, due, later, running }) => (
          <li key={tenant_id}>
            <span className="share-name">
              <Safe text={tenant_id === "_other" ? "all others" : tenant_id} />
            </span>
            <span className="share-bar" style={{ width: `${Math.max(4, ((due + later + running) / most) * 100)}%` }}>
              <StackedBar
                label={tenant_id}
                total={null}
                parts={[
                  { status: "processing", n: running },
                  { status: "queued", n: due },
                  { status: "later", n: later },
                ]}
              />
            </span>
            <span className="small muted">
              {running.toLocaleString("en-US")} running, {due.toLocaleString("en-US")} due
              {later > 0 && `, ${later.toLocaleString("en-US")} later`}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
