// What workers will most likely refuse about an address, told to the caller who gives it, where this process does not know the operator's
// policy: it is kept all the same. Where it is known, what it forbids was refused. Only what the address itself says is judged,
// never what a name resolves to.
import { default_policy, judgeUrl, type OutboundPolicy } from "../../core/places/outbound.js";

const unless = "workers refuse it unless the operator opens it for them";

export function addressWarnings(url: string, policy: OutboundPolicy | undefined): string[] {
  if (policy !== undefined) return [];
  const is_http = /^http:/i.test(url);
  const judged = judgeUrl(url, { ...default_policy, allow_http: true });
  return [
    ...(is_http && !default_policy.allow_http ? [`it is http: and not https: ${unless}`] : []),
    ...("refused" in judged ? [`${judged.refused}: ${unless}`] : []),
  ];
}
