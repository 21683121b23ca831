/** The code and the database do not fit, and what to do about it. */
export class SchemaMismatch extends Error {
  override name = "SchemaMismatch";
  readonly code = "SCHEMA_MISMATCH";
}
