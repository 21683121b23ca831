// Receives webhooks, and believes only those that are signed.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { verifyWebhook, WebhookRefused } from "fanfold/client";

/** Fanfold's messages are smaller; whoever sends more is somebody else. */
const most_bytes = 64 * 1024;

/** The message about the end of a job, as far as it is used here. */
export interface JobMessage {
  type: string;
  job_type: string;
  status: string;
  final_results: unknown;
}

export interface ReceiverOptions {
  /** The endpoint's secrets: two of them while one is replaced. */
  secrets(): string[];
  /** Called once for each message. */
  onWebhook(message: JobMessage): unknown;
  port?: number;
}

export async function startReceiver({ secrets, onWebhook, port = 0 }: ReceiverOptions) {
  // A message is sent again when our answer was lost. In real life this is a unique column in your database.
  const seen = new Set<string>();

  const server = createServer(async (request, response) => {
    try {
      const body = await readBytes(request);
      const { id, payload } = await verifyWebhook<JobMessage>({ secrets: secrets(), headers: request.headers, body });
      if (!seen.has(id)) {
        await onWebhook(payload);
        seen.add(id);
      }
      response.writeHead(204).end();
    } catch (error) {
      // 401: not from Fanfold. 500: try again later. Nothing is told to whoever forged it.
      response.writeHead(error instanceof WebhookRefused ? 401 : 500).end();
    }
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: own_port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own_port}/webhooks`,
    port: own_port,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The bytes exactly as they came: parsed and written again they would be others, and the signature is over bytes. */
async function readBytes(request: IncomingMessage) {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    if (bytes > most_bytes) throw new WebhookRefused("bad_header", "this is too large for a webhook");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
