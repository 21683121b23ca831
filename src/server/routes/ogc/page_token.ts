// Where a page ended: the layer's version, the question it is a page of, and the place in its order. The next page is of that same version as
// long as its table is there, so that no two versions are mixed in one reading.
import type { Problem } from "../../../core/errors/problems.js";

export interface PageToken {
  version: number;
  about: string;
  after: (string | null)[];
}

export function writeToken({ version, about, after }: PageToken): string {
  return Buffer.from(JSON.stringify([version, about, after])).toString("base64url");
}

export function readToken(text: string | undefined, problems: Problem[]): PageToken | null {
  if (text === undefined) return null;
  const parts = partsOf(text);
  const [version, about, after] = parts;
  const is_token =
    Number.isSafeInteger(version) &&
    typeof about === "string" &&
    Array.isArray(after) &&
    after.length <= 10 &&
    after.every((one) => one === null || (typeof one === "string" && !one.includes("\0") && one.isWellFormed()));
  if (is_token) return { version: version as number, about, after };
  problems.push({
    path: "query.token",
    problem: "is not one of ours",
    fix: "Follow the `next` link of a page as it is, or leave the token out to begin anew.",
  });
  return null;
}

function partsOf(text: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
