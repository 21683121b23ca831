// Secrets from HashiCorp Vault and Azure Key Vault: a server on this machine that speaks the part of their documented APIs that is asked for.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { environmentForHandlers, loadConfig } from "../../src/config.js";
import { Secrets } from "../../src/worker/run/secrets.js";
import { keyVaultName, vaultSecrets } from "../../src/worker/run/vaults.js";

type Answer = { status: number; body?: unknown; location?: string };

async function serve(answer: (request: IncomingMessage) => Answer) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    const { status, body = {}, location } = answer(request);
    response.writeHead(status, { "content-type": "application/json", ...(location === undefined ? {} : { location }) });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function tokenFile(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), "fanfold-vault-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "token"), text);
  return join(dir, "token");
}

const secretsOf = (env: Record<string, string>) => {
  const { vault } = loadConfig(env);
  return new Secrets({ ask: vaultSecrets(vault!), env: () => undefined });
};

test("HashiCorp Vault is asked below the tenant's own path, with the token that its file holds now", async () => {
  let good = "one";
  const { url, asked } = await serve(({ headers, url }) => {
    if (headers["x-vault-token"] !== good) return { status: 403, body: { errors: ["permission denied"] } };
    if (url !== "/v1/secret/data/fanfold/acme") return { status: 404, body: { errors: [] } };
    return { status: 200, body: { data: { data: { pay_key: "s3cret-of-acme" }, metadata: { version: 3 } } } };
  });
  const file = tokenFile("one\n");
  const env = { FANFOLD_VAULT: `hashicorp:${url}/secret/fanfold/{tenant}`, FANFOLD_VAULT_TOKEN_FILE: file };
  const secrets = secretsOf(env);
  expect(await secrets.tell("acme", "pay_key")).toBe("s3cret-of-acme");
  await expect(secrets.tell("acme", "other")).rejects.toMatchObject({ code: "secret_missing" });
  await expect(secrets.tell("globex", "pay_key")).rejects.toMatchObject({ code: "secret_missing" });
  expect(asked).toEqual(["acme", "acme", "globex"].map((tenant) => `/v1/secret/data/fanfold/${tenant}`));
  good = "two";
  const refused = await secrets.tell("acme", "pay_key").catch((error) => error);
  expect([refused.code, refused.message]).toEqual(["secret_unavailable", expect.not.stringContaining("denied")]);
  writeFileSync(file, "two");
  expect(await secrets.tell("acme", "pay_key")).toBe("s3cret-of-acme");
});

test("Azure Key Vault is asked with the token of a managed identity, which is asked for once", async () => {
  const identity = await serve(({ headers }) =>
    headers["x-identity-header"] === "header"
      ? { status: 200, body: { access_token: "t0ken", expires_on: String(Math.floor(Date.now() / 1000) + 3600) } }
      : { status: 401 },
  );
  const vault = await serve(({ headers, url }) => {
    if (headers.authorization !== "Bearer t0ken") return { status: 401 };
    if (url !== "/secrets/acme--pay-key?api-version=7.4") return { status: 404 };
    return { status: 200, body: { value: "s3cret-of-acme", id: "x" } };
  });
  const env = { FANFOLD_VAULT: `azure:${vault.url}`, IDENTITY_ENDPOINT: identity.url, IDENTITY_HEADER: "header" };
  const secrets = secretsOf(env);
  expect(await secrets.tell("acme", "pay_key")).toBe("s3cret-of-acme");
  await expect(secrets.tell("acme", "other")).rejects.toMatchObject({ code: "secret_missing" });
  expect(identity.asked).toHaveLength(1);
  expect([keyVaultName("a_b", "c"), keyVaultName("a", "b--c"), keyVaultName("a-b", "c_d")]).toEqual([
    null,
    null,
    "a-b--c-d",
  ]);
});

test("a vault that sends elsewhere is not followed with the token", async () => {
  const other = await serve(() => ({ status: 200, body: { value: "caught" } }));
  const vault = await serve(() => ({ status: 302, location: `${other.url}/secrets/x` }));
  const env = { FANFOLD_VAULT: `azure:${vault.url}`, FANFOLD_VAULT_TOKEN_FILE: tokenFile("t") };
  await expect(secretsOf(env).tell("acme", "x")).rejects.toMatchObject({ code: "secret_unavailable" });
  expect(other.asked).toEqual([]);
});

test("a vault that cannot be meant is refused when the program starts, and isolated handlers do not learn the way in", () => {
  const problem = (text: string) => {
    try {
      return loadConfig({ FANFOLD_VAULT: text }).vault;
    } catch (error) {
      return (error as { problems: { problem: string }[] }).problems[0]?.problem;
    }
  };
  expect(problem("https://vault:8200")).toBe("names no vault");
  expect(problem("hashicorp:https://vault:8200/secret/shared")).toContain("has no {tenant}");
  expect(problem("azure:https://me:pw@vault")).toBe("has more in it than an address");
  const env = environmentForHandlers({ IDENTITY_HEADER: "h", VAULT_TOKEN: "t", FANFOLD_VAULT_TOKEN_FILE: "/f" });
  expect([env.IDENTITY_HEADER, env.VAULT_TOKEN, env.FANFOLD_VAULT_TOKEN_FILE]).toEqual(["", "", ""]);
});
