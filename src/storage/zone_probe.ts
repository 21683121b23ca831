// Whether a zone can be reached and written: tries it, because rights, quotas, clocks and wrong regions show only then.
import { mkdir } from "node:fs/promises";
import { isFanfoldError } from "../core/errors/errors.js";
import type { BlobStore } from "./blob_store.js";
import { LibraryMissing } from "./vendor_sdk.js";
import { writeProblem } from "./writable.js";

export interface ZoneTrouble {
  step: "reach" | "write";
  why: string;
  hint: string | null;
}

const PATIENCE_MS = 15_000;

/** null: all is well. */
export async function zoneProblem(store: BlobStore, patience_ms = PATIENCE_MS): Promise<ZoneTrouble | null> {
  if (store.kind === "disk") return diskProblem(store.place);
  let step: ZoneTrouble["step"] = "reach";
  const trying = async () => {
    await store.list("", { limit: 1 });
    step = "write";
    const probe = `fanfold-doctor-${process.pid}`;
    await store.write(probe, (async function* () {})());
    await store.remove(probe);
    return null;
  };
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer for ${patience_ms / 1000} s`)), patience_ms);
  });
  try {
    return await Promise.race([trying(), silence]);
  } catch (error) {
    return { step, ...reasonOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

async function diskProblem(dir: string): Promise<ZoneTrouble | null> {
  const reached = await mkdir(dir, { recursive: true }).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  const hint = "make the folder writable for this user, or choose another";
  if (reached !== null) return { step: "reach", why: reached, hint };
  const problem = await writeProblem(dir);
  return problem === null ? null : { step: "write", why: problem, hint };
}

/** What the service said, which is what an operator must know; it holds no credential. */
function reasonOf(error: unknown): { why: string; hint: string | null } {
  const cause = isFanfoldError(error) ? (error.cause ?? error) : error;
  const { name, message } = cause as Error;
  const why = [name === "Error" ? "" : name, message.split("\n")[0]?.slice(0, 200)].filter((one) => one).join(": ");
  return error instanceof LibraryMissing ? { why: error.message, hint: error.hint } : { why, hint: null };
}
