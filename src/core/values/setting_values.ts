// What the text of a setting means, or what is wrong with it. Texts that may hold a password are never shown.

import { type Retry, retryFromText } from "../declare/retry.js";
import { quoted, suggestion } from "../errors/problems.js";
import { parseBlock } from "../places/addresses.js";
import { type OutboundPolicy, policyProblems } from "../places/outbound.js";
import { parseZonePlace } from "../places/zone_place.js";

/** The value, or what is wrong with the text. */
export type Answer<T> = { value: T } | { problem: string; fix: string };

export type TrustedProxies = number | readonly string[];

export function readText(text: string): Answer<string> {
  return text.includes("\0") ? { problem: "has the character NUL in it", fix: "give a path" } : { value: text };
}

/** Never shown either. */
export function readToken(text: string): Answer<string> {
  return /^[\x21-\x7e]{16,200}$/.test(text)
    ? { value: text }
    : {
        problem: "is not a token of 16 to 200 visible characters",
        fix: "make one with: openssl rand -hex 24",
      };
}

/** The text itself is never shown: it may hold a password. */
export function readUrl(text: string): Answer<string> {
  const fix = "postgres://user:password@host:5432/database";
  if (!/^postgres(ql)?:\/\//.test(text)) return { problem: "is not a postgres:// address", fix };
  try {
    // Several hosts are fine for Postgres but not for URL.
    new URL(text.replace(/^([^/]*\/\/(?:[^@/]*@)?)[^/?]*,[^/?]*/, "$1host"));
    return { value: text };
  } catch {
    return { problem: "is not an address that can be read", fix: `${fix}; encode special characters of the password` };
  }
}

/** A proxy that is trusted by mistake may choose the address that calls are counted for: nothing is guessed. */
export function readProxies(text: string): Answer<TrustedProxies> {
  if (/^\d{1,2}$/.test(text) && Number(text) <= 10) return { value: Number(text) };
  const networks = text.split(",").map((one) => one.trim());
  const wrong = networks.find((one) => parseBlock(one) === null);
  if (wrong === undefined) return { value: networks };
  return {
    problem: `${quoted(wrong)} is neither a number of proxies from 0 to 10 nor a network`,
    fix: "1 for one proxy, or its networks: 10.0.0.0/8,fd00::/8",
  };
}

export function readRetryText(text: string): Answer<Retry> {
  const read = retryFromText(text);
  if ("retry" in read) return { value: read.retry };
  return {
    problem: read.problems.map(({ problem }) => problem).join("; "),
    fix: "attempts=5,base_s=1,cap_s=60,within_s=900",
  };
}

export function readPublicUrl(text: string): Answer<string> {
  const fix = "https://maps.example.org, or with a path: https://example.org/fanfold";
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return { problem: `${quoted(text)} is not an address`, fix };
  const { username, password, search, hash, href } = new URL(text);
  if (username + password !== "") return { problem: "has a user or a password in it", fix };
  if (search + hash !== "" || /[?#]$/.test(text)) return { problem: `${quoted(text)} has more than a path`, fix };
  return { value: href.replace(/\/+$/, "") };
}

/** An address that is called as it is: a secret may be a part of its path. */
export function readCallUrl(text: string): Answer<string> {
  const fix = "https://hooks.example.org/alerts";
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return { problem: "is not an address", fix };
  const { username, password, href } = new URL(text);
  return username + password === "" ? { value: href } : { problem: "has a user or a password in it", fix };
}

export function readNames(text: string): Answer<string[]> {
  const words = text.split(",").map((word) => word.trim());
  return words.every((word) => word !== "")
    ? { value: words }
    : { problem: "has an empty name in it", fix: "names with commas between" };
}

/** Only those with a public and a private half: with a shared secret, a service that can verify can also make tokens. */
const algorithms = [
  "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
]; // biome-ignore format: a list of words

export function readAlgorithms(text: string): Answer<string[]> {
  const words = text.split(",").map((word) => word.trim());
  const wrong = words.find((word) => !algorithms.includes(word));
  return wrong === undefined
    ? { value: words }
    : {
        problem: `${quoted(wrong)} is not an algorithm that tokens may be signed with`,
        fix: suggestion(wrong, algorithms),
      };
}

/** Who can change the keys on their way can make tokens: only over TLS, or on this very machine. */
export function readKeysUrl(text: string): Answer<string> {
  const fix = "https://…/jwks.json";
  if (!URL.canParse(text)) return { problem: `${quoted(text)} is not an address`, fix };
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return { problem: "has a user or a password in it", fix };
  const is_here = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  if (protocol === "https:" || (protocol === "http:" && is_here)) return { value: text };
  return { problem: `${quoted(text)} is not an https:// address`, fix };
}

export function readKeys(text: string): Answer<readonly Uint8Array[]> {
  // Never shown: each is a key.
  const keys = text.split(",").map((one) => Buffer.from(one.trim(), "base64"));
  if (keys.every(({ length }) => length === 32)) return { value: keys };
  const fix = "32 random bytes in base64 (openssl rand -base64 32); several with commas, the one that seals first";
  return { problem: "is not a key of 32 bytes in base64", fix };
}

/** The text itself is not shown: it may hold a password by mistake. */
export function readZone(text: string): Answer<string> {
  const parsed = parseZonePlace(text);
  return "place" in parsed ? { value: text } : parsed;
}

export function readEndpoint(text: string): Answer<string> {
  const fix = "http://127.0.0.1:9000 or https://…; credentials come from the vendor's usual environment";
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return { problem: "is not an http(s):// address", fix };
  const { username, password, search, hash } = new URL(text);
  if (username + password + search + hash !== "") return { problem: "has more in it than an address", fix };
  return { value: text.replace(/\/+$/, "") };
}

export function readHours(text: string): Answer<number> {
  const hours = Number(text);
  return Number.isFinite(hours) && hours >= 1 && hours <= 8_760
    ? { value: hours }
    : { problem: `${quoted(text)} is not a number of hours from 1 to 8760`, fix: "24" };
}

export function readOrigins(text: string): Answer<string[]> {
  const origins = text.split(",").map((one) => one.trim());
  const wrong = origins.find((one) => one !== "*" && !(URL.canParse(one) && new URL(one).origin === one));
  return wrong === undefined
    ? { value: origins }
    : { problem: `${quoted(wrong)} is not an origin`, fix: "https://maps.example.com, several with commas, or *" };
}

export function readList(policyOf: (list: string[]) => Partial<OutboundPolicy>) {
  return (text: string): Answer<string[]> => {
    const list = text
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "");
    const [first] = policyProblems(policyOf(list));
    return first === undefined ? { value: list } : { problem: first.problem, fix: first.fix };
  };
}

export function readTenant(text: string): Answer<string> {
  return /^[a-z0-9][a-z0-9_-]{0,62}$/.test(text)
    ? { value: text }
    : {
        problem: `${quoted(text)} is not a tenant's name`,
        fix: "up to 63 lower-case letters, digits, - and _, starting with a letter or digit",
      };
}

export function readSwitch(text: string): Answer<boolean> {
  const word = text.toLowerCase();
  if (["1", "true", "on", "yes"].includes(word)) return { value: true };
  if (["0", "false", "off", "no"].includes(word)) return { value: false };
  return { problem: `${quoted(text)} is neither on nor off`, fix: "on or off" };
}

export function readHost(text: string): Answer<string> {
  return /^[A-Za-z0-9._:-]{1,255}$/.test(text)
    ? { value: text }
    : { problem: `${quoted(text)} is not an address`, fix: "127.0.0.1, or 0.0.0.0 for every address of this machine" };
}

/** One of a few words, in capitals or not. */
export function oneOf<Word extends string>(words: readonly Word[], noun: string) {
  return (text: string): Answer<Word> => {
    const found = words.find((one) => one === text.toLowerCase());
    return found ? { value: found } : { problem: `${quoted(text)} is not ${noun}`, fix: suggestion(text, words) };
  };
}

export function wholeNumber(least: number, most: number, noun: string, fix: string) {
  return (text: string): Answer<number> => {
    const number = Number(text);
    return Number.isInteger(number) && number >= least && number <= most
      ? { value: number }
      : { problem: `${quoted(text)} is not ${noun}`, fix };
  };
}

export const readPort = wholeNumber(0, 65_535, "a port", "a whole number from 1 to 65535, or 0 for any that is free");
export const readSlots = wholeNumber(
  1,
  10_000,
  "a whole number from 1 to 10000",
  "8, or about as many tasks as this machine can run at once",
);
export const lease_limits = { least: 5, most: 3600 } as const;
export const readLease = wholeNumber(
  lease_limits.least,
  lease_limits.most,
  `a whole number of seconds from ${lease_limits.least} to ${lease_limits.most}`,
  "30, or what its longest pause may be",
);
export const readWait = wholeNumber(0, 86_400, "a whole number of seconds up to 86400", "60, or 0 for not at all");
const megabytes = "a whole number of megabytes";
export const readMemory = wholeNumber(1, 2 ** 31 - 1, megabytes, "6144, or leave it to the worker");
export const readLargest = wholeNumber(1, 100_000_000, `${megabytes} from 1`, "16384");
export const readMegabytes = wholeNumber(0, 100_000_000, megabytes, "10240, or 0 for none");

export function readPrepare(text: string): Answer<boolean | "auto"> {
  if (text === "auto") return { value: text };
  const answer = readSwitch(text);
  return "value" in answer ? answer : { ...answer, fix: "auto, on or off" };
}

/** 0 megabytes for all of a tenant: it may bring none. */
export function uploadLimits(max_mb: number, tenant_mb: number): { max_bytes: number; tenant_bytes: number } {
  return { max_bytes: max_mb * 1024 * 1024, tenant_bytes: tenant_mb * 1024 * 1024 };
}
