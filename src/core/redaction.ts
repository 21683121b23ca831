// Takes secrets out of what is recorded: values by themselves and as they are usually written (URL, base64, hex, JSON), and
// whatever stands under a key that sounds like one. Pure.
import { isSecretKey } from "./secrets.js";

export const redacted = "[redacted]";

/** Shorter ones stand everywhere by chance, and would make every line unreadable. */
const least_length = 4;
/** A piece of base64 shorter than this says nothing. */
const least_base64 = 8;

export class Redaction {
  private readonly values = new Set<string>();
  /** The longest first: a form may hold another. */
  private forms: string[] = [];

  add(value: string): void {
    if (value.length < least_length || this.values.has(value)) return;
    this.values.add(value);
    this.forms = [...new Set([...this.forms, ...formsOf(value)])].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    let clean = text;
    for (const form of this.forms) if (clean.includes(form)) clean = clean.replaceAll(form, redacted);
    return clean.endsWith("…") ? this.withoutTail(clean) : clean;
  }

  /** A text that was cut may end in the first half of a secret. */
  private withoutTail(text: string): string {
    const body = text.slice(0, -1);
    for (const form of this.forms) {
      for (let length = Math.min(form.length - 1, body.length); length >= least_length; length--) {
        if (body.endsWith(form.slice(0, length))) return `${body.slice(0, -length)}${redacted}…`;
      }
    }
    return text;
  }

  /** All through a JSON value, keys included. */
  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return this.values.has(String(value)) ? redacted : value;
    if (Array.isArray(value)) return value.map((one) => this.value(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [this.text(key), this.value(one)]));
  }

  json(text: string): string {
    return JSON.stringify(this.value(JSON.parse(text)));
  }
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const forms = [
    ...[value, JSON.stringify(value).slice(1, -1), bytes.toString("hex"), bytes.toString("hex").toUpperCase()],
    ...[bytes.toString("base64"), bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")],
    ...urlForms(value),
    ...[0, 1, 2].flatMap((offset) => base64Forms(bytes, offset)),
  ];
  return forms.filter((form) => form.length >= least_length);
}

function urlForms(value: string): string[] {
  // A lone half of a character cannot be written in a URL.
  const whole = value.toWellFormed();
  const encoded = encodeURIComponent(whole);
  const lower = encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [encoded, lower, encoded.replaceAll("%20", "+"), new URLSearchParams([["", whole]]).toString().slice(1)];
}

/** What of the secret alone decides when it is encoded inside a longer text, as in "Basic base64(user:password)". */
function base64Forms(bytes: Buffer, offset: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const from = Math.ceil((offset * 8) / 6);
  const to = Math.floor(((offset + bytes.length) * 8) / 6);
  const piece = whole.slice(from, to);
  if (piece.length < least_base64) return [];
  return [piece, piece.replaceAll("+", "-").replaceAll("/", "_")];
}

/** What stands under a key that sounds like a secret is not recorded; a reference to a secret is harmless. */
export function withoutSecretKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecretKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      isSecretKey(key) && !isHarmless(one) ? redacted : withoutSecretKeys(one),
    ]),
  );
}

function isHarmless(value: unknown): boolean {
  return value === null || value === "" || typeof value === "boolean" || /^secret:\/\//.test(String(value));
}
