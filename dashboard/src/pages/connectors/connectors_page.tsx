// What tasks call outside: hosts whose circuit is open or that asked to be left alone, and the configurations of connectors.

import { count } from "../../../../src/core/shown/figures.js";
import type { Reply } from "../../api/call.js";
import { verbCommands } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import {
  CliAndCurl,
  Duration,
  Empty,
  FirstRead,
  JsonOf,
  Page,
  Safe,
  StatusBadge,
  Table,
  Time,
  useNow,
} from "../../ui/index.js";
import { circuitOf, type Host, limitWords } from "./circuit.js";
import "./connectors.css";

const AGAIN_MS = 5_000;

export function ConnectorsPage() {
  return (
    <Page title="Connectors">
      <Hosts />
      <Configurations />
    </Page>
  );
}

function Hosts() {
  const { data, error } = useGet("connectors.hosts", {}, { every_ms: AGAIN_MS });
  const commands = verbCommands(pageBase(), "connectors.hosts", {});
  return (
    <section className="stack" aria-label="Hosts">
      <h2>Hosts that were called lately</h2>
      <FirstRead data={data} error={error} title="The hosts cannot be read" lines={3} />
      {data !== undefined && data.hosts.length === 0 && (
        <p className="muted">No task has called anything lately. Hosts appear here with their first call.</p>
      )}
      {data !== undefined && data.hosts.length > 0 && (
        <Table<Host>
          caption="Hosts, the troubled first"
          rows={data.hosts}
          rowKey={({ scope }) => scope}
          columns={[
            {
              title: "Host",
              cell: ({ scope }) => (
                <strong>
                  <Safe text={scope} limit={200} />
                </strong>
              ),
            },
            { title: "State", cell: (host) => <State host={host} /> },
            { title: "Under way", align: "right", cell: ({ calls }) => count(calls) },
            {
              title: "Answered",
              align: "right",
              cell: ({ ok_count, failed_count }) => (
                <span>
                  {count(ok_count)}
                  {failed_count > 0 && <span className="host-failed"> · {count(failed_count)} failed</span>}
                </span>
              ),
            },
            { title: "Takes", align: "right", cell: ({ mean_s }) => <Duration ms={mean_s * 1000} /> },
            { title: "Last call", align: "right", cell: ({ used_at }) => <Time at={used_at} /> },
          ]}
        />
      )}
      <CliAndCurl cli={commands.cli} curl={commands.curl} />
    </section>
  );
}

function State({ host }: { host: Host }) {
  const { status, word, about, until } = circuitOf(host, useNow());
  return (
    <div>
      <StatusBadge status={status} label={word} />
      {until !== null && (
        <span className="muted small">
          {" "}
          · again <Time at={until} />
        </span>
      )}
      {about !== "" && <div className="muted small">{about}</div>}
    </div>
  );
}

type Configuration = Reply<"connectors.list">["connectors"][number];

function Configurations() {
  const { data, error } = useGet(
    "connectors.list",
    {},
    { when: ({ kind }) => kind.startsWith("connector."), every_ms: 60_000 },
  );
  return (
    <section className="stack" aria-label="Configurations">
      <h2>Configurations</h2>
      <FirstRead data={data} error={error} title="The configurations cannot be read" lines={3} />
      {data !== undefined && data.connectors.length === 0 && (
        <Empty
          title="No connector is configured"
          command="fanfold connectors set http.request crm base_url=https://crm.example.com limits.rate_per_s=10"
        >
          A configuration names an address, the secrets it needs and its limits, once for all tasks that use it.
        </Empty>
      )}
      {data !== undefined && data.connectors.length > 0 && (
        <Table<Configuration>
          caption="Configurations of connectors"
          rows={data.connectors}
          rowKey={({ connector, name }) => `${connector}/${name}`}
          columns={[
            {
              title: "Name",
              cell: ({ connector, name }) => (
                <div>
                  <strong>{name}</strong>
                  <div className="muted small mono">{connector}</div>
                </div>
              ),
            },
            {
              title: "Limits",
              cell: ({ config }) => {
                const words = limitWords(config);
                return words.length === 0 ? <span className="muted">none of its own</span> : words.join(", ");
              },
            },
            {
              title: "Configured as",
              cell: ({ config, connector, name }) => (
                <details className="connector-config">
                  <summary>
                    {Object.keys(config).length === 1 ? "1 setting" : `${Object.keys(config).length} settings`}
                  </summary>
                  <JsonOf value={config} name={`${connector}-${name}`} />
                </details>
              ),
            },
            {
              title: "Set",
              align: "right",
              cell: ({ updated_at, updated_by }) => (
                <span title={updated_by}>
                  <Time at={updated_at} />
                </span>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}
