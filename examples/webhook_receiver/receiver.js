// Receives webhooks, and believes only those that are signed.
import { once } from "node:events";
import { createServer } from "node:http";
import { verifyWebhook, WebhookRefused } from "fanfold/client";

/** Fanfold's messages are smaller; whoever sends more is somebody else. */
const most_bytes = 64 * 1024;

/** `secrets()` gives the endpoint's secrets, two while one is replaced; `onWebhook` is called once for each message. */
export async function startReceiver({ secrets, onWebhook, port = 0 }) {
  // A message is sent again when our answer was lost. In real life this is a unique column in your database.
  const seen = new Set();

  const server = createServer(async (request, response) => {
    try {
      const body = await readBytes(request);
      const { id, payload } = await verifyWebhook({ secrets: secrets(), headers: request.headers, body });
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
  return {
    url: `http://127.0.0.1:${server.address().port}/webhooks`,
    port: server.address().port,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The bytes exactly as they came: parsed and written again they would be others, and the signature is over bytes. */
async function readBytes(request) {
  const pieces = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    if (bytes > most_bytes) throw new WebhookRefused("bad_header", "this is too large for a webhook");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
