// A real HTTP server that answers as a test tells it to, one step for each request, and remembers what was asked.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { readBody } from "./read_body.js";

export interface Asked {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export type Step =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** The connection is cut without an answer. */
  | "cut"
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface ScriptedServer {
  url: string;
  asked: Asked[];
}

/** After the last step, the last one is repeated. */
export async function scriptedServer(...steps: Step[]): Promise<ScriptedServer> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const step = steps[Math.min(asked.length, steps.length - 1)]!;
    const { method = "", url: path = "", headers } = request;
    const seen: Asked = { method, path, headers, body: "" };
    asked.push(seen);
    seen.body = (await readBody(request)).toString("utf8");
    if (step === "cut") return request.socket.destroy();
    if (typeof step === "function") return step(request, response);
    const text = typeof step.body === "string" ? step.body : JSON.stringify(step.body ?? {});
    response.writeHead(step.status, { "content-type": "application/json", ...step.headers });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export function problem(status: number, code: string, more: Record<string, unknown> = {}): Step {
  return {
    status,
    body: {
      type: `/api/docs#${code}`,
      title: "Told",
      status,
      detail: `it is ${code}`,
      code,
      request_id: "r-1",
      ...more,
    },
    headers: { "content-type": "application/problem+json", "x-request-id": "r-1" },
  };
}

/** Where nobody listens any more. */
export async function silentPlace(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise((resolve) => server.close(resolve));
  return url;
}
