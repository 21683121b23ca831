// What an address of a server says beyond where it is: how TLS is verified, where the password comes from, and which of several hosts is meant.
// These words are libpq's; the driver would send those it does not know to the server, which refuses them.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import { promisify } from "node:util";
import { DatabaseError } from "./database.js";

export interface ServerAddress {
  /** For the driver: without what stands here. */
  address: string;
  /** null: none. */
  tls: Tls | null;
  /** Where the password stands now; null: in the address, or nowhere. */
  password: PasswordSource | null;
  /** Hosts that are standbys are passed over. */
  needs_primary: boolean;
}

export interface Tls {
  /** A server that has none is spoken to without. */
  may_be_plain: boolean;
  options(): ConnectionOptions;
}

export type PasswordSource = { file: string } | { command: string };

const taken = [
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "target_session_attrs",
  "password_file",
  "password_command",
] as const;

export function readAddress(url: string): ServerAddress {
  const at = url.indexOf("?");
  const base = at < 0 ? url : url.slice(0, at);
  const query = new URLSearchParams(at < 0 ? "" : url.slice(at + 1));
  const given = Object.fromEntries(taken.map((name) => [name, query.get(name) ?? undefined])) as Given;
  if (taken.every((name) => given[name] === undefined)) {
    return { address: url, tls: null, password: null, needs_primary: hasSeveral(base) };
  }
  for (const name of taken) query.delete(name);
  const rest = query.toString();
  const { target_session_attrs: wanted, password_file: file, password_command: command } = given;
  return {
    address: rest === "" ? base : `${base}?${rest}`,
    tls: tlsOf(given),
    password: file !== undefined ? { file } : command !== undefined ? { command } : null,
    needs_primary: wanted === undefined ? hasSeveral(base) : wanted === "read-write" || wanted === "primary",
  };
}

type Given = { [Name in (typeof taken)[number]]?: string | undefined };

/** All that Fanfold does may write: of several hosts the one is meant that takes it. */
function hasSeveral(base: string): boolean {
  return (
    base
      .replace(/^[^/]*\/\/(?:[^@/]*@)?/, "")
      .split("/")[0]
      ?.includes(",") ?? false
  );
}

function tlsOf({ sslmode, sslrootcert, sslcert, sslkey }: Given): ServerAddress["tls"] {
  const mode = sslmode ?? (sslrootcert === undefined && sslcert === undefined ? "disable" : "verify-full");
  if (mode === "disable" || mode === "false") return null;
  if (!modes.includes(mode)) {
    throw new DatabaseError("08001", `the database's address has sslmode=${mode}, which is not known`, {
      hint: `one of disable, ${modes.join(", ")}`,
    });
  }
  const own = { ca: sslrootcert === "system" ? undefined : sslrootcert, cert: sslcert, key: sslkey };
  // As libpq has it: with an authority of one's own, `require` verifies that it has signed.
  const verifies = mode.startsWith("verify") || (mode === "require" && own.ca !== undefined);
  const options = () => {
    const files = Object.entries(own).flatMap(([name, file]) =>
      file === undefined ? [] : [[name, certificateIn(file)]],
    );
    const compare = mode === "verify-full" ? {} : { checkServerIdentity: () => undefined };
    return { ...Object.fromEntries(files), rejectUnauthorized: verifies, ...compare };
  };
  return { may_be_plain: mode === "prefer" || mode === "allow", options };
}

const modes = ["allow", "prefer", "require", "verify-ca", "verify-full"];

/** Read for every connection: certificates are renewed while we run. */
function certificateIn(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unexpected";
    throw new DatabaseError("08001", `the certificate ${file} of the database's address cannot be read (${code})`, {
      hint: "sslrootcert, sslcert and sslkey name files of this machine",
    });
  }
}

const run = promisify(execFile);
const command_ms = 15_000;

/** The password that holds now. A program's answer is not shown: it may be the password. */
export async function currentPassword(source: PasswordSource): Promise<string> {
  try {
    if ("file" in source) return (await readFile(source.file, "utf8")).replace(/\r?\n$/, "");
    const [program = "", ...given] = source.command.split(" ").filter((part) => part !== "");
    const { stdout } = await run(program, given, { timeout: command_ms, maxBuffer: 1024 * 1024 });
    return stdout.replace(/\r?\n$/, "");
  } catch (error) {
    const { code = "unexpected" } = error as { code?: string | number };
    const what = "file" in source ? `the file ${source.file}` : `the program ${source.command.split(" ")[0]}`;
    throw new DatabaseError("08001", `${what}, which gives the database's password, cannot be asked (${code})`, {
      hint: "password_file and password_command of DATABASE_URL must work for the user that runs this",
    });
  }
}
