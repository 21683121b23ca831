// Webhook endpoints and what was delivered to them.

import { useState } from "react";
import { Link, useParams } from "wouter";
import type { Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { useForbidden } from "../../api/session.js";
import { to } from "../../routes.js";
import { Button, Card, Empty, Page, ProblemNote, Safe, Skeleton, StatusBadge, Table, Time } from "../../ui/index.js";
import { Deliveries } from "./deliveries.js";
import { EndpointDialog, type EndpointDoing } from "./endpoint_verbs.js";
import { WebhookForm } from "./webhook_form.js";
import "./webhooks.css";

export type Endpoint = Reply<"webhooks.get">;

export function WebhooksPage() {
  const { endpoint_id } = useParams<{ endpoint_id?: string }>();
  if (endpoint_id !== undefined) return <EndpointPage key={endpoint_id} endpoint_id={endpoint_id} />;
  return <Endpoints />;
}

function Endpoints() {
  const forbidden = useForbidden("admin");
  const [making, setMaking] = useState(false);
  const { data, error } = useGet(
    "webhooks.list",
    {},
    { when: ({ kind }) => kind.startsWith("webhook."), every_ms: 15_000, enabled: forbidden === null },
  );
  return (
    <Page
      title="Webhooks"
      actions={
        <Button kind="primary" forbidden={forbidden} onClick={() => setMaking(true)}>
          Make an endpoint
        </Button>
      }
    >
      <Card title="Endpoints">
        {forbidden !== null && (
          <p className="muted">{forbidden} Endpoints are shown to administrators; deliveries are below.</p>
        )}
        <ProblemNote error={error} title="The endpoints cannot be read" />
        {forbidden === null && data === undefined && error === null && <Skeleton />}
        {data !== undefined && data.endpoints.length === 0 && (
          <Empty title="No endpoints yet" command="fanfold webhooks create https://example.com/hooks">
            An endpoint is told when jobs end, signed as Standard Webhooks says.
          </Empty>
        )}
        {data !== undefined && data.endpoints.length > 0 && (
          <Table
            caption="Webhook endpoints"
            rows={data.endpoints}
            rowKey={({ endpoint_id }) => endpoint_id}
            href={({ endpoint_id }) => to.webhooks(endpoint_id)}
            columns={[
              {
                title: "Address",
                cell: ({ endpoint_id, url, description }) => (
                  <div className="endpoint-url">
                    <Link href={to.webhooks(endpoint_id)}>
                      <Safe text={url} limit={200} />
                    </Link>
                    <span className="muted small">
                      <Safe text={description ?? endpoint_id} limit={200} />
                    </span>
                  </div>
                ),
              },
              { title: "Hears of", cell: ({ events }) => <Heard events={events} /> },
              { title: "State", cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
              {
                title: "Made",
                minor: true,
                cell: ({ created_at }) => <Time at={created_at} />,
              },
            ]}
          />
        )}
      </Card>
      <Card title="Deliveries">
        <Deliveries endpoint_id={null} />
      </Card>
      {making && <WebhookForm endpoint={null} onClose={() => setMaking(false)} />}
    </Page>
  );
}

function Heard({ events }: { events: readonly string[] }) {
  if (events.length === 0) return <span className="muted">what jobs name it for</span>;
  if (events.length === 4 && events.every((event) => event.startsWith("job."))) return <span>every end of a job</span>;
  return <span>{events.map((event) => event.replace(/^job\./, "")).join(", ")}</span>;
}

/** Enabled, failing, kept waiting by the circuit, or off, and since when. */
export function EndpointState({ endpoint }: { endpoint: Endpoint }) {
  const { status, failing_since, failure_streak, paused_until, disabled_at, disabled_reason } = endpoint;
  if (status === "disabled") {
    return (
      <div>
        <StatusBadge status="cancelled" label="disabled" />
        <div className="muted small">
          <Time at={disabled_at} />
          {disabled_reason !== null && (
            <>
              : <Safe text={disabled_reason} limit={160} />
            </>
          )}
        </div>
      </div>
    );
  }
  if (status === "paused") {
    return (
      <div>
        <StatusBadge status="paused" label="circuit open" />
        <div className="muted small">
          tried again <Time at={paused_until} />, it first failed <Time at={failing_since} />
        </div>
      </div>
    );
  }
  if (failing_since !== null) {
    return (
      <div>
        <StatusBadge status="retrying" label="failing" />
        <div className="muted small">
          {failure_streak} in a row, the first <Time at={failing_since} />
        </div>
      </div>
    );
  }
  return <StatusBadge status="completed" label="enabled" />;
}

function EndpointPage({ endpoint_id }: { endpoint_id: string }) {
  const admin = useForbidden("admin");
  const operate = useForbidden("operate");
  const [doing, setDoing] = useState<EndpointDoing | null>(null);
  const { data: endpoint, error } = useGet(
    "webhooks.get",
    { endpoint_id },
    {
      // Not that it is gone: there would be nothing to read.
      when: ({ kind }) => kind.startsWith("webhook.") && kind !== "webhook.deleted",
      every_ms: 15_000,
      enabled: admin === null,
    },
  );
  const off = endpoint?.status === "disabled";
  const button = (text: string, verb: EndpointDoing, forbidden: string | null, danger = false) => (
    <Button forbidden={forbidden} kind={danger ? "danger" : "plain"} onClick={() => setDoing(verb)}>
      {text}
    </Button>
  );
  return (
    <Page
      title={endpoint_id}
      heading={endpoint === undefined ? endpoint_id : <Safe text={endpoint.url} limit={120} />}
      crumbs={[{ href: to.webhooks(), text: "Webhooks" }]}
      actions={
        endpoint !== undefined && (
          <>
            {button("Ping", "ping", off ? "It is disabled." : admin)}
            {button("Replay a span", "replay", off ? "It is disabled." : operate)}
            {button("Rotate secret", "rotate", admin)}
            {button("Change", "change", admin)}
            {button(off ? "Enable" : "Disable", off ? "enable" : "disable", admin)}
            {button("Delete", "delete", admin)}
          </>
        )
      }
    >
      {admin !== null && <p className="muted">{admin} Its settings are shown to administrators.</p>}
      <ProblemNote error={error} title="This endpoint cannot be read" />
      {endpoint !== undefined && (
        <Card>
          <div className="row">
            <EndpointState endpoint={endpoint} />
            <code className="muted">{endpoint.endpoint_id}</code>
          </div>
          {endpoint.description !== null && <Safe text={endpoint.description} />}
          <p className="muted">
            Hears of <Heard events={endpoint.events} />, may take {endpoint.timeout_s} s to answer. Made{" "}
            <Time at={endpoint.created_at} /> by <Safe text={endpoint.created_by} />.
          </p>
          <p className="muted">
            Signed with{" "}
            {endpoint.secrets.map(({ kept, since, until }, at) => (
              <span key={since}>
                {at > 0 && " and "}
                {kept === "sealed" ? "a sealed secret" : <code>{kept}</code>} set <Time at={since} />
                {until !== null && (
                  <>
                    {" "}
                    (until <Time at={until} />)
                  </>
                )}
              </span>
            ))}
            .
          </p>
        </Card>
      )}
      <Card title="Deliveries">
        <Deliveries endpoint_id={endpoint_id} />
      </Card>
      {doing !== null && endpoint !== undefined && (
        <EndpointDialog doing={doing} endpoint={endpoint} onClose={() => setDoing(null)} />
      )}
    </Page>
  );
}
