// Two hosts and the two links between them, in network namespaces: a client's host, and a database's that is reached under two
// addresses. `dbhost` is the name of one of them, and which one can be changed; each link can be cut, so that nobody says anything.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainScript } from "../plain_code.js";

const relay = plainScript(new URL("./relay_main.ts", import.meta.url));

export type Side = "a" | "b";
const host_of = { a: "10.213.1.1", b: "10.213.2.1" } as const satisfies Record<Side, string>;

const ip = (...args: string[]) => execFileSync("ip", args, { stdio: ["ignore", "pipe", "pipe"] });

/** Why there can be none here; null: there can. */
export function noNamespaces(): string | null {
  const name = `calls-try-${randomBytes(3).toString("hex")}`;
  try {
    ip("netns", "add", name);
    ip("netns", "delete", name);
    return null;
  } catch (error) {
    return `network namespaces are not to be had: ${(error as Error).message.split("\n")[0]}`;
  }
}

export class TwoWays {
  private readonly id = randomBytes(3).toString("hex");
  private readonly client = `calls-client-${this.id}`;
  private readonly database = `calls-database-${this.id}`;
  private readonly hosts = join("/etc/netns", this.client);
  private readonly dir = mkdtempSync(join(tmpdir(), "fanfold-ways-"));
  private relay: ChildProcess | null = null;
  private server: Server | null = null;

  /** `url`: of the database, as it is reached from here. */
  static async open(url: string): Promise<TwoWays> {
    const ways = new TwoWays();
    try {
      await ways.make(new URL(url));
      return ways;
    } catch (error) {
      await ways.close();
      throw error;
    }
  }

  private async make({ hostname, port }: URL): Promise<void> {
    ip("netns", "add", this.client);
    ip("netns", "add", this.database);
    for (const [side, host] of Object.entries(host_of)) {
      const [near, far] = [`c${this.id}${side}`, `d${this.id}${side}`];
      ip("link", "add", near, "netns", this.client, "type", "veth", "peer", "name", far, "netns", this.database);
      ip("-n", this.client, "addr", "add", `${host.replace(/1$/, "2")}/24`, "dev", near);
      ip("-n", this.database, "addr", "add", `${host}/24`, "dev", far);
      ip("-n", this.client, "link", "set", near, "up");
      ip("-n", this.database, "link", "set", far, "up");
    }
    for (const name of [this.client, this.database]) ip("-n", name, "link", "set", "lo", "up");
    mkdirSync(this.hosts, { recursive: true });
    this.point("a");
    const socket_path = join(this.dir, "database");
    this.server = createServer((from) => {
      const upstream = connect(Number(port), hostname);
      from.pipe(upstream).pipe(from);
      from.on("error", () => upstream.destroy());
      upstream.on("error", () => from.destroy());
    });
    await new Promise<void>((resolve) => this.server!.listen(socket_path, resolve));
    const args = ["netns", "exec", this.database, process.execPath, relay, socket_path, ...Object.values(host_of)];
    const child = spawn("ip", args, { stdio: ["ignore", "pipe", "inherit"] });
    this.relay = child;
    await new Promise<void>((resolve, reject) => {
      child.stdout.once("data", () => resolve());
      child.once("exit", (code) => reject(new Error(`the relay ended with ${code}`)));
    });
  }

  /** Where the name leads from now on. Written in place: processes that run have the file itself. */
  point(to: Side): void {
    writeFileSync(join(this.hosts, "hosts"), `127.0.0.1 localhost\n${host_of[to]} dbhost\n`);
  }

  /** Nothing arrives there any more, and nobody is told. */
  cut(side: Side): void {
    ip("-n", this.database, "link", "set", `d${this.id}${side}`, "down");
  }

  mend(side: Side): void {
    ip("-n", this.database, "link", "set", `d${this.id}${side}`, "up");
  }

  /** A command line that runs on the client's host. */
  on(command: readonly string[]): string[] {
    return ["ip", "netns", "exec", this.client, ...command];
  }

  async close(): Promise<void> {
    this.relay?.kill("SIGKILL");
    for (const name of [this.client, this.database]) {
      try {
        ip("netns", "delete", name);
      } catch {
        // It was not made.
      }
    }
    rmSync(this.hosts, { recursive: true, force: true });
    rmSync(this.dir, { recursive: true, force: true });
    // Its connections end with the relay.
    this.server?.close();
  }
}
