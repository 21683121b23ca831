// Signed webhooks, beside the reference library of Standard Webhooks, in both directions.
import { createHmac, randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { verifyWebhook, WebhookRefused, type WebhookToVerify } from "../../src/client/webhook.js";
import { BadRequest } from "../../src/core/errors/errors.js";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const other = `whsec_${randomBytes(24).toString("base64")}`;
const body = '{"type":"job.completed","name":"Ünïcode 𝄞","n":1.0}';
const now = new Date();

function sign(with_secret: string, at = now, text: string | Uint8Array = body, id = "msg_1") {
  const stamp = Math.floor(at.getTime() / 1000);
  const key = Buffer.from(with_secret.slice(6), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${stamp}.`).update(text).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(stamp), "webhook-signature": `v1,${signature}` };
}

const reasonOf = (given: Partial<WebhookToVerify>) =>
  verifyWebhook({ secret, headers: sign(secret), body, ...given }).then(
    () => "believed",
    (error) => (error instanceof WebhookRefused ? error.reason : error),
  );

test("what the reference library signs is believed, and it believes what we sign", async () => {
  const reference = new Webhook(secret);
  const signature = reference.sign("msg_9", now, body);
  const headers = {
    "webhook-id": "msg_9",
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": signature,
  };
  const verified = await verifyWebhook<{ n: number }>({ secret, headers, body });
  expect(verified).toEqual({
    id: "msg_9",
    timestamp: new Date(Math.floor(now.getTime() / 1000) * 1000),
    payload: { type: "job.completed", name: "Ünïcode 𝄞", n: 1 },
  });
  expect(verified.payload.n).toBe(1);
  expect(reference.verify(body, sign(secret))).toEqual(verified.payload);
});

test("the two agree on every altered message", async () => {
  const signed = sign(secret);
  const altered: [string, Record<string, string>, string][] = [
    ["as it is", signed, body],
    ["a byte of the body", signed, body.replace("1.0", "1.1")],
    ["a space in the body", signed, `${body} `],
    ["parsed and written again", signed, JSON.stringify(JSON.parse(body))],
    ["the id", { ...signed, "webhook-id": "msg_2" }, body],
    ["the time", { ...signed, "webhook-timestamp": String(Number(signed["webhook-timestamp"]) + 1) }, body],
    ["the version", { ...signed, "webhook-signature": signed["webhook-signature"].replace("v1", "v2") }, body],
    ["half a signature", { ...signed, "webhook-signature": signed["webhook-signature"].slice(0, 20) }, body],
    ["an empty signature", { ...signed, "webhook-signature": "v1," }, body],
    [
      "others around it",
      { ...signed, "webhook-signature": `v1a,xx v1,AAAA ${signed["webhook-signature"]} v2,zz` },
      body,
    ],
    ["too old", sign(secret, new Date(now.getTime() - 301_000)), body],
    ["too new", sign(secret, new Date(now.getTime() + 302_000)), body],
    ["old, but not too old", sign(secret, new Date(now.getTime() - 290_000)), body],
    ["someone else's", sign(other), body],
  ];
  for (const [name, headers, text] of altered) {
    const reference = (() => {
      try {
        new Webhook(secret).verify(text, headers);
        return true;
      } catch {
        return false;
      }
    })();
    const ours = (await reasonOf({ headers, body: text })) === "believed";
    expect([name, ours]).toEqual([name, reference]);
  }
});

describe("verifyWebhook", () => {
  test("takes headers as anybody gives them, and bytes as they came", async () => {
    const signed = sign(secret);
    const shouted = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toUpperCase(), value]));
    for (const headers of [signed, shouted, new Headers(signed), { ...signed, cookie: ["a", "b"], x: undefined }]) {
      expect(await reasonOf({ headers })).toBe("believed");
    }
    expect(await reasonOf({ body: new TextEncoder().encode(body) })).toBe("believed");
    expect(await reasonOf({ body: Buffer.from(body) })).toBe("believed");
  });

  test("while a secret is replaced, either will do, on both sides", async () => {
    expect(await reasonOf({ secret: undefined, secrets: [other, secret] })).toBe("believed");
    const both = {
      ...sign(secret),
      "webhook-signature": `${sign(other)["webhook-signature"]} ${sign(secret)["webhook-signature"]}`,
    };
    expect(await reasonOf({ headers: both })).toBe("believed");
    expect(await reasonOf({ secret: other, headers: both })).toBe("believed");
    expect(await reasonOf({ secret: `whsec_${randomBytes(24).toString("base64")}`, headers: both })).toBe("no_match");
  });

  test("says why it does not believe", async () => {
    const signed = sign(secret);
    const without = (name: string) => ({ headers: { ...signed, [name]: undefined } });
    for (const name of Object.keys(signed)) expect(await reasonOf(without(name))).toBe("missing_header");
    for (const stamp of ["1e9", " 1700000000", "-5", "0x10", "1700000000.5", "00017", "９９"]) {
      expect(await reasonOf({ headers: { ...signed, "webhook-timestamp": stamp } })).toBe("bad_header");
    }
    expect(await reasonOf({ headers: { ...signed, "webhook-id": ["a", "b"] } })).toBe("bad_header");
    expect(await reasonOf({ now: new Date(now.getTime() + 301_000) })).toBe("too_old");
    expect(await reasonOf({ now: new Date(now.getTime() - 302_000) })).toBe("too_new");
    expect(await reasonOf({ now: new Date(now.getTime() + 301_000), tolerance_s: 600 })).toBe("believed");
    expect(await reasonOf({ headers: sign(secret, now, "no json"), body: "no json" })).toBe("not_json");
    const bytes = Uint8Array.of(0x22, 0xff, 0x22);
    expect(await reasonOf({ headers: sign(secret, now, bytes), body: bytes })).toBe("not_json");
  });

  test("tells whoever asks it wrongly what to do, without the secret", async () => {
    for (const given of [
      { body: { type: "job.completed" } as never },
      { body: undefined as never },
      { secret: undefined },
      { secret: "whsec_" },
      { secret: "whsec_not base64 !" },
      { secret: 5 as never },
    ]) {
      const error = await reasonOf(given);
      expect(error).toBeInstanceOf(BadRequest);
      expect((error as BadRequest).hint).toEqual(expect.any(String));
      expect(String((error as Error).stack)).not.toContain("not base64 !");
    }
  });
});
