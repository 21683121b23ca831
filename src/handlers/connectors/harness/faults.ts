// The faults a connector must live with: what a hostile or broken host does, and what a connector should make of it.
import type { Socket } from "node:net";
import type { Category } from "../../../core/shown/statuses.js";

export interface Fault {
  name: string;
  /** What a connector may call it; "completed" where a good one may also cope. */
  expected: readonly (Category | "completed")[];
  /** At least so many seconds must be waited. */
  retry_after_s?: number;
  tls?: boolean;
  /** Only the connector's own patience ends it. */
  endless?: boolean;
  /** Given the socket when a request's head has come; `elsewhere` is a listener that must not be called. */
  answer(socket: Socket, elsewhere: string): void;
}

const head = (status: string, ...lines: string[]) =>
  `HTTP/1.1 ${status}\r\n${lines.map((one) => `${one}\r\n`).join("")}`;
const empty = (status: string, ...lines: string[]) => `${head(status, "content-length: 0", ...lines)}\r\n`;

function status(line: string, expected: Fault["expected"], ...headers: string[]): Fault {
  return { name: line.split(" ")[0]!, expected, answer: (socket) => socket.end(empty(line, ...headers)) };
}

/** Writes on and on, until the socket is closed or the pieces end. */
function pour(socket: Socket, piece: Buffer, times: number): void {
  let left = times;
  const more = () => {
    while (left > 0 && !socket.destroyed) {
      left -= 1;
      if (!socket.write(piece)) return;
    }
    if (left === 0) socket.end();
  };
  socket.on("drain", more);
  more();
}

export const faults: readonly Fault[] = [
  status("500 Internal Server Error", ["transient"]),
  status("502 Bad Gateway", ["transient"]),
  {
    ...status("503 Service Unavailable", ["throttled"], "retry-after: 7"),
    name: "503 with Retry-After",
    retry_after_s: 7,
  },
  {
    ...status("429 Too Many Requests", ["throttled"], "retry-after: 7"),
    name: "429 with Retry-After",
    retry_after_s: 7,
  },
  status("429 Too Many Requests", ["throttled"]),
  status("408 Request Timeout", ["transient"]),
  status("400 Bad Request", ["permanent"]),
  status("401 Unauthorized", ["permanent"]),
  status("404 Not Found", ["permanent"]),
  status("410 Gone", ["permanent"]),
  { name: "time-out", expected: ["transient"], endless: true, answer: () => {} },
  {
    name: "slow drip",
    expected: ["transient"],
    endless: true,
    answer(socket) {
      socket.write(`${head("200 OK", "content-type: application/json")}\r\n{`);
      const timer = setInterval(() => socket.write(" "), 20);
      socket.on("close", () => clearInterval(timer));
    },
  },
  {
    name: "10 MB reply",
    expected: ["permanent", "completed"],
    answer(socket) {
      socket.write(`${head("200 OK", "content-type: application/json")}\r\n`);
      pour(socket, Buffer.alloc(64 * 1024, "1"), 160);
    },
  },
  {
    name: "redirect",
    expected: ["permanent"],
    answer: (socket, elsewhere) => socket.end(empty("302 Found", `location: ${elsewhere}`)),
  },
  { name: "TLS error", expected: ["permanent"], tls: true, answer: (socket) => socket.end(empty("200 OK")) },
  { name: "connection reset", expected: ["transient"], answer: (socket) => socket.resetAndDestroy() },
  {
    name: "half body",
    expected: ["transient"],
    answer: (socket) =>
      socket.end(`${head("200 OK", "content-type: application/json", "content-length: 500")}\r\n{"half":`),
  },
  {
    name: "not what it says it is",
    expected: ["transient", "permanent", "completed"],
    answer(socket) {
      const page = "<html>we are down for maintenance</html>";
      socket.end(`${head("200 OK", "content-type: application/json", `content-length: ${page.length}`)}\r\n${page}`);
    },
  },
];
