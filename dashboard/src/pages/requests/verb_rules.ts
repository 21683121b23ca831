// What can be done with a request and its release as they stand, and why the rest cannot. Pure.
import type { Release, Request } from "./records.js";

type Standing = Pick<Request, "status" | "finished_at" | "resumable" | "waits_for_approval">;
type Reviewed = Pick<Release, "approval" | "wants_approval">;

/** Its release as a decision sees it; null: it makes none, or a later run does. */
export interface Facts {
  request: Standing;
  release: Reviewed | null;
}

const ended_well = (status: string) => status === "completed" || status === "partial_success";

/** Is a person asked: at a gate, or for a review after the end? */
export function isAsked({ request, release }: Facts): boolean {
  return request.waits_for_approval !== null || (isReviewed(release) && ended_well(request.status));
}

/** A release that waits is decided by its own verbs; a gate of a request whose release nobody reviews is decided as a gate. */
export function isReviewed(release: Reviewed | null): boolean {
  return release?.wants_approval === true && release.approval === "pending_review";
}

/** null: it can be done; else why not, in a sentence. */
export const why_not = {
  resume({ request }: Facts): string | null {
    if (request.finished_at === null) return "It is under way: there is nothing to resume.";
    return request.resumable ? null : "It completed: nothing is left to resume.";
  },
  again({ request, release }: Facts): string | null {
    if (request.finished_at === null) return "It is under way: cancel it, or wait for its end.";
    return release?.wants_approval === true && release.approval === "approved"
      ? "Its release is approved: revoke it first, or ask for another version."
      : null;
  },
  cancel({ request }: Facts): string | null {
    return request.finished_at === null ? null : "It has ended: there is nothing to cancel.";
  },
  revoke({ release }: Facts): string | null {
    if (release === null) return "It makes no release, or a later run of it does.";
    return release.approval === "approved" ? null : `Its release is ${words(release.approval)}, not approved.`;
  },
  unpublish({ release }: Facts): string | null {
    if (release === null) return "It makes no release, or a later run of it does.";
    return release.wants_approval && release.approval === "approved"
      ? "It is approved: revoke it, which takes it down."
      : null;
  },
} as const;

function words(approval: string): string {
  return approval === "pending_review" ? "waiting for a review" : approval;
}
