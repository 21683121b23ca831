import { FormDialog } from "../../form/form_dialog.js";
import { fromPlain } from "../../form/values.js";
import { Safe, SecretOnce } from "../../ui/index.js";
import { endpointSettings, secret_rotation } from "./webhook_schemas.js";
import type { Endpoint } from "./webhooks_page.js";

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
      schema={endpointSettings(endpoint === null)}
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
      schema={secret_rotation}
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
