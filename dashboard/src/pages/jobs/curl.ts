// A call as it is typed into a shell.
import { urlOf } from "../../api/call.js";

export function curlOf(method: string, path: string, body?: unknown): string {
  const parts = ["curl", "-s", method === "GET" ? "" : `-X ${method}`, '-H "Authorization: Bearer $FANFOLD_KEY"'];
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  return [...parts.filter((part) => part !== ""), quoted(urlOf(path))].join(" ");
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
