// Deliveries of a span of time, sent again.
import { useState } from "react";
import { type Reply, request } from "../../api/call.js";
import { cliLine, curlLine } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { FormDialog } from "../../form/form_dialog.js";
import { isRecord, type Value, writeValue } from "../../form/values.js";
import { Button, Count } from "../../ui/index.js";
import { word } from "./webhook_form.js";
import type { Endpoint } from "./webhooks_page.js";

type Replayed = Reply<"webhooks.replay">;

/** First counted, then sent: the same ids and bytes, oldest first. */
export function ReplaySpan({ endpoint: { endpoint_id }, onClose }: { endpoint: Endpoint; onClose(): void }) {
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
