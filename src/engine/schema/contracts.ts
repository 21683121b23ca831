// Migrations that take something away. Such a file says in its first line which release no longer needs it:
//   -- contract: needs workers of 0.6.0 or later
// and is refused while a worker of an older release lives, which would still ask for it.
import { type Queryable, quoteName } from "../database/database.js";
import { isLater, type Migration } from "./schema_folder.js";
import { SchemaMismatch } from "./schema_mismatch.js";

export interface OldWorker {
  worker_id: string;
  host: string | null;
  /** Null: it has not said. */
  version: string | null;
}

export interface Contract {
  migration: string;
  /** Workers of this release and of later ones go on without what the migration takes away. */
  release: string;
}

const first_words = /^--\s*contract\b/i;
const whole_line = /^-- contract: needs workers of (\d+\.\d+\.\d+) or later\.?$/;

/** What a migration says of itself. One that is misspelt would otherwise be one that says nothing. */
export function contractOf({ name, path, text }: Pick<Migration, "name" | "path" | "text">): Contract | null {
  const line = text.split("\n", 1)[0]!.trim();
  if (!first_words.test(line)) return null;
  const release = whole_line.exec(line)?.[1];
  if (release !== undefined) return { migration: name, release };
  throw new Error(`${path}:1: a destructive migration begins with "-- contract: needs workers of 0.6.0 or later"`);
}

/** Live workers that are older than what some of the migrations need. One whose lease is over lives no more, noticed or not. */
export async function oldWorkers(
  db: Queryable,
  migrations: readonly Migration[],
  owner: string | null,
): Promise<(Contract & { workers: OldWorker[] })[]> {
  const contracts = migrations.map(contractOf).filter((one) => one !== null);
  if (contracts.length === 0) return [];
  const [there] = await db.sql<{ is_there: boolean }>`select to_regclass('app.workers') is not null as is_there`;
  if (!there?.is_there) return [];
  if (owner !== null) await db.script(`set local role ${quoteName(owner)}`);
  const live = await db.sql<OldWorker>`
    select worker_id::text, host, version from app.workers
     where status = 'live' and heartbeat_at > now() - make_interval(secs => lease_s) order by worker_id`;
  if (owner !== null) await db.script("reset role");
  return contracts
    .map((one) => ({
      ...one,
      workers: live.filter(({ version }) => version === null || isLater(one.release, version)),
    }))
    .filter(({ workers }) => workers.length > 0);
}

export async function refuseOldWorkers(
  db: Queryable,
  migrations: readonly Migration[],
  owner: string | null,
): Promise<void> {
  const refused = await oldWorkers(db, migrations, owner);
  if (refused.length === 0) return;
  const of = refused.map(({ migration, release, workers }) => {
    const few = workers.slice(0, 3).map(({ worker_id, host, version }) => {
      return `${worker_id} on ${host ?? "an unknown host"} of ${version ?? "an unknown release"}`;
    });
    const more = workers.length > 3 ? ` and ${workers.length - 3} more` : "";
    return `${migration} needs workers of ${release} or later, and live are ${few.join(", ")}${more}`;
  });
  throw new SchemaMismatch(
    `${of.join("; ")}. Nothing was changed. Replace these workers first; if they may fail: fanfold migrate --force`,
  );
}
