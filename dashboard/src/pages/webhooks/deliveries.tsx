// Deliveries, newest first: of one endpoint or of all, and each with every try.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { deliveries_api } from "../../../../src/core/api/webhooks.js";
import { call } from "../../api/call.js";
import { cliLine, curlLine } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import {
  Button,
  Dialog,
  Duration,
  Empty,
  Input,
  Json,
  ProblemNote,
  Safe,
  Select,
  Skeleton,
  StatusBadge,
  Table,
  Time,
  VerbDialog,
} from "../../ui/index.js";

type Delivery = ReplyOf<typeof deliveries_api.list>["deliveries"][number];
type DeliveryStatus = Delivery["status"];

const looks: Record<DeliveryStatus, { status: string; label: string }> = {
  pending: { status: "queued", label: "pending" },
  delivered: { status: "completed", label: "delivered" },
  failed: { status: "failed", label: "failed" },
  discarded: { status: "cancelled", label: "discarded" },
};

function look({ status, attempts }: Delivery) {
  return status === "pending" && attempts > 0 ? { status: "retrying", label: "retrying" } : looks[status];
}

export function Deliveries({ endpoint_id }: { endpoint_id: string | null }) {
  const [{ status, job, cursor, delivery }, set] = useQueryState({ status: "", job: "", cursor: "", delivery: "" });
  const job_id = /^[0-9a-f]{4,64}$/.test(job) ? job : "";
  const { data, error } = useGet<typeof deliveries_api.list>(
    "/api/deliveries",
    {
      query: {
        limit: 25,
        ...(endpoint_id === null ? {} : { endpoint_id }),
        ...(status === "" ? {} : { status: status as DeliveryStatus }),
        ...(job_id === "" ? {} : { job_id }),
        ...(cursor === "" ? {} : { cursor }),
      },
    },
    {
      when: ({ kind }) =>
        kind.startsWith("webhook.") || /^job\.(completed|partial_success|failed|cancelled)$/.test(kind),
      every_ms: 5_000,
    },
  );
  return (
    <>
      <div className="delivery-filter">
        <Select
          label="State"
          value={status}
          options={[{ value: "", text: "any" }, ...Object.keys(looks).map((one) => ({ value: one, text: one }))]}
          onChange={({ target }) => set({ status: target.value, cursor: "" })}
        />
        <Input
          label="Job"
          value={job}
          placeholder="id, or its beginning"
          problem={job !== "" && job_id === "" ? "At least 4 characters of 0-9 and a-f" : null}
          onChange={({ target }) => set({ job: target.value.trim(), cursor: "" }, { replace: true })}
        />
      </div>
      <ProblemNote error={error} title="The deliveries cannot be read" />
      {data === undefined && error === null && <Skeleton />}
      {data !== undefined && data.deliveries.length === 0 && (
        <Empty title={status === "" && job === "" ? "Nothing was delivered yet" : "No delivery fits"}>
          When a job ends, whoever listens is told.
        </Empty>
      )}
      {data !== undefined && data.deliveries.length > 0 && (
        <Table
          caption="Deliveries, newest first"
          rows={data.deliveries}
          rowKey={({ delivery_id }) => delivery_id}
          columns={[
            { id: "state", title: "State", cell: (one) => <StatusBadge {...look(one)} /> },
            {
              id: "event",
              title: "Event",
              cell: ({ event_type }) => (
                <span className="nowrap">
                  <Safe text={event_type} />
                </span>
              ),
            },
            {
              id: "job",
              title: "Job",
              cell: ({ job_id: about }) =>
                about === null ? (
                  <span className="muted">–</span>
                ) : (
                  <Link href={to.job(about)} className="nowrap">
                    {about.slice(0, 12)}
                  </Link>
                ),
            },
            ...(endpoint_id === null
              ? [
                  {
                    id: "to",
                    title: "To",
                    cell: ({ endpoint_id: whom, url }: Delivery) =>
                      whom === null ? (
                        <Safe text={url} limit={80} />
                      ) : (
                        <Link href={to.webhooks(whom)} className="nowrap">
                          {whom}
                        </Link>
                      ),
                  },
                ]
              : []),
            {
              id: "answer",
              title: "Answer",
              cell: ({ last_status, last_error, reason }) => (
                <span>
                  {last_status !== null && <code>{last_status}</code>}{" "}
                  <Safe text={last_error ?? reason ?? ""} limit={100} />
                </span>
              ),
            },
            { id: "tries", title: "Tries", align: "right", cell: ({ attempts }) => attempts },
            {
              id: "when",
              title: "When",
              cell: ({ created_at, next_at }) => (
                <span>
                  <Time at={created_at} />
                  {next_at !== null && (
                    <div className="muted small">
                      {new Date(next_at).getTime() <= Date.now() ? (
                        "waits for a worker"
                      ) : (
                        <>
                          next <Time at={next_at} />
                        </>
                      )}
                    </div>
                  )}
                </span>
              ),
            },
            {
              id: "do",
              title: "",
              cell: ({ delivery_id }) => (
                <Button className="small-button" onClick={() => set({ delivery: delivery_id })}>
                  Details
                </Button>
              ),
            },
          ]}
        />
      )}
      <div className="row">
        {cursor !== "" && <Button onClick={() => set({ cursor: "" })}>Newest</Button>}
        {data?.next != null && <Button onClick={() => set({ cursor: data.next ?? "" })}>Older</Button>}
      </div>
      {delivery !== "" && <DeliveryDialog delivery_id={delivery} onClose={() => set({ delivery: "" })} />}
    </>
  );
}

function DeliveryDialog({ delivery_id, onClose }: { delivery_id: string; onClose(): void }) {
  const operate = useForbidden("operate");
  const [doing, setDoing] = useState<"replay" | "discard" | null>(null);
  const { data, error } = useGet<typeof deliveries_api.get>(
    "/api/deliveries/{delivery_id}",
    { params: { delivery_id } },
    { when: ({ kind }) => kind.startsWith("webhook."), every_ms: 3_000 },
  );
  if (doing !== null) return <DeliveryVerb verb={doing} delivery_id={delivery_id} onClose={() => setDoing(null)} />;
  return (
    <Dialog title="A delivery" wide onClose={onClose}>
      <ProblemNote error={error} title="This delivery cannot be read" />
      {data === undefined && error === null && <Skeleton />}
      {data !== undefined && (
        <>
          <div className="row">
            <StatusBadge {...look(data)} />
            <code>{data.delivery_id}</code>
          </div>
          <p className="muted">
            <Safe text={data.event_type} /> of{" "}
            {data.job_id === null ? (
              "no job"
            ) : (
              <Link href={to.job(data.job_id)} className="nowrap">
                {data.job_id.slice(0, 12)}
              </Link>
            )}
            , made <Time at={data.created_at} />
            {data.next_at !== null && new Date(data.next_at).getTime() > Date.now() && (
              <>
                , tried next <Time at={data.next_at} />
              </>
            )}
            {data.reason !== null && (
              <>
                : <Safe text={data.reason} />
              </>
            )}
            .
          </p>
          <h3>Tries</h3>
          {data.tries.length === 0 ? (
            <p className="muted">It was not tried yet. A worker sends it: see that one runs with the connectors.</p>
          ) : (
            <Table
              caption="Tries, as they came"
              rows={data.tries}
              rowKey={({ at, series }) => `${series} ${at}`}
              columns={[
                { id: "at", title: "When", cell: ({ at }) => <Time at={at} /> },
                { id: "series", title: "Series", align: "right", cell: ({ series }) => series },
                {
                  id: "status",
                  title: "Answer",
                  cell: ({ status }) => (status === null ? <span className="muted">none</span> : <code>{status}</code>),
                },
                { id: "took", title: "Took", align: "right", cell: ({ duration_ms }) => <Duration ms={duration_ms} /> },
                {
                  id: "said",
                  title: "What it said",
                  cell: ({ error: wrong, body }) => (
                    <span>
                      <Safe text={wrong ?? ""} limit={300} />
                      {body !== null && body !== "" && (
                        <pre className="delivery-said">
                          <Safe text={body} limit={2_000} />
                        </pre>
                      )}
                    </span>
                  ),
                },
              ]}
            />
          )}
          <h3>What is sent</h3>
          <Json text={data.payload} name="payload" />
          <footer className="dialog-foot row">
            {data.status === "pending" && (
              <Button forbidden={operate} onClick={() => setDoing("discard")}>
                Discard
              </Button>
            )}
            <Button
              kind="primary"
              forbidden={operate ?? (data.status === "pending" ? "It is on its way already." : null)}
              onClick={() => setDoing("replay")}
            >
              Replay
            </Button>
          </footer>
        </>
      )}
    </Dialog>
  );
}

function DeliveryVerb({
  verb,
  delivery_id,
  onClose,
}: {
  verb: "replay" | "discard";
  delivery_id: string;
  onClose(): void;
}) {
  const client = useQueryClient();
  const path = `/api/deliveries/{delivery_id}/${verb}`;
  const params = { delivery_id };
  return (
    <VerbDialog<Delivery>
      title={verb === "replay" ? "Replay this delivery" : "Discard this delivery"}
      verb={verb === "replay" ? "Send it again" : "Discard"}
      danger={verb === "discard"}
      dry_run={false}
      reason={verb === "discard" ? "possible" : "none"}
      run={({ reason }) =>
        call<typeof deliveries_api.discard>("POST", path, {
          params,
          ...(verb === "discard" ? { body: reason === undefined ? {} : { reason } } : {}),
        })
      }
      tell={({ status }) => (status === "pending" ? "It is on its way." : `It is ${status}.`)}
      cli={(reason) => cliLine(["webhooks", verb, delivery_id], verb === "discard" ? { reason } : {})}
      curl={(reason) =>
        curlLine(pageBase(), {
          method: "POST",
          path,
          params,
          ...(verb === "discard" ? { body: reason === undefined ? {} : { reason } } : {}),
        })
      }
      onDone={() => void client.invalidateQueries()}
      onClose={onClose}
    >
      {verb === "replay"
        ? "The same id and bytes are sent in a new series of tries."
        : "It is given up; it can be replayed later."}
    </VerbDialog>
  );
}
