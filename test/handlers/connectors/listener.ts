// HTTP listeners on loopback that count who connects, and raw ones that answer whatever bytes a test likes.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from "node:net";

export interface Listener {
  port: number;
  /** http://127.0.0.1:port */
  url: string;
  /** Connections, whatever was said on them. */
  connections(): number;
  requests: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[];
  close(): Promise<void>;
}

export async function listen(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  host = "127.0.0.1",
  port = 0,
): Promise<Listener> {
  const requests: Listener["requests"] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      requests.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers, body });
      answer(request, response, body);
    });
    response.on("error", () => {});
  });
  return opened(server, requests, host, port);
}

/** Answers raw bytes: the socket is given when its request's head has come. */
export function listenRaw(answer: (socket: Socket) => void): Promise<Listener> {
  const server = createRawServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  return opened(server, [], "127.0.0.1", 0);
}

async function opened(server: Server, requests: Listener["requests"], host: string, at: number): Promise<Listener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(at, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${host}:${port}`,
    connections: () => connections,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
