// Who decided what about a release, in words. Pure.
import type { Reply } from "../../api/call.js";

export type ListedRelease = Reply<"releases.releases">["releases"][number];
export type ReleaseDecision = ListedRelease["decisions"][number];

export const approvals = ["pending_review", "approved", "rejected", "revoked"] as const;

const decided: Readonly<Record<string, { text: string; sign: string }>> = {
  approved: { text: "Approved", sign: "approved" },
  rejected: { text: "Rejected", sign: "rejected" },
  revoked: { text: "Revoked", sign: "revoked" },
  unpublished: { text: "Taken down", sign: "cancelled" },
  overwritten: { text: "Made again", sign: "retrying" },
};

export function decisionText({ decision, clearance, revision }: ReleaseDecision): { text: string; sign: string } {
  const known = Object.hasOwn(decided, decision) ? decided[decision] : undefined;
  const { text, sign } = known ?? { text: decision.replaceAll("_", " "), sign: "queued" };
  const more = [
    decision === "approved" && clearance !== null ? clearance : "",
    revision !== null && (revision > 1 || decision === "overwritten") ? `revision ${revision}` : "",
  ].filter((one) => one !== "");
  return { text: more.length === 0 ? text : `${text} (${more.join(", ")})`, sign };
}

/** Which of its versions a client is given, or why none, in a sentence. */
export function latestText(
  releases: readonly Pick<ListedRelease, "latest" | "version_id" | "approval" | "status">[],
): string {
  const latest = releases.find((one) => one.latest);
  if (latest !== undefined)
    return `Version ${latest.version_id} is the latest: the highest that is approved and ended well.`;
  const [newest] = releases;
  if (newest === undefined) return "It has no version.";
  const how =
    newest.approval === "approved"
      ? `approved, and its request is ${newest.status.replaceAll("_", " ")}`
      : newest.approval === "pending_review"
        ? "waiting for a review"
        : newest.approval;
  return `None of its versions is the latest: the newest, ${newest.version_id}, is ${how}.`;
}
