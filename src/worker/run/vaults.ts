// Secrets of tenants from HashiCorp Vault (KV, version 2) and Azure Key Vault, by their documented HTTP APIs. What a vault answers is neither
// logged nor told: it may hold the secret. Null: it has no such secret.
import { readFile } from "node:fs/promises";
import type { VaultConfig } from "../../core/values/vault_setting.js";

export type AskVault = (tenant_id: string, name: string) => Promise<string | null>;

const patience_ms = 10_000;
/** How long before its end a token is no longer used. */
const early_ms = 300_000;

export function vaultSecrets(vault: VaultConfig): AskVault {
  return vault.kind === "hashicorp" ? hashicorp(vault) : azure(vault);
}

function hashicorp(vault: VaultConfig): AskVault {
  return async (tenant_id, name) => {
    const path = vault.path.replaceAll("{tenant}", tenant_id).split("/").map(encodeURIComponent).join("/");
    const token = await tokenIn(vault);
    const answer = await asked(`${vault.url}/v1/${encodeURIComponent(vault.mount)}/data/${path}`, {
      "x-vault-token": token,
    });
    const found = (answer as { data?: { data?: Record<string, unknown> } } | null)?.data?.data;
    return found !== undefined && Object.hasOwn(found, name) ? textOf(found[name]) : null;
  };
}

function azure(vault: VaultConfig): AskVault {
  const token = accessToken(vault);
  return async (tenant_id, name) => {
    const key = keyVaultName(tenant_id, name);
    if (key === null) return null;
    const headers = { authorization: `Bearer ${await token()}` };
    const answer = await asked(`${vault.url}/secrets/${key}?api-version=7.4`, headers);
    return answer === null ? null : textOf((answer as { value?: unknown }).value);
  };
}

/**
 * Key Vault knows letters, digits and dashes: <tenant>--<name>. Only where it is sure whose it is: a tenant with an underscore could be another
 * with a dash.
 */
export function keyVaultName(tenant_id: string, name: string): string | null {
  const written = name.replaceAll("_", "-");
  const sure = /^[a-z0-9]+(-[a-z0-9]+)*$/;
  return sure.test(tenant_id) && sure.test(written.toLowerCase()) ? `${tenant_id}--${written}` : null;
}

function accessToken(vault: VaultConfig): () => Promise<string> {
  let known: { token: string; until: number } | null = null;
  return async () => {
    const { identity } = vault;
    if (vault.token_file !== undefined || identity === undefined) return tokenIn(vault);
    if (known !== null && Date.now() < known.until) return known.token;
    // The resource of a vault is its host without its own name.
    const resource = `https://${new URL(vault.url).hostname.split(".").slice(1).join(".")}`;
    const query = new URLSearchParams({ resource, "api-version": "2019-08-01" });
    const answer = await asked(`${identity.endpoint}?${query}`, { "x-identity-header": identity.header });
    const { access_token, expires_on } = (answer ?? {}) as { access_token?: string; expires_on?: string };
    if (access_token === undefined) throw new Error("the identity of this machine gave no token");
    known = { token: access_token, until: Number(expires_on) * 1000 - early_ms };
    return access_token;
  };
}

async function tokenIn({ token_file }: VaultConfig): Promise<string> {
  if (token_file === undefined) throw new Error("FANFOLD_VAULT_TOKEN_FILE is not set");
  return (await readFile(token_file, "utf8")).trim();
}

function textOf(value: unknown): string | null {
  return value === undefined || value === null ? null : typeof value === "string" ? value : JSON.stringify(value);
}

/** null: there is no such thing. A redirect would take the token elsewhere. */
async function asked(url: string, headers: Record<string, string>): Promise<unknown> {
  const answer = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(patience_ms) });
  if (answer.status === 404) {
    await answer.body?.cancel();
    return null;
  }
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new Error(`the vault answered ${answer.status}`);
  }
  return answer.json();
}
