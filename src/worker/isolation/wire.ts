// Messages on a stream, each with its length before it. Not Node's own IPC: what a child writes there by mistake (a native
// library that closes a descriptor twice is enough) would throw in the worker, where nobody could catch it.
import type { Readable, Writable } from "node:stream";
import { deserialize, serialize } from "node:v8";

/** The descriptor of the channel in the child. */
export const CHANNEL_FD = 3;

const MARK = 0x464f4c44;
const HEAD_BYTES = 8;
/** A page of results is a few megabytes; what is larger than this is no message. */
const MAX_BYTES = 512 * 1024 * 1024;

export function writeMessage(stream: Writable, message: unknown, then?: () => void): void {
  const body = serialize(message);
  const frame = Buffer.allocUnsafe(HEAD_BYTES + body.length);
  frame.writeUInt32LE(MARK, 0);
  frame.writeUInt32LE(body.length, 4);
  body.copy(frame, HEAD_BYTES);
  stream.write(frame, then);
}

/** `onBroken`: what came is not a message, or could not be heard; nothing more is read. */
export function readMessages(
  stream: Readable,
  heard: (message: unknown) => void,
  onBroken: (why: unknown) => void,
): void {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let wanted = HEAD_BYTES;
  let body_next = false;
  stream.on("data", (chunk: Buffer) => {
    waiting.push(chunk);
    bytes += chunk.length;
    try {
      while (bytes >= wanted) {
        const all = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting);
        const piece = all.subarray(0, wanted);
        waiting = [all.subarray(wanted)];
        bytes -= wanted;
        wanted = body_next ? HEAD_BYTES : lengthIn(piece);
        if (body_next) heard(deserialize(piece));
        body_next = !body_next;
      }
    } catch (error) {
      stream.removeAllListeners("data").resume();
      onBroken(error);
    }
  });
}

function lengthIn(head: Buffer): number {
  const length = head.readUInt32LE(4);
  if (head.readUInt32LE(0) !== MARK || length > MAX_BYTES) throw new Error("not a message");
  return length;
}
