// Where a vault of secrets is, as an operator writes it. Pure.
import type { Answer } from "./setting_values.js";

export interface VaultPlace {
  kind: "hashicorp" | "azure";
  /** Without a slash at its end. */
  url: string;
  /** HashiCorp's: the mount of a KV engine, version 2, and the path below it, with {tenant}. */
  mount: string;
  path: string;
}

export interface VaultConfig extends VaultPlace {
  /** Read for each question: whatever logs in for us (an agent, a sidecar) renews it. */
  token_file: string | undefined;
  /** A managed identity, as Container Apps and App Service offer it. */
  identity: { endpoint: string; header: string } | undefined;
}

const fix = "hashicorp:https://host:8200/mount/path/{tenant} or azure:https://<host of the key vault>";

export function readVault(text: string): Answer<VaultPlace> {
  const [, kind, address = ""] = /^(hashicorp|azure):(https?:\/\/.+)$/.exec(text) ?? [];
  if (kind === undefined || !URL.canParse(address)) return { problem: "names no vault", fix };
  const { username, password, search, hash, pathname, origin } = new URL(address);
  if (username + password + search + hash !== "") return { problem: "has more in it than an address", fix };
  const parts = decodeURIComponent(pathname)
    .split("/")
    .filter((part) => part !== "");
  if (kind === "azure") {
    return parts.length > 0 ? { problem: "has a path", fix } : { value: { kind, url: origin, mount: "", path: "" } };
  }
  const [mount = "", ...path] = parts;
  if (path.length === 0 || !path.join("/").includes("{tenant}")) {
    return { problem: "has no {tenant} in its path: all tenants would have the same secrets", fix };
  }
  return { value: { kind: "hashicorp", url: origin, mount, path: path.join("/") } };
}

/** The way in comes from a file, or from the platform that this runs on. */
export function vaultConfig(
  env: Readonly<Record<string, string | undefined>>,
  place: VaultPlace | undefined,
  token_file: string | undefined,
): VaultConfig | undefined {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header } = env;
  const identity = endpoint && header ? { endpoint, header } : undefined;
  return place && { ...place, token_file, identity };
}
