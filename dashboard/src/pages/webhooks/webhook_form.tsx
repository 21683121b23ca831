import { FormDialog } from "../../form/form_dialog.js";
import { fromPlain } from "../../form/values.js";
import { Safe, SecretOnce } from "../../ui/index.js";
import type { Endpoint } from "./webhooks_page.js";

const job_events = ["job.completed", "job.partial_success", "job.failed", "job.cancelled"];
const other_events = ["group.completed", "group.partial_success", "group.failed", "group.cancelled", "alert.raised"];
const secret = {
  type: "string",
  pattern: "^secret://[a-z0-9]",
  description: "secret://name of one the workers know; a new one is made when left out",
};

function settings(is_new: boolean) {
  return {
    type: "object",
    additionalProperties: false,
    required: ["url"],
    properties: {
      url: { type: "string", format: "uri", minLength: 8, maxLength: 2048, examples: ["https://example.com/hooks"] },
      description: { type: "string", maxLength: 500, description: "What it is for" },
      timeout_s: {
        type: "integer",
        minimum: 1,
        maximum: 30,
        default: 20,
        description: "How long it may take to answer",
      },
      events: {
        type: "array",
        uniqueItems: true,
        items: { enum: [...job_events, ...other_events] },
        description: "What it hears of: all of jobs when left out; with none ticked only what jobs name it for",
      },
      ...(is_new ? { secret } : {}),
    },
  };
}

export function WebhookForm({ endpoint, onClose }: { endpoint: Endpoint | null; onClose(): void }) {
  const start =
    endpoint === null
      ? {}
      : fromPlain({
          url: endpoint.url,
          timeout_s: endpoint.timeout_s,
          events: endpoint.events,
          ...(endpoint.description === null ? {} : { description: endpoint.description }),
        });
  return (
    <FormDialog<"webhooks.create" | "webhooks.update">
      does={endpoint === null ? "webhooks.create" : "webhooks.update"}
      params={{ endpoint_id: endpoint?.endpoint_id ?? "" }}
      title={endpoint === null ? "Make an endpoint" : "Change the endpoint"}
      schema={settings(endpoint === null)}
      start={start}
      verb={endpoint === null ? "Make it" : "Change it"}
      done={({ url, warnings, ...told }) => (
        <>
          <p>
            <Safe text={url} /> is {endpoint === null ? "ready" : "changed"}.
          </p>
          {warnings.length > 0 && (
            <div className="note warn">
              {warnings.map((warning) => (
                <p key={warning}>
                  <Safe text={warning} />
                </p>
              ))}
            </div>
          )}
          {"secret" in told && told.secret !== null && <SecretOnce text={told.secret} what="the secret" />}
        </>
      )}
      onClose={onClose}
    />
  );
}

export function RotateSecret({ endpoint: { endpoint_id }, onClose }: { endpoint: Endpoint; onClose(): void }) {
  return (
    <FormDialog
      does="webhooks.rotate"
      params={{ endpoint_id }}
      title="Rotate the secret"
      schema={{
        type: "object",
        additionalProperties: false,
        properties: {
          overlap_s: {
            type: "number",
            minimum: 0,
            maximum: 2_592_000,
            default: 86_400,
            description: "Seconds for which deliveries are signed with both",
          },
          secret,
        },
      }}
      start={{}}
      verb="Rotate"
      done={({ secret: made }) =>
        made === null ? (
          <p>It is signed with the secret of that name from now on.</p>
        ) : (
          <SecretOnce text={made} what="the secret" />
        )
      }
      onClose={onClose}
    >
      Deliveries are signed with the new secret, and for a while with the old one too, so that the receiver can change
      over.
    </FormDialog>
  );
}
