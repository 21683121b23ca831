// Without PostGIS there is no schema for vector layers: that is told, and is no error of ours. Pure.
import { Unavailable } from "./errors.js";

/** The error of a call into schema geo, or what to say instead where that schema, or a function of it, is not there. */
export function layersError(error: unknown): unknown {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  if (!/^(3F000|42883)$/.test(String(code)) && !/^(3F000|42883)$/.test(String(cause?.code))) return error;
  return new Unavailable("this database has no vector layers", {
    hint: "they need PostGIS; fanfold doctor says what is missing; then run: fanfold migrate",
    cause: error,
  });
}
