// What a reviewer decides about a release, and taking down what was made of it: each asks what it would do before it does anything.

import { useState } from "react";
import { count } from "../../../../src/core/shown/figures.js";
import type { Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { JobLink, Safe, Select, Skeleton, VerbDialog } from "../../ui/index.js";
import { bytesText } from "../catalog/files.js";
import { Changes } from "./changes.js";
import type { Request, Unpublished } from "./records.js";

type Decision = "approve" | "reject" | "revoke";
type Decided = Reply<"releases.approve">;

const words: Record<Decision, { title: string; verb: string; what: string; past: string }> = {
  approve: {
    title: "Approve the release",
    verb: "Approve",
    what: "What publishes it goes on, and from then on it is what a lookup finds.",
    past: "approved",
  },
  reject: {
    title: "Reject the release",
    verb: "Reject",
    what: "The gate of its request fails. It can be made again with mode force, and is reviewed again then.",
    past: "rejected",
  },
  revoke: {
    title: "Revoke the release",
    verb: "Revoke and take down",
    what: "A lookup finds it no more, and its items and files are taken down.",
    past: "revoked",
  },
};

const clearances = [
  { value: "restricted", text: "restricted: known to those who may see it" },
  { value: "public", text: "public: for everybody" },
  { value: "uncleared", text: "uncleared: approved, and to be cleared later" },
];

interface DecideProps {
  verb: Decision;
  /** Names the release: its id, its request's, or dataset/resource/version. */
  id: string;
  /** The one that makes it now, whose review is shown. */
  request_id: string;
  onClose(): void;
}

export function DecideReleaseDialog({ verb, id, request_id, onClose }: DecideProps) {
  const [clearance, setClearance] = useState("restricted");
  const { title, verb: button, what, past } = words[verb];
  const reviews = verb !== "revoke";
  const { data: review } = useGet("requests.review", { request_id }, { enabled: reviews });
  const cleared = verb === "approve" ? { clearance: clearance as "restricted" } : {};
  return (
    <VerbDialog
      does={`releases.${verb}`}
      fields={{ id, ...cleared }}
      title={title}
      verb={button}
      wide={reviews}
      danger={verb !== "approve"}
      reason={verb === "approve" ? "possible" : "needed"}
      tell={(told) => <DecidedTold told={told} past={past} />}
      onClose={onClose}
    >
      <div className="stack">
        <p>{what}</p>
        {reviews && (review?.request_id === request_id ? <Changes review={review} /> : <Skeleton lines={2} />)}
        {verb === "approve" && (
          <Select
            label="How far it may go"
            value={clearance}
            onChange={({ target }) => setClearance(target.value)}
            options={clearances}
          />
        )}
      </div>
    </VerbDialog>
  );
}

function DecidedTold({ told, past }: { told: Decided; past: string }) {
  const { dry_run, changed, jobs, release } = told;
  const name = `${release.dataset_id}/${release.resource_id}/${release.version_id}`;
  return (
    <>
      <p>
        <Safe text={name} limit={200} /> {dry_run ? `would be ${past}.` : changed ? `is ${past}.` : "stays as it was."}
      </p>
      {jobs.length > 0 && (
        <p>
          {dry_run ? "What these jobs made would go:" : "Taken down by"}{" "}
          {jobs.slice(0, 5).map((job_id, at) => (
            <span key={job_id}>
              {at > 0 && ", "}
              <JobLink id={job_id} />
            </span>
          ))}
          {jobs.length > 5 && ` and ${count(jobs.length - 5)} more`}.
        </p>
      )}
    </>
  );
}

interface DecideGateDialogProps {
  verb: "approve" | "reject";
  request: Request;
  onClose(): void;
}

/** A gate of a request whose release nobody reviews. */
export function DecideGateDialog({ verb, request, onClose }: DecideGateDialogProps) {
  const approved = verb === "approve";
  // What it was opened for: once it is decided, nothing waits any more.
  const [{ request_id, jobs, waits_for_approval }] = useState(request);
  const gate = jobs.find(({ name }) => name === waits_for_approval)?.gate ?? "";
  return (
    <VerbDialog
      does="requests.decide"
      fields={{ request_id, approved }}
      cli_fields={{ approved: undefined, [verb]: true }}
      title={`${approved ? "Approve" : "Reject"} job ${waits_for_approval ?? ""}`}
      verb={approved ? "Approve" : "Reject"}
      danger={!approved}
      reason={approved ? "possible" : "needed"}
      dry_run={false}
      tell={() => (
        <p>{approved ? "It begins." : "It has failed; its importance says what that means for the request."}</p>
      )}
      onClose={onClose}
    >
      {gate !== "" && (
        <blockquote className="asks">
          <Safe text={gate} limit={1000} />
        </blockquote>
      )}
    </VerbDialog>
  );
}

const LISTED = 20;

/** `forbidden`: it may be looked at, and nothing more. */
export function UnpublishDialog({ id, forbidden, onClose }: { id: string; forbidden: string | null; onClose(): void }) {
  return (
    <VerbDialog
      does="releases.unpublish"
      fields={{ id, dry_run: false }}
      cli_fields={{ yes: true }}
      title="Unpublish"
      verb="Take it down"
      danger
      wide
      forbidden={forbidden}
      tell={(told) => <UnpublishTold told={told} />}
      onClose={onClose}
    >
      <p>Everything that was made of it goes out of the catalogue, with its files, by jobs that are told here.</p>
      {forbidden !== null && <p className="note warn">{forbidden}</p>}
    </VerbDialog>
  );
}

function UnpublishTold({ told }: { told: Unpublished }) {
  const { dry_run, changed, file_count, bytes, files, items, jobs } = told;
  if (file_count === 0 && items.length === 0) return <p>Nothing of it is there: nothing would go.</p>;
  const goes = dry_run ? "would go" : "go";
  return (
    <div className="stack">
      <p>
        <strong>
          {file_count === 1 ? "1 file" : `${count(file_count)} files`} ({bytesText(bytes)}) and{" "}
          {items.length === 1 ? "1 item" : `${count(items.length)} items`}
        </strong>{" "}
        {goes}.
        {!dry_run && changed && (
          <>
            {" "}
            By{" "}
            {jobs.map((job_id, at) => (
              <span key={job_id}>
                {at > 0 && ", "}
                <JobLink id={job_id} />
              </span>
            ))}
            .
          </>
        )}
      </p>
      {dry_run && (
        <ul className="unpublish-list mono small">
          {items.slice(0, LISTED).map(({ collection, item_id }) => (
            <li key={`${collection}/${item_id}`}>
              <Safe text={`item ${collection}/${item_id}`} limit={200} />
            </li>
          ))}
          {items.length > LISTED && <li>and {count(items.length - LISTED)} more items</li>}
          {files.slice(0, LISTED).map(({ ref, bytes: size, adopted }) => (
            <li key={ref}>
              <Safe text={ref} limit={300} /> <span className="muted">{bytesText(size)}</span>
              {adopted && <span className="muted"> (the file stays, its record goes)</span>}
            </li>
          ))}
          {file_count > LISTED && <li>and {count(file_count - Math.min(LISTED, files.length))} more files</li>}
        </ul>
      )}
    </div>
  );
}
