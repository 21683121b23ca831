// A TCP proxy between clients and the server, which does to their connections what networks do. It reads just enough of
// the protocol to tell connections apart (application_name) and to know which statement has been sent and answered.
import { connect, createServer, type Server, type Socket } from "node:net";
import { quietPort } from "./cluster.js";
import { type Cut, Wire } from "./wire.js";

/** Which connections: by application_name (`fanfold work`, `fanfold heartbeat`, `fanfold heartbeat listen`), or all. */
export type Which = (wire: Wire) => boolean;
export const every: Which = () => true;
export const named =
  (...names: string[]): Which =>
  ({ application_name }) =>
    names.includes(application_name);

export class TcpProxy {
  /** Every connection there ever was, oldest first. */
  readonly wires: Wire[] = [];
  private stalls: Which[] = [];
  private losses: Which[] = [];
  private loses_piece: () => boolean = () => false;
  private cuts: { which: Which; cut: Cut }[] = [];

  private constructor(
    readonly port: number,
    private readonly server_port: number,
    private readonly server: Server,
  ) {
    server.on("connection", (client) => this.take(client));
  }

  static async open(server_port: number, at?: number): Promise<TcpProxy> {
    const port = at ?? (await quietPort());
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return new TcpProxy(port, server_port, server);
  }

  private take(client: Socket): void {
    const upstream = connect({ port: this.server_port, host: "127.0.0.1", noDelay: true });
    const wire = new Wire(client, upstream, () => {
      // Only now is it known whose connection it is.
      if (this.stalls.some((which) => which(wire))) wire.stall();
      if (this.losses.some((which) => which(wire))) wire.lose();
      wire.loses_piece = () => this.loses_piece();
      for (const { which, cut } of this.cuts) if (which(wire)) wire.cutAfter(cut);
    });
    this.wires.push(wire);
  }

  open(which: Which = every): Wire[] {
    return this.wires.filter((wire) => !wire.closed && which(wire));
  }

  /** RST to both sides, at once. Says how many there were. */
  drop(which: Which = every): number {
    const hit = this.open(which);
    for (const wire of hit) wire.reset();
    return hit.length;
  }

  /**
   * Nothing passes in either direction, and nobody is told (no FIN, no RST); connections that are opened meanwhile stall
   * too. heal() delivers what was kept, late, as TCP does after an outage.
   */
  stall(which: Which = every): number {
    this.stalls.push(which);
    const hit = this.open(which);
    for (const wire of hit) wire.stall();
    return hit.length;
  }

  /** The same, but what was sent meanwhile is lost: heal() lets through only what comes then, as a proxy without memory does. */
  lose(which: Which = every): number {
    this.losses.push(which);
    const hit = this.open(which);
    for (const wire of hit) wire.lose();
    return hit.length;
  }

  /** Of all that passes, some pieces are lost, as TCP never does and a broken proxy may. */
  losePieces(is_lost: () => boolean): void {
    this.loses_piece = is_lost;
  }

  heal(): void {
    this.stalls = [];
    this.loses_piece = () => false;
    this.losses = [];
    for (const wire of this.open()) wire.resume();
  }

  /** The server's side is closed, the client's side stays open and silent: it never learns. New connections are well. */
  halfOpen(which: Which = every): number {
    const hit = this.open(which);
    for (const wire of hit) wire.halfOpen();
    return hit.length;
  }

  /**
   * Lets through the next statement whose text has `pattern` in it, waits until the server has answered, and cuts the
   * connection instead of passing the answer on. `times`: so often, on whatever connection. `answered: false` cuts as soon
   * as the statement has been sent, so that nobody can say whether it committed. Resolves with what was cut.
   */
  cutAfter(pattern: string, { which = every, times = 1, answered = true } = {}): Promise<string[]> {
    return new Promise((resolve) => {
      const statements: string[] = [];
      let taken = 0;
      const cut: Cut = {
        pattern,
        answered,
        take: () => taken++ < times,
        done: (text) => {
          statements.push(text);
          if (statements.length === times) resolve(statements);
        },
      };
      this.cuts.push({ which, cut });
      for (const wire of this.open(which)) wire.cutAfter(cut);
    });
  }

  async close(): Promise<void> {
    for (const wire of this.wires) wire.reset();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
