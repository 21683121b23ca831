// The way to a server: which of its addresses answers. Names are resolved anew for every connection, so that after a failover
// the next one goes where the name points by then.
import { connect, type Socket } from "node:net";
import { NoAnswer, unreachable } from "./server_errors.js";

/** How long connecting to one host may take, the look-up of its name included. */
const connect_s = 3;
/** How long one address may take, where the name has several: then the next is tried. */
const address_ms = 1_000;

/** `postgres:///maps?host=/run/postgresql`: libpq's way to name a Unix socket, which postgres.js takes for a setting. */
export function socketFolder(url: string): { address: string; host?: string } {
  const match = /[?&]host=([^&]+)/.exec(url);
  if (match?.[1] === undefined) return { address: url };
  const address = url
    .replace(match[0], match[0].startsWith("?") ? "?" : "")
    .replace(/\?(&|$)/, (_, next) => (next ? "?" : ""));
  return { address, host: decodeURIComponent(match[1]) };
}

export interface Where {
  host: string[];
  port: number[];
  path: string | false;
}

/** The socket, and which of the hosts it leads to. */
export interface Opened {
  socket: Socket;
  number: number;
  name: string;
}

/** The first host that answers, from the one on that is to be asked first. */
export async function openSocket({ host, port, path }: Where, first = 0): Promise<Opened> {
  if (path) return { socket: await connected(connect({ path }), path), number: 0, name: "localhost" };
  let failure: unknown;
  const hosts = host.map((name, number) => ({ name, number }));
  for (const { name, number } of [...hosts.slice(first), ...hosts.slice(0, first)]) {
    try {
      const socket = connect({
        host: name,
        port: port[number] ?? 5432,
        autoSelectFamilyAttemptTimeout: address_ms,
        // Statements are small and waited for: Nagle's algorithm would hold the second of two back.
        noDelay: true,
      });
      // TLS takes the name to verify from here.
      const open = Object.assign(await connected(socket, `${name}:${port[number]}`), { host: name });
      return { socket: open, number, name };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function connected(socket: Socket, where: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new NoAnswer(`cannot reach the database at ${where}: no answer within ${connect_s} s`));
    }, connect_s * 1000);
    const onError = (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      socket.destroy();
      reject(unreachable(where, error.code ?? error.message));
    };
    socket.once("error", onError);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeListener("error", onError);
      resolve(socket);
    });
  });
}
