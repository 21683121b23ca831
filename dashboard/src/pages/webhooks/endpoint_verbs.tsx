// What can be done about an endpoint.
import { useLocation } from "wouter";
import { cliLine, verbCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { to } from "../../routes.js";
import { Safe, VerbDialog } from "../../ui/index.js";
import { ReplaySpan } from "./replay_span.js";
import { RotateSecret, WebhookForm } from "./webhook_form.js";
import type { Endpoint } from "./webhooks_page.js";

export type EndpointDoing = "change" | "rotate" | "ping" | "enable" | "disable" | "delete" | "replay";

interface EndpointDialogProps {
  doing: EndpointDoing;
  endpoint: Endpoint;
  onClose(): void;
}

export function EndpointDialog({ doing, endpoint, onClose }: EndpointDialogProps) {
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
  const [, navigate] = useLocation();
  const { endpoint_id, url } = endpoint;
  const toggles = verb === "enable" || verb === "disable";
  const does = toggles ? "webhooks.update" : verb === "delete" ? "webhooks.remove" : "webhooks.ping";
  const fields = { endpoint_id, ...(toggles && { enabled: verb === "enable" }) };
  return (
    <VerbDialog
      does={does}
      fields={fields}
      title={`${verbs[verb].title} this endpoint`}
      verb={verbs[verb].verb}
      danger={verb === "delete" || verb === "disable"}
      reason={toggles ? "possible" : "none"}
      dry_run={false}
      tell={(told) =>
        "discarded" in told
          ? `Deleted; ${told.discarded} deliveries discarded.`
          : toggles
            ? "Done."
            : "It is on its way."
      }
      commands={(reason) => ({
        ...verbCommands(pageBase(), does, { ...fields, reason }),
        cli: cliLine(["webhooks", verb, endpoint_id], { reason }),
      })}
      onDone={() => verb === "delete" && navigate(to.webhooks())}
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
