// Signing in with a browser: a key, or a link that works once, becomes a cookie that scripts cannot read. Pure.
import { z } from "zod";
import { endpointsOf, scopes } from "./endpoint.js";
import { time } from "./fields.js";

export const session_record = z.object({
  tenant_id: z.string(),
  tenant_name: z.string().nullable(),
  actor: z.string().describe("Who it is in events"),
  key_id: z.string().nullable().describe("null: a token of an OpenID provider"),
  key_name: z.string().nullable(),
  scopes: z.array(z.enum(scopes)),
  operator: z.boolean(),
  expires_at: time.nullable().describe("When the browser is signed out; use moves it. null: the call came with a key"),
  version: z.string().describe("Version of the service"),
  catalog: z.boolean().describe("Is there a catalogue?"),
});

const endpoint = endpointsOf({ tag: "sessions", scope: null });

export const sessions_api = {
  open: endpoint("POST /api/session", {
    summary: "Sign in a browser",
    description:
      "With a key, or with the code of a link that signs in once. Sets a cookie; the session may do what its key may do at the time " +
      "of each call, except a worker's part. With the cookie, calls other than GET carry `x-fanfold-request: 1`.",
    body: z.strictObject({
      key: z.string().min(1).max(200).optional().describe("An API key"),
      code: z.string().min(1).max(200).optional().describe("The code of a sign-in link; send either a key or a code"),
    }),
    body_limit: 4096,
    reply: session_record,
    status: 201,
    errors: [401, 403, 429],
  }),
  get: endpoint("GET /api/session", {
    summary: "Who is signed in, and what they may do",
    description: "The key behind the session's cookie or the credential that is sent.",
    reply: session_record,
    errors: [401, 403, 429],
  }),
  end: endpoint("DELETE /api/session", {
    summary: "Sign out",
    description: "Refused at once by the server that answers this, and within five seconds by every other.",
    reply: z.void(),
    status: 204,
    errors: [403],
  }),
  link: endpoint("POST /api/session/link", {
    summary: "Make a link that signs in once",
    description:
      "Good for ten minutes, with the rights of the key it was asked for with. A session makes no links. It leads to FANFOLD_PUBLIC_URL, or " +
      "to the address that the call came to, whatever its Host header says.",
    scope: "read",
    reply: z.object({ url: z.string(), key_id: z.string(), expires_at: time }),
    status: 201,
    errors: [409],
  }),
};
