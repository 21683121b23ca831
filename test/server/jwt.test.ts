// Tokens of an OpenID provider, with real keys and a provider that this test runs.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JwtSettings } from "../../src/config.js";
import { KeyAuthenticator } from "../../src/server/access/auth.js";
import { Authentication } from "../../src/server/access/authentication.js";
import { FailedSignIns } from "../../src/server/access/failed_sign_ins.js";
import { JwtAuthenticator } from "../../src/server/access/jwt.js";
import { createApp } from "../../src/server/app.js";
import { openService, type TestService } from "./service.js";

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
let service: TestService;
let provider: Server;
let fetched = 0;
let answer: () => { status: number; body: string };
let settings: JwtSettings;
let folder: string;
let clock = 1;
const pairs: Record<string, Pair> = {};
const published: JWK[] = [];

async function publish(kid: string, alg: string): Promise<Pair> {
  const pair = await generateKeyPair(alg, { extractable: true });
  pairs[kid] = pair;
  published.push({ ...(await exportJWK(pair.publicKey)), kid, alg, use: "sig" });
  return pair;
}

beforeAll(async () => {
  service = await openService();
  await service.db.sql`select app.create_tenant('acme')`;
  await publish("rsa", "RS256");
  await publish("ec", "ES256");
  await publish("ed", "EdDSA");
  answer = () => ({ status: 200, body: JSON.stringify({ keys: published }) });
  provider = createServer((_, reply) => {
    fetched++;
    const { status, body } = answer();
    reply.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  settings = {
    issuer: "https://id.example.org/",
    audience: ["fanfold"],
    algorithms: ["RS256", "ES256", "EdDSA"],
    jwks_url: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks.json`,
    jwks_file: null,
    tenant_claim: "tenant",
    scope_claim: "scope",
    scope_prefix: "fanfold:",
  };
  folder = await mkdtemp(join(tmpdir(), "fanfold-jwks-"));
});
afterAll(async () => {
  await new Promise((resolve) => provider.close(resolve));
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const seconds = (more: number) => Math.floor(Date.now() / 1000) + more;
const good = (): JWTPayload => ({
  iss: "https://id.example.org/",
  aud: "fanfold",
  sub: "ada",
  exp: seconds(300),
  tenant: "acme",
  scope: "openid fanfold:read fanfold:submit read admin",
});

function sign(claims: JWTPayload, kid = "rsa", header = {}): Promise<string> {
  const alg = { rsa: "RS256", ec: "ES256", ed: "EdDSA" }[kid] ?? "RS256";
  return new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign((pairs[kid] ?? pairs.rsa)!.privateKey);
}

const make = (more: Partial<JwtSettings> = {}) =>
  new JwtAuthenticator(service.engine.db, { ...settings, ...more }, { now: () => clock });
const refused = { code: "unauthenticated" };

test("a token is let in for its tenant with the scopes that are meant for us, whatever good algorithm signed it", async () => {
  const authenticator = make();
  for (const kid of ["rsa", "ec", "ed"]) {
    const principal = await authenticator.authenticate(`Bearer ${await sign(good(), kid)}`);
    expect(principal).toMatchObject({ tenant_id: "acme", actor: "token:ada", key_id: null, operator: false });
    expect([...principal.scopes].sort()).toEqual(["read", "submit"]);
  }
  const listed = await authenticator.authenticate(`Bearer ${await sign({ ...good(), scope: ["fanfold:admin", 7] })}`);
  expect([...listed.scopes]).toEqual(["admin"]);
  const none = await authenticator.authenticate(
    `Bearer ${await sign({ ...good(), scope: undefined, operator: true })}`,
  );
  expect(none).toMatchObject({ operator: false });
  expect(none.scopes.size).toBe(0);
});

test("a token that is unsigned, signed with what is public, for others, too early, too late or of no tenant is refused", async () => {
  const authenticator = make();
  const stranger = (await generateKeyPair("RS256")).privateKey;
  const public_pem = new TextEncoder().encode(await exportSPKI(pairs.rsa!.publicKey));
  const token = await sign(good());
  const [head, claims, signature] = token.split(".") as [string, string, string];
  const altered = Buffer.from(JSON.stringify({ ...good(), tenant: "default" })).toString("base64url");
  const wrong: Record<string, string> = {
    none: new UnsecuredJWT(good()).encode(),
    "none, in small letters": `${Buffer.from('{"alg":"nOnE"}').toString("base64url")}.${claims}.`,
    "HS256 with the public key": await new SignJWT(good())
      .setProtectedHeader({ alg: "HS256", kid: "rsa" })
      .sign(public_pem),
    "another's key": await new SignJWT(good()).setProtectedHeader({ alg: "RS256", kid: "rsa" }).sign(stranger),
    "altered claims": `${head}.${altered}.${signature}`,
    audience: await sign({ ...good(), aud: "others" }),
    "no audience": await sign({ ...good(), aud: undefined }),
    issuer: await sign({ ...good(), iss: "https://evil.example.org/" }),
    "too early": await sign({ ...good(), nbf: seconds(120) }),
    expired: await sign({ ...good(), exp: seconds(-120) }),
    "no expiry": await sign({ ...good(), exp: undefined }),
    "no subject": await sign({ ...good(), sub: undefined }),
    "a path as the key": await sign(good(), "../../../etc/passwd"),
    "an unknown tenant": await sign({ ...good(), tenant: "nobody" }),
    "no tenant": await sign({ ...good(), tenant: undefined }),
    "an odd tenant": await sign({ ...good(), tenant: "acme'; drop table app.jobs; --" }),
    "several tenants": await sign({ ...good(), tenant: ["acme"] }),
    "a key in its own header": await sign(good(), "own", { jwk: await exportJWK(pairs.rsa!.publicKey) }),
    nonsense: "a.b.c",
  };
  for (const [name, one] of Object.entries(wrong)) {
    await expect(authenticator.authenticate(`Bearer ${one}`), name).rejects.toMatchObject(refused);
  }
  // Clocks differ by a little.
  await authenticator.authenticate(`Bearer ${await sign({ ...good(), nbf: seconds(30), exp: seconds(90) })}`);
  await authenticator.authenticate(`Bearer ${await sign({ ...good(), exp: seconds(-30) })}`);
  const pinned = make({ algorithms: ["ES256"] });
  await expect(pinned.authenticate(`Bearer ${token}`)).rejects.toMatchObject(refused);
});

test("the provider is asked once, also by many unknown key ids, and left alone for a while when it fails", async () => {
  const authenticator = make();
  fetched = 0;
  await authenticator.authenticate(`Bearer ${await sign(good())}`);
  for (let i = 0; i < 20; i++) {
    await expect(authenticator.authenticate(`Bearer ${await sign(good(), `made-up-${i}`)}`)).rejects.toMatchObject(
      refused,
    );
  }
  expect(fetched).toBe(1);
  const working = answer;
  for (const broken of [
    { status: 500, body: "{}" },
    { status: 200, body: "no JSON" },
    { status: 200, body: '{"keys": "none"}' },
    { status: 200, body: JSON.stringify({ keys: [], filler: "x".repeat(300_000) }) },
  ]) {
    answer = () => broken;
    await expect(make().authenticate(`Bearer ${await sign(good())}`)).rejects.toMatchObject({ code: "unavailable" });
  }
  answer = () => ({ status: 503, body: "" });
  const unlucky = make();
  fetched = 0;
  for (let i = 0; i < 5; i++) {
    await expect(unlucky.authenticate(`Bearer ${await sign(good())}`)).rejects.toMatchObject({ code: "unavailable" });
  }
  expect(fetched).toBe(1);
  answer = working;
  clock += 5_000;
  await unlucky.authenticate(`Bearer ${await sign(good())}`);
});

test("keys from a file are read again for a key that is new in it, but not at every token", async () => {
  const file = join(folder, "jwks.json");
  await writeFile(file, JSON.stringify({ keys: published }));
  const authenticator = make({ jwks_url: null, jwks_file: file });
  await authenticator.authenticate(`Bearer ${await sign(good())}`);
  await publish("later", "RS256");
  await writeFile(file, JSON.stringify({ keys: published }));
  const token = `Bearer ${await sign(good(), "later")}`;
  await expect(authenticator.authenticate(token)).rejects.toMatchObject(refused);
  clock += 30_000;
  await authenticator.authenticate(token);
});

test("over HTTP tokens and keys stand beside each other, and failures of both count against an address", async () => {
  const { engine } = service;
  const authenticator = new Authentication(
    [new KeyAuthenticator(engine.db), make()],
    new FailedSignIns({ burst: 3, per_s: 0.01, now: () => clock }),
  );
  const app = createApp({ engine, authenticator, check_replies: true });
  const get = (credential: string) =>
    app.inject({ url: "/api/limits", headers: { authorization: `Bearer ${credential}` } });
  const token = await sign(good());
  const by_token = await get(token);
  expect([by_token.statusCode, by_token.json().tenant_id]).toEqual([200, "acme"]);
  expect((await get(await service.key())).json().tenant_id).toBe("default");
  const admin = await app.inject({ url: "/api/keys", headers: { authorization: `Bearer ${token}` } });
  expect(admin.statusCode).toBe(403);
  for (const wrong of ["a.b.c", "ff_live_x", `${token}x`]) expect((await get(wrong)).statusCode).toBe(401);
  // Others' failures do not shut out who proves who they are, also with a token that is new here.
  expect((await get(await sign({ ...good(), sub: "grace" }))).statusCode).toBe(200);
  const waits = await get(`${token}x`);
  expect([waits.statusCode, waits.headers["retry-after"]]).toEqual([429, "100"]);
  expect(waits.body).not.toContain(token);
  expect((await get(token)).statusCode).toBe(200);
  await app.close();
});
