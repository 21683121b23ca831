import { type Reply, request } from "../../api/call.js";
import { cliLine, curlLine, shellWord } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { FormDialog } from "../../form/form_dialog.js";
import { fromPlain, isRecord, type Value, writeValue } from "../../form/values.js";
import { Safe, SecretOnce } from "../../ui/index.js";
import type { Endpoint } from "./webhooks_page.js";

const job_events = ["job.completed", "job.partial_success", "job.failed", "job.cancelled"];
const secret = {
  type: "string",
  pattern: "^secret://[a-z0-9]",
  description: "secret://name of one the workers know; a new one is made when left out",
};
export const word = (value: Value) =>
  value === undefined || value === null ? undefined : typeof value === "string" ? value : writeValue(value);

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
        items: { enum: job_events },
        description: "What it hears of: all when left out; with none ticked only what jobs name it for",
      },
      ...(is_new ? { secret } : {}),
    },
  };
}

type Saved = Reply<"webhooks.create">;

export function WebhookForm({ endpoint, onClose }: { endpoint: Endpoint | null; onClose(): void }) {
  const params = { endpoint_id: endpoint?.endpoint_id ?? "" };
  const method = endpoint === null ? "POST" : "PATCH";
  const path = endpoint === null ? "/api/webhooks" : "/api/webhooks/{endpoint_id}";
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
    <FormDialog<Saved>
      title={endpoint === null ? "Make an endpoint" : "Change the endpoint"}
      schema={settings(endpoint === null)}
      start={start}
      verb={endpoint === null ? "Make it" : "Change it"}
      send={async (value) =>
        (await request(method, path, { params, body: writeValue(value) })).json() as Promise<Saved>
      }
      done={({ url, secret: made, warnings }) => (
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
          {endpoint === null && made !== null && <SecretOnce text={made} what="the secret" />}
        </>
      )}
      commands={(value) => {
        const given = isRecord(value) ? value : {};
        const words =
          endpoint === null
            ? ["webhooks", "create", word(given.url) ?? "URL"]
            : ["webhooks", "update", params.endpoint_id];
        const line = cliLine(words, {
          url: endpoint === null ? undefined : word(given.url),
          description: word(given.description),
          timeout: word(given.timeout_s),
          secret: word(given.secret),
        });
        const events = Array.isArray(given.events)
          ? given.events.map((event) => `--event ${shellWord(word(event) ?? "")}`)
          : [];
        return {
          cli: [line, ...events].join(" "),
          curl: curlLine(pageBase(), { method, path, params, text: writeValue(value) }),
        };
      }}
      onClose={onClose}
    />
  );
}

export function RotateSecret({ endpoint: { endpoint_id }, onClose }: { endpoint: Endpoint; onClose(): void }) {
  const path = "/api/webhooks/{endpoint_id}/secret";
  return (
    <FormDialog<{ secret: string | null }>
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
      send={async (value) =>
        (await request("POST", path, { params: { endpoint_id }, body: writeValue(value) })).json() as Promise<{
          secret: string | null;
        }>
      }
      done={({ secret: made }) =>
        made === null ? (
          <p>It is signed with the secret of that name from now on.</p>
        ) : (
          <SecretOnce text={made} what="the secret" />
        )
      }
      commands={(value) => ({
        cli: cliLine(["webhooks", "rotate", endpoint_id], {
          overlap: isRecord(value) ? word(value.overlap_s) : undefined,
          secret: isRecord(value) ? word(value.secret) : undefined,
        }),
        curl: curlLine(pageBase(), { method: "POST", path, params: { endpoint_id }, text: writeValue(value) }),
      })}
      onClose={onClose}
    >
      Deliveries are signed with the new secret, and for a while with the old one too, so that the receiver can change
      over.
    </FormDialog>
  );
}
