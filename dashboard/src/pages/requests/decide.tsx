// Approve and reject, wherever somebody is asked: of a release that waits for its review, or at a gate of a request whose release nobody reviews.
import { useState } from "react";
import { useForbidden } from "../../api/session.js";
import { Button } from "../../ui/index.js";
import type { Release, Request } from "./records.js";
import { DecideGateDialog, DecideReleaseDialog } from "./release_dialogs.js";
import { isReviewed } from "./verb_rules.js";

interface DecideProps {
  request: Request;
  /** The one it makes now; null: none, or a later run does. */
  release: Release | null;
  /** The dialog stays when nobody is asked any more: it says what was done. */
  offered: boolean;
}

export function Decide({ request, release, offered }: DecideProps) {
  // What it is about is known when it is opened: once it is decided, it would look like something else.
  const [open, setOpen] = useState<{ verb: "approve" | "reject"; of: "release" | "gate" } | null>(null);
  const forbidden = useForbidden("operate");
  const { request_id, waits_for_approval } = request;
  const ask = (verb: "approve" | "reject") =>
    setOpen({ verb, of: isReviewed(release) || waits_for_approval === null ? "release" : "gate" });
  const close = () => setOpen(null);
  return (
    <>
      {offered && (
        <>
          <Button kind="primary" forbidden={forbidden} onClick={() => ask("approve")}>
            Approve
          </Button>
          <Button forbidden={forbidden} onClick={() => ask("reject")}>
            Reject
          </Button>
        </>
      )}
      {open?.of === "release" && (
        <DecideReleaseDialog verb={open.verb} id={request_id} request_id={request_id} onClose={close} />
      )}
      {open?.of === "gate" && <DecideGateDialog verb={open.verb} request={request} onClose={close} />}
    </>
  );
}
