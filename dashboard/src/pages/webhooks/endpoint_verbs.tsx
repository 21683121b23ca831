// What can be done about an endpoint.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { webhooks_api } from "../../../../src/core/api/webhooks.js";
import { call, request } from "../../api/call.js";
import { cliLine, curlLine, shellWord } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { FormDialog } from "../../form/form_dialog.js";
import { fromPlain, isRecord, type Value, writeValue } from "../../form/values.js";
import { to } from "../../routes.js";
import { Button, Count, Safe, SecretOnce, VerbDialog } from "../../ui/index.js";
import type { Endpoint } from "./webhooks_page.js";

export type EndpointDoing = "change" | "rotate" | "ping" | "enable" | "disable" | "delete" | "replay";

const job_events = ["job.completed", "job.partial_success", "job.failed", "job.cancelled"];
const secret = {
  type: "string",
  pattern: "^secret://[a-z0-9]",
  description: "secret://name of one the workers know; a new one is made when left out",
};
const word = (value: Value) =>
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

type Saved = ReplyOf<typeof webhooks_api.create>;

export function WebhookForm({ endpoint, onClose }: { endpoint: Endpoint | null; onClose(): void }) {
  const client = useQueryClient();
  const params = { endpoint_id: endpoint?.endpoint_id ?? "" };
  const method = endpoint === null ? "POST" : "PATCH";
  const path = endpoint === null ? "/api/webhooks" : "/api/webhooks/{endpoint_id}";
  const start =
    endpoint === null
      ? {}
      : fromPlain({
          ...{ url: endpoint.url, timeout_s: endpoint.timeout_s, events: endpoint.events },
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
      onDone={() => void client.invalidateQueries()}
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

export function EndpointDialog({
  doing,
  endpoint,
  onClose,
}: {
  doing: EndpointDoing;
  endpoint: Endpoint;
  onClose(): void;
}) {
  switch (doing) {
    case "change":
      return <WebhookForm endpoint={endpoint} onClose={onClose} />;
    case "rotate":
      return <RotateSecret endpoint={endpoint} onClose={onClose} />;
    case "replay":
      return <ReplaySpan endpoint={endpoint} onClose={onClose} />;
    default:
      return <EndpointVerb verb={doing} endpoint={endpoint} onClose={onClose} />;
  }
}

function RotateSecret({ endpoint: { endpoint_id }, onClose }: { endpoint: Endpoint; onClose(): void }) {
  const client = useQueryClient();
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
      onDone={() => void client.invalidateQueries()}
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

type Plain = Exclude<EndpointDoing, "change" | "rotate" | "replay">;
const verbs: Record<Plain, { title: string; verb: string; what: string }> = {
  ping: {
    title: "Ping",
    verb: "Send it",
    what: "Sends it something to try it out with; see the delivery below for the answer.",
  },
  enable: {
    title: "Enable",
    verb: "Enable",
    what: "Its failures are forgotten and it hears of jobs again. What was discarded can be replayed.",
  },
  disable: {
    title: "Disable",
    verb: "Disable",
    what: "It hears of nothing any more, and what waits for it is discarded.",
  },
  delete: {
    title: "Delete",
    verb: "Delete",
    what: "The endpoint and its secrets are gone for good, and what waits for it is discarded.",
  },
};

function EndpointVerb({ verb, endpoint, onClose }: { verb: Plain; endpoint: Endpoint; onClose(): void }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const { endpoint_id, url } = endpoint;
  const params = { endpoint_id };
  const toggles = verb === "enable" || verb === "disable";
  const method = verb === "ping" ? "POST" : verb === "delete" ? "DELETE" : "PATCH";
  const path = verb === "ping" ? "/api/webhooks/{endpoint_id}/ping" : "/api/webhooks/{endpoint_id}";
  const body = (reason: string | undefined) => ({
    enabled: verb === "enable",
    ...(reason === undefined ? {} : { reason }),
  });
  return (
    <VerbDialog<{ discarded?: number }>
      title={`${verbs[verb].title} this endpoint`}
      verb={verbs[verb].verb}
      danger={verb === "delete" || verb === "disable"}
      reason={toggles ? "possible" : "none"}
      dry_run={false}
      run={({ reason }) =>
        call<typeof webhooks_api.update>(method as "PATCH", path, {
          params,
          ...(toggles ? { body: body(reason) } : {}),
        }) as Promise<{
          discarded?: number;
        }>
      }
      tell={({ discarded }) =>
        verb === "delete"
          ? `Deleted; ${discarded ?? 0} deliveries discarded.`
          : verb === "ping"
            ? "It is on its way."
            : "Done."
      }
      cli={(reason) => cliLine(["webhooks", verb, endpoint_id], toggles ? { reason } : {})}
      curl={(reason) => curlLine(pageBase(), { method, path, params, ...(toggles ? { body: body(reason) } : {}) })}
      onDone={() => {
        if (verb === "delete") navigate(to.webhooks());
        void client.invalidateQueries();
      }}
      onClose={onClose}
    >
      <p>
        <code>
          <Safe text={url} limit={200} />
        </code>
      </p>
      <p>{verbs[verb].what}</p>
    </VerbDialog>
  );
}

type Replayed = ReplyOf<typeof webhooks_api.replay>;

/** First counted, then sent: the same ids and bytes, oldest first. */
function ReplaySpan({ endpoint: { endpoint_id }, onClose }: { endpoint: Endpoint; onClose(): void }) {
  const client = useQueryClient();
  const path = "/api/webhooks/{endpoint_id}/replay";
  const [value, setValue] = useState<Value>({ statuses: ["failed", "discarded"] });
  const [counted, setCounted] = useState<Replayed | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const send = async (given: Value, dry_run: boolean) => {
    const body = writeValue({ ...(isRecord(given) ? given : {}), dry_run });
    return (await request("POST", path, { params: { endpoint_id }, body })).json() as Promise<Replayed>;
  };
  const count = () => {
    setProblem(null);
    send(value, true).then(setCounted, (error: unknown) =>
      setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <FormDialog<Replayed>
      title="Replay deliveries of a span of time"
      schema={{
        type: "object",
        additionalProperties: false,
        properties: {
          from: { type: "string", format: "date-time", description: "That came to be at or after this" },
          to: { type: "string", format: "date-time", description: "That came to be before this" },
          statuses: {
            type: "array",
            minItems: 1,
            uniqueItems: true,
            items: { enum: ["pending", "delivered", "failed", "discarded"] },
          },
        },
      }}
      start={value}
      onValue={(next) => {
        setValue(next);
        setCounted(null);
      }}
      verb="Replay"
      beside={
        <div className="row">
          <Button onClick={count}>Count them first</Button>
          {counted !== null && (
            <span role="status" data-counted={counted.deliveries}>
              <Count n={counted.deliveries} /> {counted.deliveries === 1 ? "delivery" : "deliveries"}
              {counted.more ? ", and more after these" : ""}. Nothing was sent.
            </span>
          )}
          {problem !== null && <span className="problem">{problem}</span>}
        </div>
      }
      send={(given) => send(given, false)}
      onDone={() => void client.invalidateQueries()}
      done={({ deliveries, more }) => (
        <p role="status">
          <Count n={deliveries} /> {deliveries === 1 ? "delivery is" : "deliveries are"} sent again.
          {more && " There are more: replay again from where these end."}
        </p>
      )}
      commands={(given) => {
        const now = isRecord(given) ? given : {};
        const line = cliLine(["webhooks", "replay"], { endpoint: endpoint_id, from: word(now.from), to: word(now.to) });
        const statuses = Array.isArray(now.statuses) ? now.statuses.map((one) => `--status ${word(one)}`) : [];
        return {
          cli: [line, ...statuses].join(" "),
          curl: curlLine(pageBase(), { method: "POST", path, params: { endpoint_id }, text: writeValue(given) }),
        };
      }}
      onClose={onClose}
    >
      Each is sent again with the id and the bytes it had, oldest first: a receiver that knows the id can tell.
    </FormDialog>
  );
}
