// The files of a tenant that others may see: records in the database, objects in the zones. Also removes what was retracted, in the
// order that survives a crash: the record says that it is to go until the object is really gone.

import { NotFound } from "../../core/errors/errors.js";
import { formatZoneRef, type ZoneName, type ZoneRef } from "../../core/places/zones.js";
import type { SqlSession } from "../../core/task/context.js";
import { attemptOf } from "../../storage/attempt_token.js";
import type { Zones } from "../../storage/zones.js";
import type { Queryable } from "../database/database.js";
import { asked } from "./reply.js";

export interface AssetRecord extends ZoneRef {
  name: string;
  bytes: number;
  sha256: string;
  media_type: string;
  job_id: string | null;
  task_id: string | null;
  adopted: boolean;
  created_at: string;
  retracted_at: string | null;
}

export interface NewRecord extends ZoneRef {
  tenant: string;
  name: string;
  bytes: number;
  sha256: string;
  media_type: string;
  job_id?: string | null;
  stage_id?: number | null;
  ordinal?: number | null;
}

export interface AssetQuery {
  zone?: ZoneName;
  prefix?: string;
  job_id?: string;
  limit?: number;
  after?: readonly [zone: string, key: string] | null;
}

export interface AssetPage {
  assets: AssetRecord[];
  next: [zone: ZoneName, key: string] | null;
}

/** As statements for code that holds a session: a task's finish, or a transaction of one's own. */
export const asset_verbs = {
  publish: (session: SqlSession, record: NewRecord) =>
    session.sql`select app.publish_asset(${JSON.stringify(record)}::text::json) as reply`,
  adopt: (session: SqlSession, record: NewRecord) =>
    session.sql`select app.adopt_asset(${JSON.stringify(record)}::text::json) as reply`,
  retract: (session: SqlSession, { zone, key }: ZoneRef, tenant: string, remove_adopted = false) =>
    session.sql`select app.retract_asset(${zone}::text, ${key}::text, ${tenant}::text, ${remove_adopted}::boolean) as reply`,
};

export class Assets {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
    private readonly zones: Zones,
  ) {}

  /** Tells this database from others: part of what marks files as ours. */
  deployment(): Promise<string> {
    return deploymentOf(this.db);
  }

  /** null when nobody may see such a file. */
  find({ zone, key }: ZoneRef): Promise<AssetRecord | null> {
    return asked(this.db.sql`select app.find_asset(${zone}::text, ${key}::text, ${this.tenant}::text) as reply`);
  }

  async get(ref: ZoneRef): Promise<AssetRecord> {
    const found = await this.find(ref);
    if (found === null) throw new NotFound(`there is no file ${formatZoneRef(ref)}`);
    return found;
  }

  /** By zone and key. */
  list({ limit, ...query }: AssetQuery = {}): Promise<AssetPage> {
    const request = JSON.stringify({ ...query, rows: limit, tenant: this.tenant });
    return asked(this.db.sql`select app.list_assets(${request}::text::json) as reply`);
  }

  publish(record: Omit<NewRecord, "tenant">): Promise<AssetRecord> {
    return asked(asset_verbs.publish(this.db, { ...record, tenant: this.tenant }));
  }

  adopt(record: Omit<NewRecord, "tenant">): Promise<AssetRecord> {
    return asked(asset_verbs.adopt(this.db, { ...record, tenant: this.tenant }));
  }

  /** Whether there was anything to retract. The object is removed by removeRetracted, or by the sweep. */
  retract(ref: ZoneRef): Promise<boolean> {
    return asked(asset_verbs.retract(this.db, ref, this.tenant));
  }

  /** Removes the objects of those that are retracted, and then their rows; gives how many. What is not retracted stays. */
  async removeRetracted(refs: readonly ZoneRef[], options: { even_adopted?: boolean } = {}): Promise<number> {
    let removed = 0;
    for (const [zone, keys] of byZone(refs)) {
      const gone = await asked<string[]>(
        this.db
          .sql`select app.are_retracted(${zone}::text, ${JSON.stringify(keys)}::text::json, ${this.tenant}::text) as reply`,
      );
      for (const key of gone) {
        await removeRetracted(this.db, this.zones, { tenant_id: this.tenant, zone, key }, options);
        removed++;
      }
    }
    return removed;
  }
}

const deployments = new WeakMap<Queryable, Promise<string>>();

export function deploymentOf(db: Queryable): Promise<string> {
  let known = deployments.get(db);
  if (known === undefined) {
    known = asked<string>(db.sql`select app.deployment_id() as reply`);
    deployments.set(db, known);
    known.catch(() => deployments.delete(db));
  }
  return known;
}

/** That one, and those that the tenant lived in before it moved here. */
export function deploymentsOf(db: Queryable, tenant: string): Promise<string[]> {
  return asked(db.sql`select app.deployments_of(${tenant}::text) as reply`);
}

/** Idempotent: one that is interrupted, or comes second, finds less to do. */
export async function removeRetracted(
  db: Queryable,
  zones: Zones,
  { tenant_id, zone, key }: ZoneRef & { tenant_id: string },
  { even_adopted = false } = {},
): Promise<void> {
  // Whatever was recorded as ours: a file that no attempt of ours has written stays, unless a caller has asked for just that.
  const is_ours = async () =>
    attemptOf({ deployments: await deploymentsOf(db, tenant_id), tenant_id, zone }, key) !== null;
  if (even_adopted || (await is_ours())) await zones.store(zone, tenant_id).remove(key);
  await db.sql`select app.forget_asset(${zone}::text, ${key}::text, ${tenant_id}::text)`;
}

function byZone(refs: readonly ZoneRef[]): Map<ZoneName, string[]> {
  const keys = new Map<ZoneName, string[]>();
  for (const { zone, key } of refs) keys.set(zone, [...(keys.get(zone) ?? []), key]);
  return keys;
}
