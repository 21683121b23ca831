// A DNS server the test writes the zone of: every question is answered by a function, and counted.
import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";
import { type Answer, decode, encode, type Question } from "dns-packet";

/** What is answered to the nth question (from 0) of one name and type; null: no such name; undefined: no answer ever. */
export type Zone = (name: string, type: string, nth: number) => Answer[] | null | undefined;

export interface DnsServer {
  /** For OutboundPolicy.resolver. */
  address: string;
  asked(name: string, type?: string): number;
  close(): Promise<void>;
}

export async function startDns(zone: Zone): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const counts = new Map<string, number>();
  socket.on("message", (message, from) => {
    const query = decode(message);
    const [question] = (query.questions ?? []) as Question[];
    if (question === undefined) return;
    const key = `${question.name.toLowerCase()} ${question.type}`;
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    const answers = zone(question.name.toLowerCase(), question.type, nth);
    if (answers === undefined) return;
    const reply = {
      type: "response" as const,
      id: query.id,
      questions: [question],
      answers: answers ?? [],
      // Authoritative, recursion available; 3: no such name.
      flags: 0x0480 | (answers === null ? 3 : 0),
    };
    socket.send(encode(reply), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    asked: (name, type = "A") => counts.get(`${name} ${type}`) ?? 0,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

export function a(name: string, data: string): Answer {
  return { type: "A", name, data, ttl: 0 };
}

export function aaaa(name: string, data: string): Answer {
  return { type: "AAAA", name, data, ttl: 0 };
}

export function cname(name: string, data: string): Answer {
  return { type: "CNAME", name, data, ttl: 0 };
}
