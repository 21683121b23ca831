// Which addresses of the internet are anybody's to call. Deny by default: IPv4 outside the special registry, IPv6 inside the
// global unicast block without its special parts, and an IPv4 address that travels inside an IPv6 one is judged too. Pure.

/** 4 or 16 bytes. */
export type Address = readonly number[];

export interface Block {
  bytes: Address;
  bits: number;
}

/** The bytes of an address as it is written; null for anything else (names, zones, octal, hexadecimal, short forms). */
export function parseAddress(text: string): Address | null {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): Address | null {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return null;
  const parts = text.split(".");
  // A leading zero is octal to some readers and decimal to others.
  if (parts.some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith("0")))) return null;
  return parts.map(Number);
}

function parseIpv6(text: string): Address | null {
  if (text.length > 45 || !/^[0-9a-f:.]+$/i.test(text)) return null;
  const halves = text.split("::");
  if (halves.length > 2) return null;
  // Only the last four bytes may be written as IPv4.
  const [head, tail] = halves.map((half, at) => groupsOf(half, at === halves.length - 1));
  if (head === undefined || head === null || tail === null) return null;
  if (tail === undefined) return head.length === 16 ? head : null;
  // "::" stands for at least one group.
  if (head.length + tail.length > 14) return null;
  return [...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

/** "1:2:1.2.3.4" as bytes. */
function groupsOf(text: string, is_last: boolean): number[] | null {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    if (group.includes(".")) {
      const inner = is_last && at === groups.length - 1 ? parseIpv4(group) : null;
      if (inner === null) return null;
      bytes.push(...inner);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
  }
  return bytes;
}

/** "10.0.0.0/8", "fd00::/8", or one address. */
export function parseBlock(text: string): Block | null {
  const [address = "", bits, ...more] = text.split("/");
  const bytes = parseAddress(address);
  if (bytes === null || more.length > 0) return null;
  if (bits === undefined) return { bytes, bits: bytes.length * 8 };
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > bytes.length * 8) return null;
  return { bytes, bits: Number(bits) };
}

/** An IPv4 block holds no IPv6 address, however it is mapped. */
export function isIn(address: Address, block: Block): boolean {
  if (address.length !== block.bytes.length) return false;
  for (let at = 0, left = block.bits; left > 0; at++, left -= 8) {
    const mask = left >= 8 ? 255 : (255 << (8 - left)) & 255;
    if (((address[at]! ^ block.bytes[at]!) & mask) !== 0) return false;
  }
  return true;
}

type Named = readonly [block: string, what: string];

/** The IANA IPv4 special-purpose registry, all of it, and what clouds keep for themselves in public space. */
const special_ipv4: readonly Named[] = [
  ["0.0.0.0/8", "this network"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "carrier-grade NAT"],
  ["127.0.0.0/8", "loopback"],
  ["168.63.129.16/32", "a cloud's own service"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "protocol assignments"],
  ["192.0.2.0/24", "documentation"],
  ["192.31.196.0/24", "AS112"],
  ["192.52.193.0/24", "AMT"],
  ["192.88.99.0/24", "6to4 relay"],
  ["192.168.0.0/16", "private"],
  ["192.175.48.0/24", "AS112"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved or broadcast"],
];

/** Ranges of the global unicast block that are special. */
const special_ipv6: readonly Named[] = [
  ["2001::/23", "protocol assignments, Teredo among them"],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "6to4"],
  ["2620:4f:8000::/48", "AS112"],
  ["3fff::/20", "documentation"],
];

/** Where an IPv4 address stands inside an IPv6 one. */
const embeddings: readonly (readonly [block: string, what: string, at: number])[] = [
  ["::ffff:0:0/96", "IPv4-mapped", 12],
  ["::ffff:0:0:0/96", "IPv4-translated", 12],
  ["::/96", "IPv4-compatible", 12],
  ["64:ff9b::/96", "NAT64", 12],
  ["64:ff9b:1::/48", "local NAT64", 12],
  ["2002::/16", "6to4", 2],
  ["2001::/32", "Teredo", 12],
];

const blocks_ipv4 = special_ipv4.map(([text, what]) => ({ block: parseBlock(text)!, what }));
const blocks_ipv6 = special_ipv6.map(([text, what]) => ({ block: parseBlock(text)!, what }));
const embedding_blocks = embeddings.map(([text, what, at]) => ({ block: parseBlock(text)!, what, at }));
const global_unicast = parseBlock("2000::/3")!;
const unspecified_or_loopback = parseBlock("::/127")!;
const teredo = parseBlock("2001::/32")!;

/** Why an address is not anybody's to call; null when it is. */
export function specialAddress(address: Address): string | null {
  if (address.length === 4) return blocks_ipv4.find(({ block }) => isIn(address, block))?.what ?? null;
  const inner = innerIpv4(address);
  if (inner !== null) {
    const what = specialAddress(inner.address);
    return what === null ? inner.what : `${inner.what} of ${inner.address.join(".")} (${what})`;
  }
  if (!isIn(address, global_unicast)) return "outside the global unicast block";
  return blocks_ipv6.find(({ block }) => isIn(address, block))?.what ?? isatap(address);
}

/** The IPv4 address that packets to this one would in the end reach. */
export function innerIpv4(address: Address): { address: Address; what: string } | null {
  const found = address.length === 16 ? embedding_blocks.find(({ block }) => isIn(address, block)) : undefined;
  // "::" and "::1" are IPv6's own.
  if (found === undefined || isIn(address, unspecified_or_loopback)) return null;
  const bytes = address.slice(found.at, found.at + 4);
  // Teredo writes its client's address with every bit turned.
  return { address: isIn(address, teredo) ? bytes.map((byte) => byte ^ 255) : bytes, what: found.what };
}

/** A tunnel endpoint writes its IPv4 address into the lower half, in whatever prefix. */
function isatap(address: Address): string | null {
  const mark = (address[8]! & 0xfd) === 0 && address[9] === 0 && address[10] === 0x5e && address[11] === 0xfe;
  const what = mark ? specialAddress(address.slice(12)) : null;
  return what === null ? null : `ISATAP of ${address.slice(12).join(".")} (${what})`;
}
