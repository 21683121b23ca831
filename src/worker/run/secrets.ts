// Where a task's secrets come from: a function of the operator's (a vault), the environment, files. Asked each time, for the
// task's own tenant, so that a changed secret counts at once. Knows what was ever told, for the operator's own log.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Permanent, Transient } from "../../core/errors/errors.js";
import { Redaction } from "../../core/values/redaction.js";
import { checkedSecretName } from "../../core/values/secrets.js";

export interface SecretSources {
  /** A vault: null when it has no such secret. */
  ask?:
    | ((tenant_id: string, name: string) => Promise<string | null | undefined> | string | null | undefined)
    | undefined;
  /** <dir>/<tenant>/<name> */
  dir?: string | undefined;
  env(name: string): string | undefined;
}

const most_bytes = 64 * 1024;
/** Late errors of at most so many secrets are kept readable and clean. */
const most_known = 1000;

/**
 * Only where the spelling leaves no doubt whose it is: with a dash or two underscores, FANFOLD_SECRET_A_B__C could be
 * another tenant's.
 */
const sure = /^[a-z0-9]+(_[a-z0-9]+)*$/;

export function secretVariable(tenant_id: string, name: string): string | null {
  if (!sure.test(tenant_id) || !sure.test(name)) return null;
  return `FANFOLD_SECRET_${tenant_id}__${name}`.toUpperCase();
}

export class Secrets {
  /** All secrets that tasks were given: for lines that belong to no task. */
  known = new Redaction();
  private known_count = 0;

  constructor(private readonly sources: SecretSources) {}

  async tell(tenant_id: string, asked: string): Promise<string> {
    const name = checkedSecretName(asked);
    const value =
      (await this.fromFunction(tenant_id, name)) ??
      this.fromEnvironment(tenant_id, name) ??
      (await this.fromFile(tenant_id, name));
    if (value === null) throw this.missing(tenant_id, name);
    this.remember(value);
    return value;
  }

  remember(value: string): void {
    if (++this.known_count > most_known) {
      this.known = new Redaction();
      this.known_count = 1;
    }
    this.known.add(value);
  }

  /** For the log of a worker that ends: any task may have thrown it. */
  cleanError(error: unknown): unknown {
    if (!(error instanceof Error)) return typeof error === "string" ? this.known.text(error) : error;
    const clean = new Error(this.known.text(String(error.message)));
    clean.name = error.name;
    clean.stack = this.known.text(String(error.stack));
    return clean;
  }

  private async fromFunction(tenant_id: string, name: string): Promise<string | null> {
    let value: unknown;
    try {
      value = (await this.sources.ask?.(tenant_id, name)) ?? null;
    } catch {
      // What it says is not repeated: it may hold the address or the token of the vault.
      throw new Transient(`the secret "${name}" could not be asked for now`, { code: "secret_unavailable" });
    }
    if (value === null || typeof value === "string") return value;
    throw new Permanent(`the worker's secrets function gave something that is not text for "${name}"`, {
      code: "bad_secret",
    });
  }

  private fromEnvironment(tenant_id: string, name: string): string | null {
    const variable = secretVariable(tenant_id, name);
    const value = variable === null ? undefined : this.sources.env(variable);
    return value === undefined || value === "" ? null : value;
  }

  private async fromFile(tenant_id: string, name: string): Promise<string | null> {
    const { dir } = this.sources;
    // Both are checked names: neither can lead out of the folder.
    if (dir === undefined || !/^[a-z0-9][a-z0-9_-]{0,62}$/.test(tenant_id)) return null;
    const file = join(dir, tenant_id, name);
    try {
      const { size } = await stat(file);
      if (size > most_bytes)
        throw new Permanent(`the secret "${name}" has more than ${most_bytes} bytes`, { code: "bad_secret" });
      // An editor ends the last line; a secret does not.
      return (await readFile(file, "utf8")).replace(/\r?\n$/, "");
    } catch (error) {
      if (error instanceof Permanent) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      throw new Transient(`the secret "${name}" could not be read now (${code ?? "unknown"})`, {
        code: "secret_unavailable",
      });
    }
  }

  private missing(tenant_id: string, name: string): Permanent {
    const variable = secretVariable(tenant_id, name);
    const places = [
      ...(this.sources.ask === undefined ? [] : ["the worker's secrets function"]),
      variable === null
        ? "no variable (a name with - or . or __ is looked for in files only)"
        : `the variable ${variable}`,
      this.sources.dir === undefined
        ? "no file (FANFOLD_SECRETS_DIR is not set)"
        : `the file ${tenant_id}/${name} in FANFOLD_SECRETS_DIR`,
    ];
    const where = places.join(", ");
    return new Permanent(`there is no secret "${name}" for tenant "${tenant_id}"; looked for: ${where}`, {
      code: "secret_missing",
    });
  }
}
