// The way to a server, as it was found: what one connection learns of it, all pools of an engine know. A pooler in between that
// lends a server's session for one transaction (PgBouncer in transaction mode) leaves nothing to rely on that belongs to a session:
// no prepared statement, no setting, no LISTEN.
import type { Logger } from "pino";
import { currentPassword, readAddress, type ServerAddress } from "./server_address.js";
import { socketFolder } from "./server_socket.js";

/** Tokens of clouds are good for some minutes, and asking for one takes a second. */
const password_ms = 60_000;

export interface WayOptions {
  /** "auto" (default): unless a pooler is met. */
  prepare?: boolean | "auto" | undefined;
  /** Where LISTEN is heard, when not through `url`. */
  listen_url?: string | undefined;
  log?: Logger | undefined;
}

/** What is known of the way. */
export interface WayFacts {
  pooled: boolean;
  prepares: boolean;
  /** A pooler refuses settings it does not know when a connection starts. */
  takes_settings: boolean;
  /** Whether what is notified arrives; null: not tried. */
  hears: boolean | null;
}

export class ServerWay implements WayFacts {
  pooled = false;
  takes_settings = true;
  hears: boolean | null = null;
  /** The host to ask first, where there are several: those before it were standbys, or did not answer. */
  first_host = 0;
  readonly address: ServerAddress;
  private prepare: boolean | "auto";
  private password: { text: Promise<string>; until: number } | null = null;
  readonly listen_url: string;
  /** The folder of a Unix socket. */
  readonly folder: string | undefined;
  private readonly log: Logger | undefined;

  constructor(
    readonly url: string,
    options: WayOptions = {},
  ) {
    this.prepare = options.prepare ?? "auto";
    this.listen_url = options.listen_url ?? url;
    this.log = options.log;
    const { address, host } = socketFolder(url);
    this.address = readAddress(address);
    this.folder = host;
  }

  /** The one that stands in the address is the driver's to read: then undefined. A program is asked again after a minute. */
  currentPassword(): Promise<string | undefined> {
    const { password: source } = this.address;
    if (source === null) return Promise.resolve(undefined);
    if ("file" in source) return currentPassword(source);
    if (this.password !== null && performance.now() < this.password.until) return this.password.text;
    const text = currentPassword(source);
    this.password = { text, until: performance.now() + password_ms };
    text.catch(() => this.forgetPassword());
    return text;
  }

  /** Whether another try may have another password. */
  forgetPassword(): boolean {
    this.password = null;
    return this.address.password !== null;
  }

  /** The next connection goes to the host after this one. */
  passOver(host: number, hosts: number): void {
    this.first_host = (host + 1) % hosts;
  }

  get prepares(): boolean {
    return this.prepare === "auto" ? !this.pooled : this.prepare;
  }

  /** For LISTEN alone: what it meets on its own way counts there. */
  forListening(): ServerWay {
    return this.listen_url === this.url ? this : new ServerWay(this.listen_url, { prepare: false, log: this.log });
  }

  foundPooler(): void {
    if (this.pooled) return;
    this.pooled = true;
    const statements = this.prepares
      ? "FANFOLD_PREPARE=on: it must keep track of prepared statements"
      : "none is prepared";
    this.log?.info({}, `a connection pooler stands before the database (${statements})`);
  }

  /** For good: a pooler that shares sessions between connections will do it again. */
  stopPreparing(why: string): void {
    if (this.prepare === false) return;
    this.prepare = false;
    this.log?.warn(
      { why },
      "prepared statements do not last on this way to the database: from now on none is prepared",
    );
  }

  refuseSettings(why: string): void {
    this.takes_settings = false;
    this.foundPooler();
    this.log?.info(
      { why },
      "settings of a connection are refused: transactions bring theirs, otherwise the role's count",
    );
  }

  heard(hears: boolean): void {
    const before = this.hears;
    this.hears = hears;
    if (hears === before || (hears && before === null)) return;
    if (hears) this.log?.info({}, "what is notified arrives again");
    else {
      const fix = "FANFOLD_LISTEN_URL may name the server's own address";
      this.log?.warn({ fix }, "LISTEN is answered, but nothing arrives: new tasks are looked for every 100 to 200 ms");
    }
  }
}
