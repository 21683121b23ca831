// Who did what.
import { audit_api } from "../core/api/audit.js";
import type { QueryIn, ReplyOf } from "../core/api/endpoint.js";
import { listed, type Paged } from "./pages.js";
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
  list({ submits, ...filter }: AuditFilter = {}): Paged<DeedRecord> {
    const only = submits === undefined ? {} : { submits: String(submits) };
    return listed(this.transport, audit_api.list, "deeds", { ...filter, ...only });
  }
}
