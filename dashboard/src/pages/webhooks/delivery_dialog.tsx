// One delivery with every try, and what can be done about it.
import { useState } from "react";
import { useGet } from "../../api/hooks.js";
import { useForbidden } from "../../api/session.js";
import {
  Button,
  Dialog,
  Duration,
  FirstRead,
  JobLink,
  Json,
  Safe,
  StatusBadge,
  Table,
  Time,
  VerbDialog,
} from "../../ui/index.js";
import { look } from "./delivery_looks.js";

export function DeliveryDialog({ delivery_id, onClose }: { delivery_id: string; onClose(): void }) {
  const operate = useForbidden("operate");
  const [doing, setDoing] = useState<"replay" | "discard" | null>(null);
  const { data, error } = useGet(
    "deliveries.get",
    { delivery_id },
    { when: ({ kind }) => kind.startsWith("webhook."), every_ms: 3_000 },
  );
  if (doing !== null) return <DeliveryVerb verb={doing} delivery_id={delivery_id} onClose={() => setDoing(null)} />;
  return (
    <Dialog title="A delivery" wide onClose={onClose}>
      <FirstRead data={data} error={error} title="This delivery cannot be read" />
      {data !== undefined && (
        <>
          <div className="row">
            <StatusBadge {...look(data)} />
            <code>{data.delivery_id}</code>
          </div>
          <p className="muted">
            <Safe text={data.event_type} /> of {data.job_id === null ? "no job" : <JobLink id={data.job_id} />}, made{" "}
            <Time at={data.created_at} />
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
                { title: "When", cell: ({ at }) => <Time at={at} /> },
                { title: "Series", align: "right", cell: ({ series }) => series },
                {
                  title: "Answer",
                  cell: ({ status }) => (status === null ? <span className="muted">none</span> : <code>{status}</code>),
                },
                { title: "Took", align: "right", cell: ({ duration_ms }) => <Duration ms={duration_ms} /> },
                {
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

interface DeliveryVerbProps {
  verb: "replay" | "discard";
  delivery_id: string;
  onClose(): void;
}

function DeliveryVerb({ verb, delivery_id, onClose }: DeliveryVerbProps) {
  return (
    <VerbDialog
      does={`deliveries.${verb}`}
      fields={{ delivery_id }}
      title={verb === "replay" ? "Replay this delivery" : "Discard this delivery"}
      verb={verb === "replay" ? "Send it again" : "Discard"}
      danger={verb === "discard"}
      dry_run={false}
      reason={verb === "discard" ? "possible" : "none"}
      tell={({ status }) => (status === "pending" ? "It is on its way." : `It is ${status}.`)}
      onClose={onClose}
    >
      {verb === "replay"
        ? "The same id and bytes are sent in a new series of tries."
        : "It is given up; it can be replayed later."}
    </VerbDialog>
  );
}
