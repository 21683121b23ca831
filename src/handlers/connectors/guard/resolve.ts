// From a host name to the addresses that may be called: asked once, with a deadline, every answer judged. One bad answer
// refuses the name, because the owner of the name chooses which one a second look would give.
import { lookup, Resolver } from "node:dns/promises";
import { Transient } from "../../../core/errors/errors.js";
import { type JudgedUrl, judgeAddress, type OutboundPolicy } from "../../../core/places/outbound.js";
import { OutboundRefused } from "./errors.js";

export interface Vetted {
  address: string;
  family: 4 | 6;
}

type Target = Exclude<JudgedUrl, { refused: string }>;

export async function vettedAddresses(target: Target, policy: OutboundPolicy, signal: AbortSignal): Promise<Vetted[]> {
  const { host, port } = target;
  // An address needs no resolving, and was judged with its URL.
  if (target.address !== null) return [{ address: host, family: target.address.length === 4 ? 4 : 6 }];
  const found = await resolved(host, policy, signal);
  for (const { address } of found) {
    const why = judgeAddress(address, port, policy);
    if (why !== null) throw new OutboundRefused(`${host} resolves to what may not be called: ${why}`);
  }
  return found;
}

async function resolved(host: string, policy: OutboundPolicy, signal: AbortSignal): Promise<Vetted[]> {
  const deadline_ms = policy.connect_timeout_ms;
  const is_own = policy.resolver === undefined && policy.allow_names.some((name) => name.toLowerCase() === host);
  const asking = is_own ? fromSystem(host) : fromDns(host, policy, deadline_ms, signal);
  const found = await withDeadline(asking, host, deadline_ms, signal);
  if (found.length === 0) throw new OutboundRefused(`${host} does not exist`);
  return found;
}

/** Names of the own network may stand in this machine's hosts file, which DNS does not know. */
async function fromSystem(host: string): Promise<Vetted[]> {
  try {
    return (await lookup(host, { all: true, verbatim: true })) as Vetted[];
  } catch {
    return [];
  }
}

async function fromDns(host: string, policy: OutboundPolicy, timeout: number, signal: AbortSignal): Promise<Vetted[]> {
  const resolver = new Resolver({ timeout: Math.max(1, Math.floor(timeout / 2)), tries: 2 });
  if (policy.resolver !== undefined) resolver.setServers([policy.resolver]);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  const timer = setTimeout(cancel, timeout);
  try {
    // The dot makes it a whole name: no search list of this machine's is tried.
    const [ipv4, ipv6] = await Promise.allSettled([
      resolver.resolve4(`${host}.`).catch(noSuchName),
      resolver.resolve6(`${host}.`).catch(noSuchName),
    ]);
    const found = [...answers(ipv4, 4), ...answers(ipv6, 6)];
    // One kind of answer is enough, as only what was seen is called; none at all may be a fault that passes.
    if (found.length === 0) for (const one of [ipv4, ipv6]) if (one.status === "rejected") throw one.reason;
    return found;
  } catch {
    signal.throwIfAborted();
    throw new Transient(`the name ${host} could not be resolved now`, { code: "dns" });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

function answers(asked: PromiseSettledResult<string[]>, family: 4 | 6): Vetted[] {
  return asked.status === "fulfilled" ? asked.value.map((address) => ({ address, family })) : [];
}

function noSuchName(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOTFOUND" || error.code === "ENODATA") return [];
  throw error;
}

async function withDeadline<T>(work: Promise<T>, host: string, ms: number, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Transient(`the name ${host} could not be resolved in time`, { code: "dns" })),
      ms + 100,
    );
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort!);
    late.catch(() => {});
    work.catch(() => {});
  }
}
