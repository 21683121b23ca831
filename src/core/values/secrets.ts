// Secrets by reference: parameters and configuration hold `secret://name`, never a value. What a reference looks like, where
// they stand in a value, and putting values in their place. Pure.
import { Permanent } from "../errors/errors.js";
import { quoted } from "../errors/problems.js";

/** What a handler is given to ask with. */
export type AskSecret = (name: string) => Promise<string>;

export const secret_name = /^[a-z0-9](?:[a-z0-9_.-]{0,61}[a-z0-9])?$/;
const reference = /secret:\/\/([A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)/g;

/** "stripe_key" of "stripe_key" or "secret://stripe_key". */
export function checkedSecretName(asked: unknown): string {
  const name = typeof asked === "string" ? asked.replace(/^secret:\/\//, "") : "";
  if (secret_name.test(name)) return name;
  const rule = "up to 63 lower-case letters, digits, _, - and ., with a letter or digit at both ends";
  throw new Permanent(`${quoted(asked)} is not the name of a secret: ${rule}`, { code: "bad_secret_name" });
}

export function hasSecret(text: string): boolean {
  return text.search(reference) >= 0;
}

/** The text with every reference replaced; `written` says how a value is written there, as in a URL. */
export async function withSecrets(
  text: string,
  ask: AskSecret,
  written: (value: string) => string = (value) => value,
): Promise<string> {
  const names = new Set(Array.from(text.matchAll(reference), ([, name]) => name!));
  const values = new Map<string, string>();
  for (const name of names) values.set(name, written(await ask(checkedSecretName(name))));
  return text.replace(reference, (_, name: string) => values.get(name)!);
}

/** The same all through a JSON value. Keys stay what they are. */
export async function withSecretsIn<T>(value: T, ask: AskSecret): Promise<T> {
  if (typeof value === "string") return (hasSecret(value) ? await withSecrets(value, ask) : value) as T;
  if (Array.isArray(value)) return (await Promise.all(value.map((one) => withSecretsIn(one, ask)))) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(async ([key, one]) => [key, await withSecretsIn(one, ask)] as const);
  return Object.fromEntries(await Promise.all(entries)) as T;
}

const secret_words = `authorization cookie password passwd passphrase secret token apikey accesskey
  secretkey privatekey signingkey credential credentials connectionstring`.split(/\s+/);

/** "Authorization", "api_key", "accessToken", "db-password": whatever stands under it is nobody's to read. */
export function isSecretKey(key: string): boolean {
  const plain = key
    .slice(-60)
    .toLowerCase()
    .replace(/[^a-z]/g, "");
  return secret_words.some((word) => plain.endsWith(word));
}
