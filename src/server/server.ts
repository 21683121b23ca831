// The HTTP server as something that starts and stops: a port, the janitor beside it, and an end in which every call that came
// is answered or cut off, never half done.
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { Conflict } from "../core/errors/errors.js";
import { fileKeeper } from "../engine/upkeep/file_keeper.js";
import { Housekeeping } from "../engine/upkeep/housekeeping.js";
import { type Alert, Janitor } from "../engine/upkeep/janitor.js";
import { Retention } from "../engine/upkeep/retention.js";
import { Scheduler } from "../engine/upkeep/scheduler.js";
import { assertServingRole } from "./access/role.js";
import { type AppOptions, createApp } from "./app.js";
import type { Service } from "./service.js";

export interface ServerOptions extends Omit<AppOptions, "check_replies" | "grace_ms"> {
  /** Default: 127.0.0.1, so that nobody else can reach it unless somebody says so. */
  host?: string;
  /** Default: 8080; 0 takes any that is free. */
  port?: number;
  /** How long calls that run may go on after stop() was called. */
  grace_s?: number;
  /** How long the server says that it is not ready, and goes on answering, before it stops. */
  drain_s?: number;
  /** Do the janitor's and the scheduler's duties too; a deployment without any worker on the database needs it. Default: yes. */
  janitor?: boolean;
  /** Of the janitor and the scheduler: a page, a chat message. */
  on_alert?: ((alert: Alert) => unknown) | undefined;
}

export interface Server {
  /** http://host:port */
  readonly url: string;
  /** Accepts no more, lets calls that run end within the grace, ends streams and waits, closes. */
  stop(): Promise<void>;
  /** Cuts off what is left at once; also ends a stop() that is under way. */
  kill(): Promise<void>;
}

/** Throws Forbidden under a role that must not serve, Conflict when the port is taken. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { engine, host = "127.0.0.1", port = 8080, grace_s = 20, drain_s = 0, janitor = true, on_alert } = options;
  await assertServingRole(engine.db);
  const app = createApp({ ...options, grace_ms: grace_s * 1000 });
  await listen(app, host, port);
  const { log } = engine;
  // On connections of their own: rounds take the time they need, and hold up no call.
  const db = janitor && engine.db.kind === "server" ? engine.openConnection("janitor", 2) : engine.db;
  const housekeeping = janitor
    ? new Housekeeping(new Janitor({ db, log, on_alert }), log, 30, [
        new Scheduler({ engine, db, log, on_alert }),
        fileKeeper(engine, db, log),
        new Retention({ db, log }),
      ])
    : null;
  let stopping: Promise<void> | undefined;
  const hurry = new AbortController();
  const stopOnce = () => {
    stopping ??= stop();
    return stopping;
  };
  const stop = async (): Promise<void> => {
    serviceOf(app).announceStop();
    if (drain_s > 0) await sleep(drain_s * 1000, undefined, { signal: hurry.signal }).catch(() => {});
    housekeeping?.stop();
    await app.close();
    if (db !== engine.db) await db.close();
  };
  return {
    url: urlOf(app, host),
    stop: stopOnce,
    kill: () => {
      hurry.abort();
      const stopped = stopOnce();
      app.server.closeAllConnections();
      return stopped;
    },
  };
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EADDRINUSE") {
      throw new Conflict(`port ${port} of ${host} is taken by another process`, {
        hint: "choose another port",
        cause: error,
      });
    }
    if (code === "EACCES") {
      throw new Conflict(`port ${port} may not be used by this user`, {
        hint: "choose a port above 1024",
        cause: error,
      });
    }
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
      throw new Conflict(`this machine has no address ${host}`, {
        hint: "127.0.0.1, or 0.0.0.0 for all",
        cause: error,
      });
    }
    throw error;
  }
}

function serviceOf(app: FastifyInstance): Service {
  return (app as FastifyInstance & { service: Service }).service;
}

function urlOf(app: FastifyInstance, host: string): string {
  const { port } = app.server.address() as AddressInfo;
  // An address for "all" is none that anybody can call.
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
