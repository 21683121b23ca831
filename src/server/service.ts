// What all calls of one server share: who is let in, the event feed, the signal for waiting workers, health, and whether the
// server is about to stop.
import type { FastifyRequest } from "fastify";
import type { JwtSettings } from "../config.js";
import type { CatalogSetting } from "../core/task/raster_settings.js";
import type { TrustedProxies } from "../core/values/setting_values.js";
import type { Engine } from "../engine/engine.js";
import type { Authenticator } from "./access/auth.js";
import { createAuthentication } from "./access/authentication.js";
import { assertOwnPage, authorizationOf } from "./access/credentials.js";
import { FailedSignIns } from "./access/failed_sign_ins.js";
import { Catalogs } from "./catalogs.js";
import type { SignedUrlOptions } from "./files/asset_urls.js";
import { type CallLimits, CallPlaces } from "./http/call_places.js";
import { basePath, publicUrl, signInUrl } from "./http/public_url.js";
import { TenantQueue } from "./http/tenant_queue.js";
import { CountedJobs } from "./jobs/counted_jobs.js";
import { Footprints } from "./jobs/footprints.js";
import { GatheredSubmits } from "./jobs/gathered_submits.js";
import { Health } from "./metrics/health.js";
import { EventFeed } from "./stream/feed.js";
import { type StreamOptions, StreamPlaces, type StreamSettings, streamSettings } from "./stream/stream_settings.js";
import { WorkSignal } from "./stream/work_signal.js";

/** The long calls of one tenant at a time: fewer than half of a server's connections, as each may take as long as a statement. */
const LONG_CALLS = 4;
/** Together with those, fewer than the connections a server has. */
const ENQUEUES = 5;
/** They share connections, so these may be more; what they cost is mostly the time of this process. */
const SHORT_CALLS = 8;
const never = new AbortController().signal;

export interface ServiceOptions {
  engine: Engine;
  authenticator?: Authenticator;
  /** Tokens of an OpenID provider beside the keys. */
  jwt?: JwtSettings | null;
  stream?: StreamOptions;
  /** How many calls of one tenant may be under way at a time. */
  calls?: CallLimits;
  /** Which catalogue is served at /stac; "auto" takes what the database has. */
  catalog?: CatalogSetting | undefined;
  /** Where callers reach this service, for the links in answers; when left out, as their call came. */
  public_url?: string | undefined;
  /** How long the addresses of files are good that items in the catalogue are served with; 12 when left out. */
  signed_for_h?: number | undefined;
  /** The tenant whose layers anybody may read at /ogc, without a key. When left out there is none. */
  open_layers?: string | undefined;
  /** Proxies before the server: how many, or their networks. The caller's address is then what they say. */
  trust_proxy?: TrustedProxies | undefined;
}

export class Service {
  readonly engine: Engine;
  readonly authenticator: Authenticator;
  readonly feed: EventFeed;
  readonly work_signal: WorkSignal;
  readonly health: Health;
  readonly stream: StreamSettings;
  readonly places: StreamPlaces;
  readonly calls: CallPlaces;
  readonly counts = new CountedJobs();
  readonly footprints = new Footprints();
  readonly catalogs: Catalogs;
  /** Calls of the catalogue, and others that may take long. */
  readonly long_calls = new TenantQueue(LONG_CALLS);
  /** Submits of lone tasks: short as a rule, but one may wait for another of its key or type that is not committed. */
  readonly enqueues = new TenantQueue(ENQUEUES);
  /** What is answered in a few milliseconds. While others call, a tenant has as much of it as one caller who asks again at once. */
  readonly short_calls = new TenantQueue(SHORT_CALLS, { share: 1 });
  /** Looks of waiting workers: many of them keep none of their tenant's people from an answer. */
  readonly claims = new TenantQueue(SHORT_CALLS, { share: 1 });
  /** Those that travel together have several callers: nobody's leaving ends it. */
  readonly submits = new GatheredSubmits((tenant, work, bytes) => this.long_calls.within(tenant, never, work, bytes));
  /** How the addresses of files are signed that are handed out. */
  readonly signing: SignedUrlOptions;
  readonly open_layers: string | null;
  /** Without a slash at its end. */
  readonly publicUrl: (request: FastifyRequest) => string;
  readonly signInUrl: (request: FastifyRequest) => string;
  /** Its path. */
  readonly basePath: (request: FastifyRequest) => string;
  /** What a call is known by: its header, or its browser's session. */
  readonly authorizationOf: (request: FastifyRequest) => string | undefined;
  /** A page of our own, as far as the browser tells. */
  readonly assertOwnPage: (request: FastifyRequest) => void;
  /** Codes of links that were none. */
  readonly wrong_codes = new FailedSignIns({ burst: 60, per_s: 1 });
  /** No call is taken any more. */
  closing = false;
  readonly #stopping = new AbortController();

  constructor(options: ServiceOptions) {
    const {
      engine,
      authenticator,
      jwt = null,
      stream,
      calls,
      catalog,
      public_url,
      trust_proxy,
      signed_for_h,
      open_layers = null,
    } = options;
    this.engine = engine;
    this.catalogs = new Catalogs(catalog);
    this.open_layers = open_layers;
    this.signing = signed_for_h === undefined ? {} : { expires_s: signed_for_h * 3600 };
    this.publicUrl = (request) => publicUrl(request, { public_url, trust_proxy });
    this.signInUrl = (request) => signInUrl(request, { public_url, trust_proxy });
    this.basePath = (request) => basePath(request, { public_url, trust_proxy });
    this.authorizationOf = (request) => authorizationOf(request, { public_url });
    this.assertOwnPage = (request) => assertOwnPage(request, { public_url });
    this.authenticator = authenticator ?? createAuthentication({ db: engine.db, log: engine.log, jwt });
    this.stream = streamSettings(stream);
    this.places = new StreamPlaces(this.stream);
    this.calls = new CallPlaces(calls);
    this.feed = new EventFeed(engine.db, engine.log, this.stream);
    this.work_signal = new WorkSignal(engine.db, engine.log);
    this.health = new Health(engine, () => this.stopping.aborted);
  }

  /** Aborted when the server is told to stop: a caller who waits or streams comes to an end. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** From now on not ready: a load balancer sends calls elsewhere. */
  announceStop(): void {
    this.#stopping.abort();
  }

  async stop(): Promise<void> {
    this.closing = true;
    this.announceStop();
    await this.feed.stop();
    await this.work_signal.stop();
  }
}
