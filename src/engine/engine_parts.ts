// What an engine is made of: given by the program that opens one, shared by the engines of all tenants.
import type { Logger } from "pino";
import type { Registry } from "../core/declare/registry.js";
import type { OutboundPolicy } from "../core/places/outbound.js";
import type { Store } from "../core/places/store.js";
import type { Words } from "../core/shown/action.js";
import type { Zones } from "../storage/zones.js";
import type { Database } from "./database/database.js";
import type { Sealer } from "./sealing.js";
import type { KeptBlueprints } from "./verbs/kept_blueprints.js";
import type { UploadLimits } from "./verbs/uploads.js";

export interface EngineParts {
  db: Database;
  tenant: string;
  registry: Registry;
  store: Store;
  /** Where data rests; in .fanfold/zones when left out. */
  zones?: Zones;
  /** Files that attempts left behind are removed when they are so old. Default: 24. */
  leftovers_after_h?: number | undefined;
  /** What clients may bring over HTTP at most. */
  uploads?: UploadLimits | undefined;
  log?: Logger;
  /** Seals and opens what the service keeps for tenants. */
  sealer?: Sealer | undefined;
  /** What handlers may call: addresses that it forbids are not kept. Left out: they are judged when they are called. */
  outbound?: OutboundPolicy | undefined;
  /** How replies put their actions: as commands when left out. */
  words?: Words;
  /** What the engines of all tenants know of blueprints that the database keeps. */
  kept?: KeptBlueprints;
  kept_recipes?: KeptBlueprints;
  /** A further small pool on a server; on the embedded database the one session there is. */
  openConnection(name: string, max: number): Database;
  close(): Promise<void>;
}
