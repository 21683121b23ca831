// Takes secrets out of what is recorded: values by themselves and as they are usually written (URL, base64, hex, JSON), in capitals, small
// letters or backwards, and whatever stands under a key that sounds like one. Pure.
import { isSecretKey } from "./secrets.js";

export const redacted = "[redacted]";

/** Shorter ones stand everywhere by chance, and would make every line unreadable. */
const least_length = 4;
/** A piece of base64 shorter than this says nothing. */
const least_base64 = 8;
/** A longer secret is a file: it is looked for as it is, because every form of it is looked for in every text. */
const most_varied = 4096;

export class Redaction {
  private readonly values = new Set<string>();
  /** In small letters, the longest first: a form may hold another. */
  private forms: string[] = [];

  add(value: string): void {
    if (value.length < least_length || this.values.has(value)) return;
    this.values.add(value);
    const forms = variantsOf(value).flatMap(formsOf).map(small);
    this.forms = [...new Set([...this.forms, ...forms])].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    if (text.length < least_length) return text;
    let clean = text;
    let searched = small(clean);
    for (const form of this.forms) {
      if (form.length > searched.length || !searched.includes(form)) continue;
      clean = without(clean, searched, form);
      searched = small(clean);
    }
    return clean.endsWith("…") ? this.withoutTail(clean, searched) : clean;
  }

  /** A text that was cut may end in the first half of a secret. */
  private withoutTail(text: string, searched: string): string {
    const body = searched.slice(0, -1);
    for (const form of this.forms) {
      for (let length = Math.min(form.length - 1, body.length); length >= least_length; length--) {
        if (body.endsWith(form.slice(0, length))) return `${text.slice(0, body.length - length)}${redacted}…`;
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

/** Letter by letter, and those without a small form of the same length stay: what is found must be where it was in the text. */
function small(text: string): string {
  if (is_ascii.test(text)) return text.toLowerCase();
  return text.replace(/\p{Lu}/gu, (letter) => {
    const lower = letter.toLowerCase();
    return lower.length === letter.length ? lower : letter;
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of them
const is_ascii = /^[\x00-\x7f]*$/;

function without(text: string, searched: string, form: string): string {
  let clean = "";
  let from = 0;
  for (let at = searched.indexOf(form); at >= 0; at = searched.indexOf(form, from)) {
    clean += text.slice(from, at) + redacted;
    from = at + form.length;
  }
  return clean + text.slice(from);
}

/** What base64 and hex make of another spelling is another text. */
function variantsOf(value: string): string[] {
  if (value.length > most_varied) return [value];
  const spelt = [value, value.toUpperCase(), value.toLowerCase()];
  const backwards = spelt.map((one) => Array.from(one).reverse().join(""));
  return [...new Set([...spelt, ...backwards])];
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const forms = [
    value,
    inJson(value),
    inJson(inJson(value)),
    inJson(value).replaceAll("/", "\\/"),
    bytes.toString("hex"),
    bytes.toString("base64"),
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
    ...urlForms(value),
    ...[0, 1, 2].flatMap((offset) => base64Forms(bytes, offset)),
  ];
  return forms.filter((form) => form.length >= least_length);
}

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function urlForms(value: string): string[] {
  // A lone half of a character cannot be written in a URL.
  const whole = value.toWellFormed();
  const encoded = encodeURIComponent(whole);
  return [encoded, encoded.replaceAll("%20", "+"), new URLSearchParams([["", whole]]).toString().slice(1)];
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
