// The zones as one attempt of one task sees them. What it publishes lies under a key of this attempt, and is recorded with the
// task's finish: if that never comes, or comes from a zombie, nobody sees the file and the sweep removes it.
import { randomBytes } from "node:crypto";
import { type FileHandle, stat as lookAt, open, rm } from "node:fs/promises";
import { Permanent, Transient } from "../../core/errors/errors.js";
import { quoted } from "../../core/errors/problems.js";
import { formatZoneRef, type TaskZones, type ZoneName, type ZoneRef, zone_names } from "../../core/places/zones.js";
import type { SqlSession } from "../../core/task/context.js";
import { attemptToken } from "../../storage/attempt_token.js";
import { Measured, piecesOfFile } from "../../storage/blob_store.js";
import { keySegments, readableProblem } from "../../storage/keys.js";
import type { Zones } from "../../storage/zones.js";
import { type Assets, asset_verbs } from "../verbs/assets.js";

/** Has statements run with the task's finish: in its transaction, if and only if the finish is taken. */
export type RecordWithFinish = (work: (session: SqlSession) => Promise<unknown>) => Promise<unknown> | undefined;

export interface TaskZonesParts {
  zones: Zones;
  /** The files of the task's tenant, on any connection: for what is done after the finish. */
  assets: Pick<Assets, "removeRetracted" | "deployment">;
  tenant_id: string;
  job_id: string | null;
  stage_id: number;
  ordinal: number;
  attempt: number;
  record: RecordWithFinish;
  signal?: (() => AbortSignal) | undefined;
}

/** What the worker sees of it besides. */
export interface AttemptZones extends TaskZones {
  /** After the finish was taken: removes what was retracted now rather than with the sweep. */
  finished(): Promise<void>;
  /** After the attempt has failed for certain: removes what it had written now rather than with the sweep. */
  failed(): Promise<void>;
}

/** What one read may hold in memory. */
const largest_read = 4 * 1024 * 1024;

export function openTaskZones(parts: TaskZonesParts): AttemptZones {
  const { zones, assets, tenant_id, job_id, stage_id, ordinal, attempt, record } = parts;
  const random = randomBytes(6).toString("hex");
  const retracted: ZoneRef[] = [];
  /** Those that go even if they were there before; the sweep, which knows nothing of the wish, would let them be. */
  const retracted_adopted: ZoneRef[] = [];
  const written: ZoneRef[] = [];
  const store = (zone: ZoneName) => zones.store(known(zone), tenant_id);
  const signal = () => parts.signal?.();
  const made_by = { tenant: tenant_id, job_id, stage_id, ordinal };

  return {
    stat: async ({ zone, key }) => store(zone).stat(key),
    list: async (zone, prefix, options) => store(zone).list(prefix, options),

    async read({ zone, key }, offset, length) {
      if (!Number.isSafeInteger(offset) || offset < 0 || !Number.isSafeInteger(length) || length < 0) {
        throw new Permanent("an offset and a length are whole numbers from 0", { code: "bad_range" });
      }
      if (length > largest_read) {
        throw new Permanent(`one read gives at most ${largest_read} bytes: download the object`, { code: "bad_range" });
      }
      const { pieces, close } = await store(zone).read(key, { offset, length, signal: signal() });
      const all: Uint8Array[] = [];
      try {
        for await (const piece of pieces) all.push(piece);
      } finally {
        await close();
      }
      return all.length === 1 ? all[0]! : new Uint8Array(Buffer.concat(all));
    },

    async download(ref, file, { max_bytes = Number.POSITIVE_INFINITY } = {}) {
      return downloadTo(store(ref.zone), ref, file, max_bytes, signal());
    },

    async publish(file, { zone, prefix, name, media_type }) {
      const clean = prefix.replace(/\/$/, "");
      const place = { deployment: await assets.deployment(), tenant_id, zone: known(zone), prefix: clean };
      const token = attemptToken(place, { stage_id, ordinal, attempt }, random);
      const key = [...keySegments(clean), token, ...keySegments(name)].join("/");
      if (name.includes("/")) throw new Permanent(`the name ${quoted(name)} has a / in it`, { code: "bad_key" });
      const ref = { zone, key };
      written.push(ref);
      const { bytes, sha256 } = await store(zone).write(key, piecesOfFile(file), {
        media_type,
        bytes: (await lookAt(file)).size,
        signal: signal(),
      });
      await record((session) => asset_verbs.publish(session, { ...made_by, ...ref, name, bytes, sha256, media_type }));
      return { ...ref, name, href: store(zone).href(key), bytes, sha256, media_type };
    },

    async adopt(ref, { media_type, bytes, sha256 }) {
      const found = await store(ref.zone).stat(ref.key);
      if (found === null) throw new Permanent(`there is no object ${formatZoneRef(ref)} to adopt`, { code: "missing" });
      if (found.bytes !== bytes) {
        const why = `it has ${found.bytes} bytes, not ${bytes}: it was changed meanwhile`;
        throw new Permanent(`${formatZoneRef(ref)} cannot be adopted: ${why}`, { code: "altered" });
      }
      const { zone, key } = ref;
      const name = key.split("/").at(-1)!;
      await record((session) => asset_verbs.adopt(session, { ...made_by, zone, key, name, bytes, sha256, media_type }));
      return { zone, key, name, href: store(zone).href(key), bytes, sha256, media_type };
    },

    async retract({ zone, key }, { remove_adopted = false } = {}) {
      const problem = readableProblem(key);
      if (problem !== null) throw new Permanent(`${quoted(key)} is no key: ${problem}`, { code: "bad_key" });
      const ref = { zone: known(zone), key };
      await record((session) => asset_verbs.retract(session, ref, tenant_id, remove_adopted));
      (remove_adopted ? retracted_adopted : retracted).push(ref);
    },

    async finished() {
      if (retracted.length > 0) await assets.removeRetracted(retracted);
      if (retracted_adopted.length > 0) await assets.removeRetracted(retracted_adopted, { even_adopted: true });
    },

    async failed() {
      for (const { zone, key } of written.splice(0)) await store(zone).remove(key);
    },
  };
}

async function downloadTo(
  store: ReturnType<Zones["store"]>,
  ref: ZoneRef,
  file: string,
  max_bytes: number,
  signal: AbortSignal | undefined,
) {
  const { stat, pieces, close } = await store.read(ref.key, { signal });
  const source = new Measured(pieces);
  const tooLarge = (bytes: number) =>
    new Permanent(`${formatZoneRef(ref)} has ${bytes} bytes; at most ${max_bytes} are taken`, { code: "too_large" });
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, "wx");
    if (stat.bytes > max_bytes) throw tooLarge(stat.bytes);
    for await (const piece of source) {
      // Whatever the store said first.
      if (source.bytes > max_bytes) throw tooLarge(source.bytes);
      await handle.writeFile(piece);
    }
    if (source.bytes !== stat.bytes) {
      throw new Transient(`${formatZoneRef(ref)} ended after ${source.bytes} of ${stat.bytes} bytes`, {
        code: "cut_off",
      });
    }
    return { bytes: source.bytes, sha256: source.sha256, etag: stat.etag };
  } catch (error) {
    // What was there before is not ours to remove.
    if (handle !== undefined) await rm(file, { force: true }).catch(() => {});
    throw error;
  } finally {
    await handle?.close();
    await close();
  }
}

function known(zone: ZoneName): ZoneName {
  if (zone_names.includes(zone)) return zone;
  throw new Permanent(`there is no zone ${quoted(zone)}: ${zone_names.join(", ")}`, { code: "bad_zone" });
}
