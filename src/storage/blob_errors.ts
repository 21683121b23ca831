// What goes wrong with a store of files, in the words of the product. Messages name keys, never folders of this machine: what the
// system said is kept for the log. Pure.
import { StorageError } from "../core/errors/errors.js";

export function missingBlob(key: string): StorageError {
  return new StorageError("missing", `There is no object ${named(key)}.`, {
    hint: "fanfold files ls <zone>:<prefix> shows what there is.",
  });
}

export function unavailableBlob(verb: string, key: string, error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const why = [code, name].find((one) => typeof one === "string" && one !== "" && one !== "Error") ?? "unexpected";
  return new StorageError("unavailable", `Cannot ${verb} the object ${named(key)} (${String(why)}).`, {
    seen: { why: error instanceof Error ? error.message : String(error) },
    hint: "fanfold doctor tells whether the zone can be reached and written.",
    cause: error,
  });
}

export function refusedBlob(key: string, why: string): StorageError {
  return new StorageError("bad_key", `The object ${named(key)} is refused: ${why}.`, {
    hint: "A zone serves plain files that lie below it.",
  });
}

function named(key: string): string {
  return JSON.stringify(key.length > 300 ? `${key.slice(0, 300)}…` : key);
}
