// Who did what.
import { audit_api } from "../core/api/audit.js";
import type { QueryIn, ReplyOf } from "../core/api/endpoint.js";
import { type Paged, paged } from "./pages.js";
import type { Transport } from "./transport.js";

export type DeedRecord = ReplyOf<typeof audit_api.list>["deeds"][number];
export type AuditFilter = Omit<QueryIn<typeof audit_api.list>, "cursor" | "submits"> & {
  /** false: without the submits, of which there may be very many. */
  submits?: boolean;
  signal?: AbortSignal;
};

export class Audit {
  constructor(private readonly transport: Transport) {}

  /** What people and keys did, newest first. */
  list({ signal, submits, ...query }: AuditFilter = {}): Paged<DeedRecord> {
    return paged(async (cursor) => {
      const { deeds, next } = await this.transport.call(audit_api.list, {
        query: {
          ...query,
          ...(submits === undefined ? {} : { submits: submits ? "true" : "false" }),
          ...(cursor === undefined ? {} : { cursor }),
        },
        ...(signal === undefined ? {} : { signal }),
      });
      return { items: deeds, next };
    });
  }
}
