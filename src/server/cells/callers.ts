// From where a call comes, as far as that can be believed: what a proxy of ours says of it, and of a stranger's call nothing but its own address.
import type { IncomingMessage } from "node:http";
import { isIn, parseAddress, parseBlock } from "../../core/places/addresses.js";
import type { TrustedProxies } from "../../core/values/setting_values.js";

export interface CallFrom {
  /** What limits count by. */
  address: string;
  /** For the cell: everybody on its way, the router's own peer last. */
  forwarded_for: string;
  /** Whether a proxy of ours hands it on: what it says of hosts and schemes counts, too. */
  by_proxy: boolean;
}

/** Whether the one at this address is a proxy of ours; `hop` 0 is the peer. */
export type Trusts = (address: string, hop: number) => boolean;

/** The same rule as the cells' own servers have. */
export function trustsOf(trusted: TrustedProxies = 0): Trusts {
  if (typeof trusted === "number") return (_, hop) => hop < trusted;
  const blocks = trusted.map(parseBlock).filter((one) => one !== null);
  return (text) => {
    const address = parseAddress(text);
    return address !== null && blocks.some((block) => isIn(address, block));
  };
}

export function callFrom({ headers, socket }: IncomingMessage, trusts: Trusts): CallFrom {
  // A socket for both families writes IPv4 as ::ffff:10.0.0.1.
  const own = (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/i, "");
  if (!trusts(own, 0)) return { address: own, forwarded_for: own, by_proxy: false };
  const said = String(headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  const way = [...said, own];
  let at = way.length - 1;
  for (let hop = 0; at > 0 && trusts(way[at]!, hop); hop++) at--;
  return { address: way[at]!, forwarded_for: way.join(", "), by_proxy: true };
}
