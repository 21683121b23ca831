// A server of rasters over TLS, as others have them: with ranges and checksums, or badly. Its certificate is signed by an authority that
// nobody knows but whoever is told of it. Its keys guard nothing.

import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

export const authority = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUHNc+2os1eEM2uMm1waLuZy6TYXcwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPRmFuZm9sZCB0ZXN0IENBMCAXDTI2MTExNjE0NDAwMloYDzIx
MjYxMDIzMTQ0MDAyWjAaMRgwFgYDVQQDDA9GYW5mb2xkIHRlc3QgQ0EwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAARIA9ztKqoWpKrLyaQCfs5UX1B0mg2r4KQwca+j
ezsIN8inc7TT5JLDwO2kJyjLSkwDpRE2BxqclH6kCEgs/IdPo2MwYTAdBgNVHQ4E
FgQU40r+TE5zZ3P09FvhmOkEg77QNHYwHwYDVR0jBBgwFoAU40r+TE5zZ3P09Fvh
mOkEg77QNHYwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAgQwCgYIKoZI
zj0EAwIDSAAwRQIgVaOTr8qjbN1EcKGP3LfzKFu8leMeEnfRQ8xJewwWYhMCIQDW
WS4yOblwr7O8zMVyh095WviDengsl9n5UPa5UXHPkw==
-----END CERTIFICATE-----
`;

const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3ipOZX5Z2WPD90hJ
5rkZq/YY5UqdE4AvvbUSYxr9yNihRANCAATChRr2PtNXuRZcdO1t/wvwwJWH1Jqm
0zuSvql5sl1ythVU8aViNAiqgBlcV+FSCb+o8H6A388MN0l7gSa9VhR0
-----END PRIVATE KEY-----`;

const cert = `-----BEGIN CERTIFICATE-----
MIIBmDCCAT6gAwIBAgIUL3x/CN3q9kudzq20LYBI4S7oZmwwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPRmFuZm9sZCB0ZXN0IENBMCAXDTI2MTExNjE0NDAwMloYDzIx
MjYxMDIzMTQ0MDAyWjASMRAwDgYDVQQDDAdyYXN0ZXJzMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEwoUa9j7TV7kWXHTtbf8L8MCVh9SaptM7kr6pebJdcrYVVPGl
YjQIqoAZXFfhUgm/qPB+gN/PDDdJe4EmvVYUdKNoMGYwDwYDVR0RBAgwBocEfwAA
ATATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUIWV6FazM5qUcusPYug0B
ONXBVqgwHwYDVR0jBBgwFoAU40r+TE5zZ3P09FvhmOkEg77QNHYwCgYIKoZIzj0E
AwIDSAAwRQIgDx+3kXJnp9f4vjcl64S20K1la9Vvp7AwDTSPCB9ar00CIQC5WHYu
4UrHNmedBtj4H8v6Uh9acoDi6Mk6zgngmNrbpg==
-----END CERTIFICATE-----`;

type Answer = (request: IncomingMessage, response: ServerResponse, times: number) => void;

export interface RasterShop {
  port: number;
  url(path: string): string;
  /** How often it was asked for. */
  asked(path: string): number;
  close(): Promise<void>;
}

/** `answers` by path; each is told how often it was asked before. */
export async function openShop(answers: Readonly<Record<string, Answer>>): Promise<RasterShop> {
  const counts = new Map<string, number>();
  const sockets = new Set<Duplex>();
  const server = createServer({ key, cert }, (request, response) => {
    const path = request.url ?? "";
    const times = counts.get(path) ?? 0;
    counts.set(path, times + 1);
    const answer = answers[path];
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response, times);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: (path) => `https://127.0.0.1:${port}${path}`,
    asked: (path) => counts.get(path) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** As a store of objects answers: ranges, a length and a strong ETag. */
export function wholeFile(bytes: Uint8Array, etag = '"one"'): Answer {
  return (request, response) => {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    if (from === undefined) {
      response.writeHead(200, { etag, "content-length": bytes.length }).end(bytes);
      return;
    }
    const part = bytes.subarray(Number(from), Number(to) + 1);
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`;
    response.writeHead(206, { etag, "content-range": range, "content-length": part.length }).end(part);
  };
}

/** The connection breaks in the middle of the first whole answer; those after it are as they should be. */
export function brokenOff(bytes: Uint8Array): Answer {
  let broken = false;
  const good = wholeFile(bytes);
  return (request, response, times) => {
    if (broken || request.headers.range !== undefined) return good(request, response, times);
    broken = true;
    response.writeHead(200, { etag: '"one"', "content-length": bytes.length });
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
  };
}

export function movedTo(location: string): Answer {
  return (_, response) => void response.writeHead(302, { location }).end();
}

/** Neither ranges nor a length: how much it is shows when it has come. */
export function unmeasured(bytes: Uint8Array): Answer {
  return (_, response) => {
    response.writeHead(200, { "content-type": "image/tiff" });
    response.write(bytes);
    response.end();
  };
}
