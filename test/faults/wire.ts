// One connection through the proxy. Bytes pass as they come; their messages are read on the side.
import type { Socket } from "node:net";

export interface Cut {
  pattern: string;
  answered: boolean;
  /** Whether this cut is still to be made. */
  take(): boolean;
  done(statement: string): void;
}

const ssl_request = 80877103;

export class Wire {
  application_name = "";
  closed = false;
  /** Statements that were sent, by their text. */
  readonly statements: string[] = [];
  private state: "open" | "stalled" | "losing" | "cut" = "open";
  loses_piece: () => boolean = () => false;
  private readonly cuts: Cut[] = [];
  private cutting: { cut: Cut; statement: string; at: number } | null = null;
  /** What waits while it is stalled: [to the server?, bytes]. */
  private kept: [to_server: boolean, bytes: Buffer][] = [];
  private readonly prepared = new Map<string, string>();
  private from_client = Buffer.alloc(0);
  private from_server = Buffer.alloc(0);
  private started = false;
  /** Requests for an answer that were sent (Sync, Query), and answers (ReadyForQuery) that came. */
  private asked = 0;
  private answered = 0;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly on_started: () => void,
  ) {
    client.on("data", (bytes: Buffer) => this.fromClient(bytes));
    server.on("data", (bytes: Buffer) => this.fromServer(bytes));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => {});
      socket.on("close", () => {
        if (this.state === "open") other.end();
        if (this.state === "open" || socket === client) this.closed = true;
        // Whoever loses what is sent loses the farewell as well.
        if (socket === client && this.state !== "losing") server.destroy();
      });
    }
  }

  reset(): void {
    this.closed = true;
    this.client.resetAndDestroy();
    this.server.resetAndDestroy();
  }

  stall(): void {
    if (this.state === "open") this.state = "stalled";
  }

  /** From now on what comes is thrown away, in both directions. */
  lose(): void {
    if (this.state === "open") this.state = "losing";
  }

  resume(): void {
    if (this.state === "losing") this.state = "open";
    if (this.state !== "stalled") return;
    this.state = "open";
    const { kept } = this;
    this.kept = [];
    for (const [to_server, bytes] of kept) (to_server ? this.server : this.client).write(bytes);
    if (this.server.destroyed) this.client.end();
  }

  halfOpen(): void {
    this.state = "cut";
    this.server.destroy();
  }

  cutAfter(cut: Cut): void {
    this.cuts.push(cut);
  }

  private fromClient(bytes: Buffer): void {
    if (this.state === "cut") return;
    // Read first: whose connection it is may decide what becomes of its very first bytes.
    this.readClient(bytes);
    if (this.state === "stalled") this.kept.push([true, bytes]);
    else if (this.state !== "losing" && !this.loses_piece()) this.server.write(bytes);
    if (this.cutting !== null && !this.cutting.cut.answered && this.asked >= this.cutting.at) this.finishCut();
  }

  private fromServer(bytes: Buffer): void {
    if (this.state === "cut") return;
    this.readServer(bytes);
    if (this.state === "stalled") {
      this.kept.push([false, bytes]);
    } else if (this.state === "losing" || this.loses_piece()) return;
    else if (this.cutting === null) this.client.write(bytes);
    else if (this.answered >= this.cutting.at) this.finishCut();
  }

  private finishCut(): void {
    const { cut, statement } = this.cutting!;
    this.state = "cut";
    this.closed = true;
    // The client's side is reset; the server's is closed in order, so that what it was sent arrives.
    this.client.resetAndDestroy();
    this.server.end();
    cut.done(statement);
  }

  private readClient(bytes: Buffer): void {
    this.from_client = Buffer.concat([this.from_client, bytes]);
    for (;;) {
      const { from_client: buffer } = this;
      const head = this.started ? 5 : 4;
      if (buffer.length < head) return;
      const length = buffer.readInt32BE(head - 4) + head - 4;
      if (buffer.length < length) return;
      this.from_client = buffer.subarray(length);
      if (this.started) this.message(String.fromCharCode(buffer[0]!), buffer.subarray(5, length));
      else this.startup(buffer.subarray(4, length));
    }
  }

  private startup(body: Buffer): void {
    if (body.readInt32BE(0) === ssl_request) throw new Error("the fault proxy does not speak TLS");
    const words = body.subarray(4).toString("utf8").split("\0");
    this.application_name = words[words.indexOf("application_name") + 1] ?? "";
    this.started = true;
    this.asked = 1;
    this.on_started();
  }

  private message(type: string, body: Buffer): void {
    const words = () => body.toString("utf8").split("\0");
    if (type === "P") this.prepared.set(words()[0]!, words()[1]!);
    else if (type === "B") this.statement(this.prepared.get(words()[1]!) ?? "");
    else if (type === "Q") this.statement(words()[0]!);
    if (type === "S" || type === "Q") this.asked++;
  }

  private statement(text: string): void {
    this.statements.push(text);
    const cut = this.cuts.find(({ pattern, take }) => text.toLowerCase().includes(pattern.toLowerCase()) && take());
    // Its answer is the next one that will be asked for.
    if (cut !== undefined && this.cutting === null) this.cutting = { cut, statement: text, at: this.asked + 1 };
  }

  private readServer(bytes: Buffer): void {
    this.from_server = Buffer.concat([this.from_server, bytes]);
    for (;;) {
      const { from_server: buffer } = this;
      if (buffer.length < 5) return;
      const length = buffer.readInt32BE(1) + 1;
      if (buffer.length < length) return;
      this.from_server = buffer.subarray(length);
      if (buffer[0] === 0x5a) this.answered++;
    }
  }
}
