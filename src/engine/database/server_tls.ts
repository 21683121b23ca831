// TLS to a server, made before the driver has the connection: the driver would keep the socket below it to itself, and what is written there after
// a loss would end the process.
import { isIP, type Socket } from "node:net";
import { checkServerIdentity, connect, type PeerCertificate } from "node:tls";
import { DatabaseError } from "./database.js";
import type { Tls } from "./server_address.js";
import { NoAnswer, serverError } from "./server_errors.js";

const ssl_request = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);
const handshake_s = 5;

/** The socket that is spoken through from here on. */
export async function secured(socket: Socket, name: string, tls: Tls): Promise<Socket> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new NoAnswer(`the database at ${name} did not answer in time`)),
        handshake_s * 1000,
      );
    });
    return await Promise.race([late, handshake(socket, name, tls)]);
  } catch (error) {
    socket.destroy();
    throw serverError(error, null);
  } finally {
    clearTimeout(timer);
  }
}

async function handshake(socket: Socket, name: string, tls: Tls): Promise<Socket> {
  const answer = await new Promise<Buffer>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", () => reject(new DatabaseError("08006", `${name} closed the connection`)));
    socket.once("data", resolve);
    socket.write(ssl_request);
  });
  socket.removeAllListeners("error").removeAllListeners("close").pause();
  // More than one byte was not sent by the server, but put there by somebody in between.
  if (answer.length !== 1) throw new DatabaseError("08P01", `${name} sent more than an answer to the wish for TLS`);
  if (answer[0] !== 0x53) {
    if (tls.may_be_plain) return socket;
    const hint = "turn ssl on there, or say sslmode=disable";
    throw new DatabaseError("08001", `the database at ${name} does not take TLS`, { hint });
  }
  // Node would compare with "localhost" where the host is an address.
  const compare = (_: string, certificate: PeerCertificate) => checkServerIdentity(name, certificate);
  const names = isIP(name) === 0 ? { servername: name } : {};
  const secure = connect({ socket, ...names, checkServerIdentity: compare, ...tls.options() });
  await new Promise<void>((resolve, reject) => {
    secure.once("error", reject);
    secure.once("close", () => reject(new DatabaseError("08006", `${name} closed the connection`)));
    secure.once("secureConnect", resolve);
  });
  // The driver listens from its next turn on; what happens until then is told by the close that follows.
  secure.removeAllListeners("close").on("error", () => {});
  return secure;
}
