// Server-sent events, however the line cuts them.
import { expect, test } from "vitest";
import { EventReader } from "../../src/client/sse.js";
import { ContractViolation } from "../../src/core/errors/errors.js";

function read(...pieces: string[]) {
  const reader = new EventReader();
  return { events: pieces.flatMap((piece) => reader.push(piece)), reader };
}

const said = (data: string, more: { id?: string; event?: string } = {}) => ({
  id: "",
  event: "message",
  data,
  ...more,
});

test("an event ends with an empty line; what is unfinished is not told", () => {
  expect(read("data: one\n\ndata: two\n").events).toEqual([said("one")]);
  expect(read("data: one\n\ndata: two\n", "\n").events).toEqual([said("one"), said("two")]);
});

test("lines end with LF, CR or CRLF, mixed", () => {
  expect(read("data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\n").events).toEqual(
    ["a", "b", "c", "d"].map((one) => said(one)),
  );
});

test("however the text is cut into pieces, the same events come", () => {
  const text =
    '\ufeff: hello\r\nretry: 1500\r\nid: 7\r\nevent: job\r\ndata: {"a":\r\ndata:  1}\r\n\r\nid\r\ndata\r\n\r\nid: 9\rdata: ü𝄞\r\rnothing: here\n\ndata:x\n\n';
  const whole = read(text);
  expect(whole.events).toEqual([
    { id: "7", event: "job", data: '{"a":\n 1}' },
    { id: "", event: "message", data: "" },
    { id: "9", event: "message", data: "ü𝄞" },
    { id: "9", event: "message", data: "x" },
  ]);
  expect(whole.reader.retry_ms).toBe(1500);
  for (let size = 1; size <= text.length; size++) {
    const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g"))!;
    expect([size, read(...pieces).events]).toEqual([size, whole.events]);
  }
  for (let at = 0; at <= text.length; at++) {
    expect([at, read(text.slice(0, at), "", text.slice(at)).events]).toEqual([at, whole.events]);
  }
});

test("bytes are cut inside a character, and nothing is lost", () => {
  const bytes = new TextEncoder().encode("data: 𝄞ü\n\n");
  for (let at = 0; at <= bytes.length; at++) {
    const decoder = new TextDecoder();
    const pieces = [bytes.subarray(0, at), bytes.subarray(at)].map((piece) => decoder.decode(piece, { stream: true }));
    expect(read(...pieces).events).toEqual([said("𝄞ü")]);
  }
});

test("one space after the colon is dropped, others are kept; a colon in the value is the value's", () => {
  expect(read("data:  two: 2\ndata:one\n\n").events).toEqual([said(" two: 2\none")]);
});

test("comments keep the line open and mean nothing; a name without data is no event", () => {
  const { events, reader } = read(": ping\n\n: ping\n\nevent: job\nid: 4\n\ndata: x\n\n");
  expect(events).toEqual([said("x", { id: "4" })]);
  expect(reader.last_id).toBe("4");
});

test("an id with NUL and a retry that is no number are passed over", () => {
  const { events, reader } = read("id: 1\nid: 2\0\nretry: 1e3\nretry: -1\ndata: x\n\n");
  expect(events).toEqual([said("x", { id: "1" })]);
  expect(reader.retry_ms).toBeNull();
});

test("a mark of order in the middle is data", () => {
  expect(read("data: a\n\n", "\ufeffdata: b\n\ndata: \ufeffc\n\n").events).toEqual([said("a"), said("\ufeffc")]);
});

test("a line or an event that never ends is refused before it fills the memory", () => {
  const endless = new EventReader();
  const piece = "x".repeat(1024 * 1024);
  expect(() => {
    for (let n = 0; n < 10; n++) endless.push(piece);
  }).toThrow(ContractViolation);
  const many = new EventReader();
  expect(() => {
    for (let n = 0; n < 10; n++) many.push(`data: ${piece}\n`);
  }).toThrow(ContractViolation);
});
