// Taking secrets out of text and values, and putting them in.
import { expect, test } from "vitest";
import { Redaction, withoutSecretKeys } from "../../src/core/values/redaction.js";
import { checkedSecretName, isSecretKey, withSecrets, withSecretsIn } from "../../src/core/values/secrets.js";

function of(...values: string[]): Redaction {
  const redaction = new Redaction();
  for (const value of values) redaction.add(value);
  return redaction;
}

test("a secret goes in every way it is usually written", () => {
  const value = 'p@ss "w/ö+rd';
  const redaction = of(value);
  const forms = [
    value,
    encodeURIComponent(value),
    encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams({ k: value }).toString().slice(2),
    JSON.stringify(value).slice(1, -1),
    Buffer.from(value).toString("base64"),
    Buffer.from(value).toString("base64url"),
    Buffer.from(value).toString("hex"),
  ];
  for (const form of forms) expect(redaction.text(`a ${form} b`)).toMatch(/^a \[redacted\]=* b$/);
  for (const user of ["", "u", "us", "user", "admin:x"]) {
    const basic = Buffer.from(`${user}:${value}`).toString("base64");
    const middle = Buffer.from(value).subarray(2, 10).toString("base64").slice(0, 8);
    expect(redaction.text(`Basic ${basic}`)).toContain("[redacted]");
    expect(redaction.text(`Basic ${basic}`)).not.toContain(middle);
  }
});

test("a text that was cut in the middle of a secret does not keep its half", () => {
  const redaction = of("hunter2-hunter2");
  expect(redaction.text("the key is hunter2-hu…")).toBe("the key is [redacted]…");
  expect(redaction.text("the key is hunt…")).toBe("the key is [redacted]…");
  expect(redaction.text("he went hu…")).toBe("he went hu…");
  expect(redaction.text("hunter2-hu")).toBe("hunter2-hu");
});

test("values are cleaned all through, keys and numbers too; what is short is left alone", () => {
  const redaction = of("123456", "abcd", "no");
  expect(redaction.value({ abcd: [{ n: 123456, m: 1234567, t: "x123456y", no: "no" }, null, true] })).toEqual({
    "[redacted]": [{ n: "[redacted]", m: 1234567, t: "x[redacted]y", no: "no" }, null, true],
  });
  expect(JSON.parse(redaction.json('{"a":"abcd"}'))).toEqual({ a: "[redacted]" });
});

test("keys that sound like secrets are known, and others are not", () => {
  for (const key of [
    "Authorization",
    "api_key",
    "apiKey",
    "X-API-Key",
    "db-password",
    "clientSecret",
    "set-cookie",
    "token",
  ]) {
    expect([key, isSecretKey(key)]).toEqual([key, true]);
  }
  for (const key of ["token_count", "tokens", "keyboard", "author", "secretary", "cookies_accepted", "passed", "key"]) {
    expect([key, isSecretKey(key)]).toEqual([key, false]);
  }
  expect(withoutSecretKeys({ a: [{ password: "x", ok: 1 }], token: "secret://t" })).toEqual({
    a: [{ password: "[redacted]", ok: 1 }],
    token: "secret://t",
  });
});

test("references are replaced wherever they stand in text, each asked for once", async () => {
  const asked: string[] = [];
  const ask = async (name: string) => {
    asked.push(name);
    return `<${name}>`;
  };
  expect(await withSecrets("Bearer secret://a.b, secret://c. secret://a.b", ask)).toBe("Bearer <a.b>, <c>. <a.b>");
  expect(asked).toEqual(["a.b", "c"]);
  expect(await withSecrets("x?k=secret://c&d", ask, encodeURIComponent)).toBe("x?k=%3Cc%3E&d");
  expect(await withSecretsIn({ a: ["secret://x", 1, null], "secret://k": "plain" }, ask)).toEqual({
    a: ["<x>", 1, null],
    "secret://k": "plain",
  });
  await expect(withSecrets("secret://Upper", ask)).rejects.toThrow("is not the name of a secret");
  expect(checkedSecretName("secret://x")).toBe("x");
});

test("a secret is found in other spellings: capitals, small letters, backwards, and each of them encoded", () => {
  const secret = "sK-live/7fQ2 zpW9+ä";
  const redaction = of(secret);
  const backwards = Array.from(secret).reverse().join("");
  const spelt = [secret, secret.toUpperCase(), secret.toLowerCase(), backwards, backwards.toUpperCase()];
  const written: ((text: string) => string)[] = [
    (text) => text,
    (text) => Buffer.from(text).toString("base64"),
    (text) => Buffer.from(`user:${text}:x`).toString("base64url"),
    (text) => Buffer.from(text).toString("hex"),
    (text) => Buffer.from(text).toString("hex").toUpperCase(),
    (text) => encodeURIComponent(text),
    (text) => encodeURIComponent(text).toLowerCase(),
    (text) => JSON.stringify(text),
    (text) => JSON.stringify({ said: JSON.stringify(text) }),
    (text) => JSON.stringify(text).replaceAll("/", "\\/"),
  ];
  for (const one of spelt) {
    for (const [at, write] of written.entries()) {
      const clean = redaction.text(`İ said ${write(one)}, and went`);
      expect([at, one, clean]).toEqual([at, one, expect.stringMatching(/^İ said .*\[redacted\].*, and went$/)]);
    }
  }
  expect(redaction.text("SK-LIVE/7FQ2 has nothing to do with it")).toBe("SK-LIVE/7FQ2 has nothing to do with it");
});

test("a secret as long as a file is taken out as it is", () => {
  const secret = "k".repeat(60_000);
  expect(of(secret).text(`a ${secret} b`)).toBe("a [redacted] b");
});
