// What can be done about an endpoint.
import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { webhooks_api } from "../../../../src/core/api/webhooks.js";
import { call } from "../../api/call.js";
import { cliLine, curlLine } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { to } from "../../routes.js";
import { Safe, VerbDialog } from "../../ui/index.js";
import { ReplaySpan } from "./replay_span.js";
import { RotateSecret, WebhookForm } from "./webhook_form.js";
import type { Endpoint } from "./webhooks_page.js";

export type EndpointDoing = "change" | "rotate" | "ping" | "enable" | "disable" | "delete" | "replay";

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
  const body = (reason: string | undefined) => ({ enabled: verb === "enable", reason });
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
