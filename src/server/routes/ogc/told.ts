// What an answer is told as: JSON, or a page.
import { unlessKnown } from "../stac/etag.js";
import { type Html, sendHtml } from "./html/page.js";
import { type AnyCall, formatOf, type OgcCall } from "./ogc_call.js";

export type Told = Record<string, unknown>;

/** JSON or a page, as the caller wants it, with the ETag of what it says. */
export function told(ogc: OgcCall, f: string | undefined, answer: Told, pageOf: () => Html): never {
  const { call } = ogc;
  if (formatOf(call as AnyCall, f, ["json", "html"]) === "json")
    return unlessKnown(call.request, call.reply, answer) as never;
  return sendHtml(call.reply, pageOf()) as never;
}
