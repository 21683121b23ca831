// Deliveries, newest first: of one endpoint or of all.
import { Link } from "wouter";
import { useGet } from "../../api/hooks.js";
import { to, useQueryState } from "../../routes.js";
import {
  Button,
  Empty,
  FirstRead,
  Input,
  JobLink,
  Safe,
  Select,
  StatusBadge,
  Table,
  Time,
  Turn,
} from "../../ui/index.js";
import { DeliveryDialog } from "./delivery_dialog.js";
import { type Delivery, type DeliveryStatus, look, looks } from "./delivery_looks.js";

export function Deliveries({ endpoint_id }: { endpoint_id: string | null }) {
  const [{ status, job, cursor, delivery }, set] = useQueryState({ status: "", job: "", cursor: "", delivery: "" });
  const job_id = /^[0-9a-f]{4,64}$/.test(job) ? job : "";
  const { data, error } = useGet(
    "deliveries.list",
    {
      limit: 25,
      endpoint_id: endpoint_id ?? undefined,
      ...(status === "" ? {} : { status: status as DeliveryStatus }),
      job_id,
      cursor,
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
      <FirstRead data={data} error={error} title="The deliveries cannot be read" />
      {data !== undefined && data.deliveries.length === 0 && (
        <Empty title={status === "" && job === "" ? "Nothing was delivered yet" : "No delivery fits"}>
          When a job ends, each endpoint that listens gets a message.
        </Empty>
      )}
      {data !== undefined && data.deliveries.length > 0 && (
        <Table
          caption="Deliveries, newest first"
          rows={data.deliveries}
          rowKey={({ delivery_id }) => delivery_id}
          columns={[
            { title: "State", cell: (one) => <StatusBadge {...look(one)} /> },
            {
              title: "Event",
              cell: ({ event_type }) => (
                <span className="nowrap">
                  <Safe text={event_type} />
                </span>
              ),
            },
            {
              title: "Job",
              cell: ({ job_id: about }) => <JobLink id={about} />,
            },
            ...(endpoint_id === null
              ? [
                  {
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
              title: "Answer",
              cell: ({ last_status, last_error, reason }) =>
                (last_status !== null || last_error !== null || reason !== null) && (
                  <span>
                    {last_status !== null && <code>{last_status}</code>}{" "}
                    <Safe text={last_error ?? reason ?? ""} limit={100} />
                  </span>
                ),
            },
            { title: "Tries", align: "right", cell: ({ attempts }) => attempts },
            {
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
      <Turn page={data} cursor={cursor} onTurn={(to) => set({ cursor: to })} first="Newest" next="Older" />
      {delivery !== "" && <DeliveryDialog delivery_id={delivery} onClose={() => set({ delivery: "" })} />}
    </>
  );
}
