import { useGet } from "../../api/hooks.js";
import { type Column, CommandLine, Empty, FirstRead, Page, Safe, StatusBadge, Table, Time } from "../../ui/index.js";
import { WorkerCard } from "./worker_card.js";
import { farewell, type GoneWorker, inOrder, nameOf, summary, versionsOf } from "./worker_words.js";
import "./workers.css";

export function WorkersPage() {
  const { data, error } = useGet("workers", {}, { every_ms: 2_000, when: ({ kind }) => kind.startsWith("janitor.") });
  return (
    <Page title="Workers">
      <FirstRead data={data} error={error} title="The workers could not be read" lines={6} />
      {data !== undefined && (
        <>
          {data.workers.length === 0 ? (
            <NoWorker />
          ) : (
            <>
              <p className="muted" data-told="summary">
                {summary(data.workers)}
              </p>
              <Versions versions={versionsOf(data.workers)} />
              <ul className="worker-grid" aria-label="Workers">
                {inOrder(data.workers).map((worker) => (
                  <li key={worker.worker_id}>
                    <WorkerCard worker={worker} skewed={versionsOf(data.workers).length > 1} />
                  </li>
                ))}
              </ul>
              <details>
                <summary className="muted">Start another worker</summary>
                <HowToStart />
              </details>
            </>
          )}
          <Gone gone={data.gone} />
        </>
      )}
    </Page>
  );
}

function NoWorker() {
  return (
    <Empty title="No worker is there">
      <p>What is submitted waits until one is. A worker takes tasks of every type it has a handler for.</p>
      <HowToStart />
    </Empty>
  );
}

function HowToStart() {
  return (
    <div className="stack how-to-start">
      <p className="muted">Where the handlers are, with DATABASE_URL set to the same database:</p>
      <CommandLine text="fanfold up --no-http --slots 8" />
    </div>
  );
}

function Versions({ versions }: { versions: { version: string; workers: number }[] }) {
  if (versions.length < 2) return null;
  return (
    <div className="note warn" role="note">
      <strong>Workers run different versions: </strong>
      {versions.map(({ version, workers }, at) => (
        <span key={version}>
          {at > 0 && ", "}
          <Safe text={version} /> ({workers})
        </span>
      ))}
      . While an update is rolled out that is as it should be; otherwise stop the older ones: what they run may finish.
    </div>
  );
}

const columns: Column<GoneWorker>[] = [
  {
    title: "Worker",
    cell: (one) => <Safe text={nameOf(one)} />,
  },
  {
    title: "What happened",
    cell: (one) => (
      <span className="row">
        <StatusBadge status={one.status} />
        <span>
          {farewell(one)} (<Time at={one.ended_at} />)
        </span>
      </span>
    ),
  },
  { title: "Started", cell: (one) => <Time at={one.started_at} />, minor: true },
  { title: "Version", cell: (one) => <Safe text={one.version ?? "–"} />, minor: true },
];

function Gone({ gone }: { gone: readonly GoneWorker[] }) {
  if (gone.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="gone">
      <h2 id="gone">Gone within the hour</h2>
      <Table caption="Workers that have gone" columns={columns} rows={gone} rowKey={({ worker_id }) => worker_id} />
    </section>
  );
}
