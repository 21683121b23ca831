// Deliveries of a span of time, sent again.
import { useState } from "react";
import type { Reply } from "../../api/call.js";
import { FormDialog, sendForm } from "../../form/form_dialog.js";
import { isRecord, type Value } from "../../form/values.js";
import { Button, Count } from "../../ui/index.js";
import { replayed_span } from "./webhook_schemas.js";
import type { Endpoint } from "./webhooks_page.js";

type Replayed = Reply<"webhooks.replay">;

/** First counted, then sent: the same ids and bytes, oldest first. */
export function ReplaySpan({ endpoint: { endpoint_id }, onClose }: { endpoint: Endpoint; onClose(): void }) {
  const [value, setValue] = useState<Value>({ statuses: ["failed", "discarded"] });
  const [counted, setCounted] = useState<Replayed | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const count = () => {
    setProblem(null);
    const body = { ...(isRecord(value) ? value : {}), dry_run: true };
    sendForm("webhooks.replay", { endpoint_id }, body).then(setCounted, (error: unknown) =>
      setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <FormDialog
      does="webhooks.replay"
      params={{ endpoint_id }}
      besides={{ dry_run: false }}
      title="Replay deliveries of a span of time"
      schema={replayed_span}
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
      done={({ deliveries, more }) => (
        <p role="status">
          <Count n={deliveries} /> {deliveries === 1 ? "delivery is" : "deliveries are"} sent again.
          {more && " There are more: replay again from where these end."}
        </p>
      )}
      onClose={onClose}
    >
      Each is sent again with the id and the bytes it had, oldest first: a receiver that knows the id can tell.
    </FormDialog>
  );
}
