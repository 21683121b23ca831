// The client: everything one may ask of the service, in one place. It holds no state but where the service is and the key.
import { health_api } from "../core/api/health.js";
import { Audit } from "./audit.js";
import { Blueprints } from "./blueprints.js";
import type { Caller } from "./call.js";
import { Connectors } from "./connectors.js";
import { Keys, Limits, Tenants } from "./keys.js";
import { LayersClient } from "./layers.js";
import { type Asking, Operator } from "./operate.js";
import { Releases } from "./releases.js";
import { Requests } from "./requests.js";
import { Retention } from "./retention.js";
import { Groups, Schedules } from "./schedules.js";
import { type Streamed, type StreamOptions, streamEvents } from "./stream.js";
import { type ClientOptions, client_options, createTransport, type Transport } from "./transport.js";
import { type Upload, type UploadOptions, Uploads } from "./uploads.js";
import { Webhooks } from "./webhooks.js";

export class Client extends Operator {
  /** Where it calls. */
  readonly url: string;
  /** Any endpoint of the contract, typed by it. */
  readonly call: Caller;
  readonly blueprints: Blueprints;
  readonly keys: Keys;
  readonly limits: Limits;
  readonly layers: LayersClient;
  readonly retention: Retention;
  readonly webhooks: Webhooks;
  readonly schedules: Schedules;
  readonly groups: Groups;
  /** One dataset in, several jobs, one answer out. */
  readonly requests: Requests;
  readonly connectors: Connectors;
  readonly audit: Audit;
  /** Datasets and their releases. */
  readonly releases: Releases;
  /** Files brought into bronze. */
  readonly uploads: Uploads;
  /** For operators of the service. */
  readonly tenants: Tenants;

  constructor(transport: Transport) {
    super(transport);
    this.url = transport.url;
    this.call = transport.call;
    this.blueprints = new Blueprints(transport);
    this.keys = new Keys(transport);
    this.limits = new Limits(transport);
    this.layers = new LayersClient(transport);
    this.retention = new Retention(transport);
    this.webhooks = new Webhooks(transport);
    this.schedules = new Schedules(transport);
    this.groups = new Groups(transport);
    this.requests = new Requests(transport);
    this.connectors = new Connectors(transport);
    this.audit = new Audit(transport);
    this.releases = new Releases(transport);
    this.uploads = new Uploads(transport);
    this.tenants = new Tenants(transport);
  }

  /** What happens, as it happens; goes on by itself where it broke off. */
  stream(options: StreamOptions = {}): AsyncGenerator<Streamed, void> {
    return streamEvents(this.transport, options);
  }

  /** Brings a file into the zone bronze; one that was broken off is gone on with. Jobs find it as its `ref`. */
  upload(content: Blob | Uint8Array, options: UploadOptions): Promise<Upload> {
    return this.uploads.put(content, options);
  }

  /** How the service is; needs no key. */
  health(options: Asking = {}) {
    return this.transport.call(health_api.health, options);
  }
}

export function createClient(options: ClientOptions): Client {
  return new Client(createTransport(options, client_options));
}
