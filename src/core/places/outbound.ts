// What handlers may call in the outside world: the policy an operator sets, what it makes of an address and of a URL, and how
// a tenant narrows it. Nothing is allowed that is not said here. Pure: names are resolved by the code that calls.

import { BadRequest } from "../errors/errors.js";
import { type Problem, quoted } from "../errors/problems.js";
import { type Address, type Block, innerIpv4, isIn, parseAddress, parseBlock, specialAddress } from "./addresses.js";

export interface OutboundPolicy {
  /** Plain http: too. Off: everything goes over TLS. */
  allow_http: boolean;
  /** The only hosts that may be called: "api.example.com", "*.example.com". Left out: every public one. */
  allow_hosts?: readonly string[] | undefined;
  /** Addresses that are not public and may be called all the same: "10.1.0.0/16", "127.0.0.1:8080", "[::1]:8080". */
  allow_private: readonly string[];
  /** Names of the own network that may be asked for: "intranet", "billing.internal". Their addresses count all the same. */
  allow_names: readonly string[];
  ports: readonly number[];
  /** 0: an answer with a redirect is an answer like any other. */
  max_redirects: number;
  connect_timeout_ms: number;
  headers_timeout_ms: number;
  /** From the first look at the URL to the last byte, all hops together. */
  total_timeout_ms: number;
  max_response_bytes: number;
  max_decompressed_bytes: number;
  max_headers: number;
  max_header_bytes: number;
  /** No refusal is told sooner: how long it took must not tell what was found. */
  refusal_ms: number;
  /** A DNS server, "127.0.0.1:5353"; left out: this machine's. */
  resolver?: string | undefined;
  /** Certificates (PEM) to trust besides the public ones. */
  ca?: string | undefined;
}

export const default_policy: Readonly<OutboundPolicy> = Object.freeze({
  allow_http: false,
  allow_private: [],
  allow_names: [],
  ports: [80, 443],
  max_redirects: 0,
  connect_timeout_ms: 5_000,
  headers_timeout_ms: 10_000,
  total_timeout_ms: 30_000,
  max_response_bytes: 10 * 1024 * 1024,
  max_decompressed_bytes: 50 * 1024 * 1024,
  max_headers: 100,
  max_header_bytes: 32 * 1024,
  refusal_ms: 250,
});

export const max_url_length = 2048;

/** A URL that may be called as far as can be seen from it, or why not: for the operator's eyes. */
export type JudgedUrl = { url: URL; host: string; port: number; address: Address | null } | { refused: string };

/** `base`: the URL that redirects here. */
export function judgeUrl(raw: unknown, policy: OutboundPolicy, base?: URL): JudgedUrl {
  if (typeof raw !== "string") return { refused: "not text" };
  if (raw.length > max_url_length) return { refused: `${raw.length} characters; the limit is ${max_url_length}` };
  // The parser would strip or turn these, and what it makes of them is not what others read.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
  if (/[\u0000-\u0020\u007f-\u00a0\\\p{Z}\p{Cc}\p{Cf}\p{Cs}]/u.test(raw)) {
    return { refused: "a space, control character or backslash in the URL" };
  }
  const url = parsed(raw, base);
  if (url === null) return { refused: "not a URL" };
  if (url.protocol !== "https:" && url.protocol !== "http:") return { refused: `scheme ${url.protocol}` };
  if (url.protocol === "http:" && !policy.allow_http) return { refused: "http: is not allowed" };
  if (base?.protocol === "https:" && url.protocol === "http:") return { refused: "a redirect from https: to http:" };
  if (url.username !== "" || url.password !== "" || /^[a-z]+:\/\/[^/?#]*@/i.test(raw)) {
    return { refused: "a user name or password in the URL" };
  }
  // Some readers take what follows the @ for the host.
  if (url.hash.includes("@")) return { refused: "an @ in the fragment" };
  return judgeHost(url, policy);
}

function parsed(raw: string, base: URL | undefined): URL | null {
  try {
    return new URL(raw, base);
  } catch {
    return null;
  }
}

/** Names that belong to a machine or a network, never to the internet. */
const inner_names = ["localhost", "local", "internal", "localdomain", "lan", "intranet", "home.arpa"];

function judgeHost(url: URL, policy: OutboundPolicy): JudgedUrl {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (host === "") return { refused: "no host" };
  const address = parseAddress(host);
  if (!isAllowedHost(host, policy)) return { refused: `host ${host} is not on the list of allowed hosts` };
  if (address !== null) {
    const why = judgeAddress(host, port, policy);
    return why === null ? { url, host, port, address } : { refused: why };
  }
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) || host.length > 253) return { refused: `not a host name: ${host}` };
  const is_own = policy.allow_names.some((name) => name.toLowerCase() === host);
  if (!is_own && !host.includes(".")) return { refused: `the name ${host} has one part only` };
  if (!is_own && inner_names.some((name) => host === name || host.endsWith(`.${name}`))) {
    return { refused: `the name ${host} belongs to a network of its own` };
  }
  // A port that only certain addresses are opened for is looked at again when the address is known.
  if (!policy.ports.includes(port) && !openings(policy).some((one) => one.port === port)) {
    return { refused: `port ${port} is not allowed` };
  }
  return { url, host, port, address: null };
}

export function isAllowedHost(host: string, { allow_hosts }: Pick<OutboundPolicy, "allow_hosts">): boolean {
  if (allow_hosts === undefined) return true;
  return allow_hosts.some((one) => {
    const pattern = one.toLowerCase().replace(/\.$/, "");
    return pattern.startsWith("*.")
      ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1
      : host === pattern;
  });
}

interface Opening {
  block: Block;
  /** null: the ports of the policy. */
  port: number | null;
}

function openings({ allow_private }: Pick<OutboundPolicy, "allow_private">): Opening[] {
  return allow_private.flatMap((text) => parseOpening(text) ?? []);
}

/** "10.0.0.0/8", "127.0.0.1:8080", "fd00::/8", "[::1]:8080". */
export function parseOpening(text: string): Opening | null {
  const [, bracketed, bare, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const found = parseBlock(bracketed ?? bare ?? text);
  if (found === null || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))) return null;
  return { block: found, port: port === undefined ? null : Number(port) };
}

/** Why this address may not be called at this port; null when it may. */
export function judgeAddress(text: string, port: number, policy: OutboundPolicy): string | null {
  const address = parseAddress(text);
  if (address === null) return `not an address: ${text}`;
  const opening = openings(policy).find(
    (one) => isIn(address, one.block) && (one.port === null ? policy.ports.includes(port) : one.port === port),
  );
  if (opening !== undefined) {
    // Opening NAT64 opens the way to the IPv4 internet, not to what is private behind it.
    const inner = innerIpv4(address);
    return inner === null ? null : judgeAddress(inner.address.join("."), port, policy);
  }
  const special = specialAddress(address);
  if (special !== null) return `${text} is ${special}`;
  return policy.ports.includes(port) ? null : `port ${port} is not allowed`;
}

/** Throws when an address that is to be kept could never be called, as far as can be seen from it. */
export function refuseAddresses(
  addresses: readonly { path: string; url: string }[],
  policy: OutboundPolicy | undefined,
): void {
  if (policy === undefined) return;
  const problems = addresses.flatMap(({ path, url }) => {
    const judged = judgeUrl(url, policy);
    return "refused" in judged ? [{ path, problem: judged.refused, fix: opened_by }] : [];
  });
  if (problems.length === 0) return;
  throw new BadRequest("this address may not be called", { problems });
}

const opened_by =
  "Use a public https address; the operator opens others with FANFOLD_OUTBOUND_…, for server and workers alike.";

/** What is wrong with a policy as an operator wrote it. */
export function policyProblems(policy: Partial<OutboundPolicy>, path = ""): Problem[] {
  const at = (key: string) => (path === "" ? key : `${path}.${key}`);
  const problems: Problem[] = [];
  for (const text of policy.allow_private ?? []) {
    if (parseOpening(text) !== null) continue;
    const fix = 'an address, a block or an address with a port: "10.1.0.0/16", "127.0.0.1:8080", "[::1]:8080"';
    problems.push({ path: at("allow_private"), problem: `${quoted(text)} is not an address`, fix });
  }
  for (const port of policy.ports ?? []) {
    if (Number.isInteger(port) && port >= 1 && port <= 65_535) continue;
    problems.push({
      path: at("ports"),
      problem: `${quoted(port)} is not a port`,
      fix: "a whole number from 1 to 65535",
    });
  }
  for (const host of [...(policy.allow_hosts ?? []), ...(policy.allow_names ?? [])]) {
    if (/^(\*\.)?[a-z0-9_:-]+(\.[a-z0-9_-]+)*$/i.test(host)) continue;
    problems.push({
      path: at("allow_hosts"),
      problem: `${quoted(host)} is not a host`,
      fix: "api.example.com or *.example.com",
    });
  }
  return problems;
}

/** What a tenant may say about its own calls: each of it can only take away. */
export interface Narrowing {
  allow_http?: boolean | undefined;
  allow_hosts?: readonly string[] | undefined;
  ports?: readonly number[] | undefined;
  max_redirects?: number | undefined;
  timeout_s?: number | undefined;
  max_response_bytes?: number | undefined;
}

export function narrowed(policy: OutboundPolicy, by: Narrowing): OutboundPolicy {
  const total_timeout_ms = Math.min(policy.total_timeout_ms, (by.timeout_s ?? Number.POSITIVE_INFINITY) * 1000);
  return {
    ...policy,
    allow_http: policy.allow_http && (by.allow_http ?? true),
    ...narrowedHosts(policy, by.allow_hosts),
    ...(by.ports === undefined ? {} : narrowedPorts(policy, by.ports)),
    max_redirects: Math.min(policy.max_redirects, by.max_redirects ?? policy.max_redirects),
    total_timeout_ms,
    headers_timeout_ms: Math.min(policy.headers_timeout_ms, total_timeout_ms),
    connect_timeout_ms: Math.min(policy.connect_timeout_ms, total_timeout_ms),
    max_response_bytes: Math.min(policy.max_response_bytes, by.max_response_bytes ?? Number.POSITIVE_INFINITY),
    max_decompressed_bytes: Math.min(policy.max_decompressed_bytes, by.max_response_bytes ?? Number.POSITIVE_INFINITY),
  };
}

/** What both lists allow: of each, the patterns that the other covers. */
function narrowedHosts(
  policy: OutboundPolicy,
  asked: readonly string[] | undefined,
): { allow_hosts?: readonly string[] } {
  const { allow_hosts } = policy;
  if (asked === undefined) return {};
  if (allow_hosts === undefined) return { allow_hosts: asked };
  const both = [
    ...asked.filter((one) => allow_hosts.some((other) => covers(other, one))),
    ...allow_hosts.filter((one) => asked.some((other) => covers(other, one))),
  ];
  return { allow_hosts: [...new Set(both)] };
}

function covers(pattern: string, other: string): boolean {
  if (!other.startsWith("*.")) return isAllowedHost(other.toLowerCase(), { allow_hosts: [pattern] });
  return pattern.startsWith("*.") && other.toLowerCase().endsWith(pattern.slice(1).toLowerCase());
}

/** An opening for one port goes when that port goes. */
function narrowedPorts(
  policy: OutboundPolicy,
  ports: readonly number[],
): Pick<OutboundPolicy, "ports" | "allow_private"> {
  const allow_private = policy.allow_private.filter((text) => {
    const port = parseOpening(text)?.port ?? null;
    return port === null || ports.includes(port);
  });
  return { ports: policy.ports.filter((port) => ports.includes(port)), allow_private };
}
