// The vendors' libraries are optional: loaded when the first object is asked for, and named when they are not there.
import { StorageError } from "../core/errors/errors.js";

/** Loads once; a failed load is tried again at the next call. */
export function loadedOnce<Sdk>(packages: readonly string[], load: () => Promise<Sdk>): () => Promise<Sdk> {
  let loading: Promise<Sdk> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw notInstalled(packages, error);
    });
    return loading;
  };
}

function notInstalled(packages: readonly string[], error: unknown): unknown {
  const { code } = (error ?? {}) as { code?: unknown };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return error;
  const fix = `npm install ${packages.join(" ")}`;
  return new LibraryMissing("unavailable", `This zone needs a library that is not installed: ${fix}`, {
    hint: fix,
    cause: error,
  });
}

export class LibraryMissing extends StorageError {}
