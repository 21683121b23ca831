// The client: everything one may ask of the service, in one place. It holds no state but where the service is and the key.
import { health_api } from "../core/api/health.js";
import { Blueprints } from "./blueprints.js";
import type { Caller } from "./call.js";
import { type Asking, Operator } from "./operate.js";
import { type Streamed, type StreamOptions, streamEvents } from "./stream.js";
import { type ClientOptions, createTransport, type Transport } from "./transport.js";

export class Client extends Operator {
  /** Where it calls. */
  readonly url: string;
  /** Any endpoint of the contract, typed by it. */
  readonly call: Caller;
  readonly blueprints: Blueprints;

  constructor(transport: Transport) {
    super(transport);
    this.url = transport.url;
    this.call = transport.call;
    this.blueprints = new Blueprints(transport);
  }

  /** What happens, as it happens; goes on by itself where it broke off. */
  stream(options: StreamOptions = {}): AsyncGenerator<Streamed, void> {
    return streamEvents(this.transport, options);
  }

  health(options: Asking = {}) {
    return this.transport.call(health_api.live, options);
  }
}

export function createClient(options: ClientOptions): Client {
  return new Client(createTransport(options));
}
