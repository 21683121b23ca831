// What `fanfold serve` and `fanfold up` have in common: the HTTP server of a session, its first key, and the end at a signal.
import { scopes } from "../../core/api/endpoint.js";
import { Conflict } from "../../core/errors/errors.js";
import { no_secret_key } from "../../engine/schema/diagnosis.js";
import type { Server } from "../../server/server.js";
import { type Leaver, stopOnSignals } from "../../worker/signals.js";
import type { Worker } from "../../worker/worker.js";
import { keyOfDashboard, signInLink } from "../commands/dashboard.js";
import { CliFailure, exit_codes } from "./failure.js";
import { type Io, note } from "./io.js";
import { noteServedAt } from "./served_at.js";
import type { Session } from "./session.js";

/** The pool of a server that answers calls. */
export const SERVER_POOL = {
  /** Enough that a slow call does not hold up the others. */
  connections: 10,
  /** The caller has given up by then: what goes on would only hold a connection. */
  statement_timeout_s: 30,
  /** Nobody learns of a call that has not begun after so long but that he may try again. */
  wait_s: 8,
  /** Nobody waits behind a call that waits for what its own tenant holds. */
  apart: true,
} as const;

export interface Serving {
  server: Server;
  /** The first key of an embedded database that had none; it is shown only this once. */
  first_key: string | null;
  /** Where the dashboard is; null where it was not built. */
  dashboard: string | null;
  /** Signs in to it once; only of the embedded database, for a server's lines are read by many. */
  sign_in: string | null;
}

/** `janitor`: no worker of this process does its duties. */
export async function serveHttp(cli_name: string, session: Session, janitor: boolean): Promise<Serving> {
  const { engine, config } = session;
  const { host, port, jwt, metrics_token, trust_proxy, public_url, catalog, cors_origins, on_alert } = config;
  const [{ startServer }, { hasDashboard }, { alertsTo }] = await Promise.all([
    import("../../server/server.js"),
    import("../../server/pages/dashboard.js"),
    import("../../engine/upkeep/alert_webhook.js"),
  ]);
  try {
    const server = await session.patience(() =>
      startServer({
        engine,
        host,
        port,
        jwt,
        metrics_token,
        trust_proxy,
        janitor,
        public_url,
        catalog,
        cors_origins,
        signed_for_h: config.signed_for_h,
        open_layers: config.open_layers,
        on_alert: on_alert === undefined ? undefined : alertsTo(on_alert),
      }),
    );
    // Not before: a key that is made and not shown would be lost, and no other made in its place.
    try {
      const first_key = await firstKey(session);
      const dashboard = hasDashboard() ? (public_url ?? server.url) : null;
      const signs_in = dashboard !== null && engine.db.kind === "embedded";
      const sign_in = signs_in ? (await signInLink(engine, dashboard, await keyOfDashboard(engine))).url : null;
      return { server: noted(server, session), first_key, dashboard, sign_in };
    } catch (error) {
      await server.kill();
      throw error;
    }
  } catch (error) {
    if (error instanceof Conflict) throw listenFailure(cli_name, error, host, port);
    throw error;
  }
}

/** Other commands find the embedded database in use: they are told where to ask instead. */
function noted(server: Server, { engine, config }: Session): Server {
  if (engine.db.kind !== "embedded" || config.database_dir === config.data_dir) return server;
  const forget = noteServedAt(config.data_dir, server.url);
  return {
    ...server,
    stop: () => server.stop().finally(forget),
    kill: () => server.kill().finally(forget),
  };
}

/** The server does not listen: by the reason that the system gave, what is wrong and what to choose instead. */
function listenFailure(name: string, error: Conflict, host: string, port: number): CliFailure {
  const reason = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  const without = name === "up" ? ", or without HTTP: fanfold up --no-http" : "";
  const failure = (code: string, next: string, why?: string) =>
    new CliFailure({ code, what: error.message, why, next: next + without, exit_code: exit_codes.usage });
  if (reason === "EADDRINUSE") {
    const other = port >= 65_535 ? 8080 : port + 1;
    return failure("port_taken", `fanfold ${name} --port ${other}, or --port 0 for any that is free`);
  }
  if (reason === "EACCES") {
    return failure("port_refused", `fanfold ${name} --port 8080`, "ports below 1024 are for privileged users");
  }
  const why = `${host} is neither an address of this machine nor a name of one`;
  return failure("no_such_address", `fanfold ${name} --host 127.0.0.1, or --host 0.0.0.0 for all addresses`, why);
}

/** On a server nobody but the operator can know the key; without it webhooks fail later, and one by one. */
export function warnWithoutSecretKey(io: Io, { engine, config }: Session): void {
  if (engine.db.kind === "embedded" || config.secret_keys.length > 0) return;
  note(io, `warning: ${no_secret_key.what}; ${no_secret_key.fix}`);
}

/** The embedded database is held by this process: no other command could make the first key while it runs. */
async function firstKey({ engine }: Session): Promise<string | null> {
  if (engine.db.kind !== "embedded" || (await engine.keys.list({ limit: 1 })).keys.length > 0) return null;
  const made = await engine.keys.create({ name: "first key", scopes, operator: true, actor: "fanfold" });
  return made.key;
}

/** What `up` and `serve` tell of it in JSON. */
export function httpDocument({ server: { url }, first_key, dashboard, sign_in }: Serving) {
  return {
    http: { url, docs: `${url}/api/docs`, dashboard },
    ...(first_key === null ? {} : { first_key }),
    ...(sign_in === null ? {} : { sign_in }),
  };
}

export function httpLines({ server, first_key, dashboard, sign_in }: Serving, kind: "server" | "embedded"): string[] {
  const lines: string[] = [];
  if (sign_in !== null) {
    lines.push(`  dashboard ${sign_in}`, "            signs in once, within 10 minutes; after that with a key");
  } else if (dashboard !== null) {
    lines.push(`  dashboard ${dashboard}`, "            sign in with a key, or with a link: fanfold dashboard");
  }
  lines.push(`  http      ${server.url}`, `  docs      ${server.url}/api/docs`);
  if (first_key !== null) {
    lines.push(
      `  key       ${first_key}`,
      "            shown this once, only its hash is kept; it may do everything, as Authorization: Bearer <key>",
      `  submit    curl ${server.url}/api/jobs/submit/hello_world -H 'authorization: Bearer <key>' \\`,
      `              -H 'content-type: application/json' -d '{"parameters":{"n":3}}'`,
    );
  }
  if (kind === "server") lines.push("  keys      fanfold keys create <name> --scope submit --scope read");
  else lines.push(`  keys      POST ${server.url}/api/keys, or while this is stopped: fanfold keys create <name>`);
  return lines;
}

/** A worker beside the server; when there can be none, there is no server either. */
export async function workerBeside(
  session: Session,
  server: Server | null,
  types?: readonly string[],
): Promise<Worker> {
  try {
    return await session.startWorker(types);
  } catch (error) {
    await server?.kill();
    throw error;
  }
}

/** All of them together, as one that can be told to leave. */
export function together(leavers: readonly (Leaver | null)[]): Leaver {
  const present = leavers.filter((one) => one !== null);
  return {
    stop: async () => void (await Promise.all(present.map((one) => one.stop()))),
    kill: async () => void (await Promise.all(present.map((one) => one.kill()))),
  };
}

/** `drained`: it ends by itself, too, when this does. */
export async function untilTold(
  io: Io,
  leaver: Leaver,
  what: string,
  drained?: Promise<unknown>,
): Promise<"gracefully" | "at once"> {
  const { stopped, dispose } = stopOnSignals(leaver, {
    source: io.onSignal,
    onFirst: (signal) => note(io, `${signal}: ${what} (again: at once)`),
    // Whatever hangs, the second one has told it already.
    onThird: () => void leaver.kill(),
  });
  try {
    return await (drained === undefined ? stopped : Promise.race([stopped, drained.then(() => "gracefully" as const)]));
  } finally {
    dispose();
  }
}
