// Who is let in, and for how long a server believes what it knows. Time is an argument here: nothing waits.
import { afterAll, beforeAll, expect, test } from "vitest";
import { isSecretOf, secretHash } from "../../src/core/values/api_key.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { Keys } from "../../src/engine/verbs/keys.js";
import { KeyAuthenticator } from "../../src/server/access/auth.js";
import { Authentication } from "../../src/server/access/authentication.js";
import { FailedSignIns, networkOf } from "../../src/server/access/failed_sign_ins.js";
import { freshDatabase } from "../postgres.js";

let db: Database;
/** Another server process: another pool, which hears nothing of what this one does. */
let elsewhere: Database;
let drop: () => Promise<void>;
let keys: Keys;
let clock = 1;
const now = () => clock;
beforeAll(async () => {
  const fresh = await freshDatabase();
  ({ db, drop } = fresh);
  elsewhere = openServer(fresh.url, { max: 1 });
  keys = new Keys(db, "default");
});
afterAll(async () => {
  await elsewhere.close();
  await drop();
});

const bearer = (key: string) => `Bearer ${key}`;
const make = (more = {}) => keys.create({ name: "test", scopes: ["read"], ...more });

test("a revoked key is refused at once where it was revoked, and within five seconds everywhere, also by streams, which look again every second", async () => {
  const { key, key_id } = await make();
  const here = new KeyAuthenticator(db, { now });
  const there = new KeyAuthenticator(elsewhere, { now });
  for (const one of [here, there]) {
    expect(await one.authenticate(bearer(key))).toMatchObject({ tenant_id: "default", actor: `key:${key_id}` });
  }
  await keys.revoke(key_id);
  await expect(here.authenticate(bearer(key))).rejects.toMatchObject({ code: "unauthenticated" });
  clock += 3_999;
  await there.authenticate(bearer(key));
  clock += 2;
  await expect(there.authenticate(bearer(key))).rejects.toMatchObject({ code: "unauthenticated" });
  await here.close();
  await there.close();
});

test("a lookup that began before a revocation is not remembered after it", async () => {
  const { key, key_id } = await make();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let slow = true;
  const late = {
    kind: db.kind,
    sql: async (strings: TemplateStringsArray, ...values: never[]) => {
      const rows = await db.sql(strings, ...values);
      if (slow && strings[0]?.includes("find_key")) await held;
      return rows;
    },
  } as unknown as Database;
  const authenticator = new KeyAuthenticator(late, { now });
  const first = authenticator.authenticate(bearer(key));
  await keys.revoke(key_id);
  authenticator.forget(key_id);
  slow = false;
  release();
  // It had been read before: this one call may still pass, and no other.
  await first.catch(() => {});
  await expect(authenticator.authenticate(bearer(key))).rejects.toMatchObject({ code: "unauthenticated" });
  await authenticator.close();
});

test("a key that expires is refused when its time has come, also while it is remembered", async () => {
  const { key, key_id } = await make({ expires_at: new Date(Date.now() + 3_600_000) });
  const authenticator = new KeyAuthenticator(elsewhere, { now });
  await authenticator.authenticate(bearer(key));
  await db.sql`update app.api_keys set expires_at = now() + interval '2 seconds' where key_id = ${key_id}`;
  clock += 5_000;
  await authenticator.authenticate(bearer(key));
  await db.sql`update app.api_keys set expires_at = now() - interval '1 second' where key_id = ${key_id}`;
  clock += 2_000;
  await expect(authenticator.authenticate(bearer(key))).rejects.toMatchObject({ code: "unauthenticated" });
  expect((await keys.get(key_id)).status).toBe("expired");
  await authenticator.close();
});

test("a crowd that comes with one key asks the database once", async () => {
  const { key } = await make();
  let asked = 0;
  const counting = {
    kind: db.kind,
    sql: (strings: TemplateStringsArray, ...values: never[]) => {
      if (strings[0]?.includes("find_key")) asked++;
      return db.sql(strings, ...values);
    },
  } as unknown as Database;
  const authenticator = new KeyAuthenticator(counting, { now });
  await Promise.all(Array.from({ length: 50 }, () => authenticator.authenticate(bearer(key))));
  expect(asked).toBe(1);
  await authenticator.close();
});

test("when a key was last used is written once a minute, by however many servers, and no call waits for it", async () => {
  const { key, key_id } = await make();
  const used = async () => (await keys.get(key_id)).last_used_at;
  const first = new KeyAuthenticator(db, { now });
  await first.authenticate(bearer(key));
  await first.close();
  const at = await used();
  expect(at).not.toBeNull();
  const second = new KeyAuthenticator(elsewhere, { now });
  await second.authenticate(bearer(key));
  await second.close();
  expect(await used()).toBe(at);
  await db.sql`update app.api_keys set last_used_at = now() - interval '61 seconds' where key_id = ${key_id}`;
  const third = new KeyAuthenticator(elsewhere, { now });
  await third.authenticate(bearer(key));
  await third.close();
  expect(Date.parse((await used())!)).toBeGreaterThanOrEqual(Date.parse(at!));
  // A database that cannot write is no reason to refuse a call.
  const broken = {
    kind: db.kind,
    sql: (strings: TemplateStringsArray, ...values: never[]) =>
      strings[0]?.includes("touch_keys") ? Promise.reject(new Error("read-only")) : db.sql(strings, ...values),
  } as unknown as Database;
  const fourth = new KeyAuthenticator(broken, { now });
  await fourth.authenticate(bearer(key));
  await fourth.close();
});

test("whoever fails again and again from one address waits, but not who was let in from there", async () => {
  const [known, fresh] = [await make(), await make()];
  const attempts = new FailedSignIns({ burst: 3, per_s: 1, now });
  const door = new Authentication([new KeyAuthenticator(db, { now })], attempts);
  await door.authenticate(bearer(known.key), "192.0.2.1");
  const wrong = bearer(known.key.replace(/_[a-z0-9]{12}_/, "_aaaaaaaaaaaa_"));
  for (let i = 0; i < 3; i++) {
    await expect(door.authenticate(wrong, "192.0.2.1")).rejects.toMatchObject({ code: "unauthenticated" });
  }
  await expect(door.authenticate(wrong, "192.0.2.1")).rejects.toMatchObject({ code: "over_limit", retry_after_s: 1 });
  await expect(door.authenticate(bearer(fresh.key), "192.0.2.1")).rejects.toMatchObject({ code: "over_limit" });
  await door.authenticate(bearer(known.key), "192.0.2.1");
  await door.authenticate(bearer(fresh.key), "192.0.2.2");
  // No credential is no attempt.
  for (let i = 0; i < 10; i++) {
    await expect(door.authenticate(undefined, "192.0.2.3")).rejects.toMatchObject({ code: "unauthenticated" });
  }
  await door.authenticate(bearer(fresh.key), "192.0.2.3");
  clock += 1_000;
  await expect(door.authenticate(wrong, "192.0.2.1")).rejects.toMatchObject({ code: "unauthenticated" });
  await door.close();
});

test("failures of ever new addresses do not fill the memory, and an IPv6 network is one address", () => {
  const attempts = new FailedSignIns({ burst: 1, most_addresses: 100, now });
  for (let i = 0; i < 1_000; i++) attempts.failed(`198.51.100.${i}`);
  expect(attempts.size).toBe(100);
  attempts.failed("2001:db8:1:2::1");
  expect(attempts.wait("2001:db8:1:2:ffff::9")).toBeGreaterThan(0);
  expect(attempts.wait("2001:db8:1:3::1")).toBe(0);
  expect(networkOf("::ffff:192.0.2.7")).toBe("192.0.2.7");
  expect(networkOf("::1")).toBe("0:0:0:0::/64");
});

test("secrets are compared by hashes of equal length", () => {
  expect(isSecretOf("a", secretHash("a"))).toBe(true);
  expect(isSecretOf("a", secretHash("b"))).toBe(false);
  expect(isSecretOf("a", "abcd")).toBe(false);
});
