// fanfold dashboard: a link that signs in once, asked for with a key over HTTP, or made where the database is at hand.
import { scopes } from "../../core/api/endpoint.js";
import { sessions_api } from "../../core/api/sessions.js";
import type { Engine } from "../../engine/engine.js";
import { createSignInLink } from "../../engine/verbs/sessions.js";
import { answer, type Cli, globals } from "../terminal/command.js";
import { note } from "../terminal/io.js";
import { configOf, withSession } from "../terminal/session.js";
import { moment } from "../terminal/summary.js";

interface Flags {
  url?: string;
  key?: string;
  as?: string;
}

interface Link {
  url: string;
  key_id: string;
  expires_at: string;
}

export function addDashboard(cli: Cli): void {
  cli.program
    .command("dashboard")
    .summary("print a link that signs in to the dashboard once")
    .description(
      "Prints a link to the dashboard that signs in once, within ten minutes. With a key it is asked for over HTTP, with the rights of\n" +
        "that key. Without one it is made in the database, with the rights of the tenant's key that may do most.",
    )
    .option("--key <key>", "ask with this key (default: FANFOLD_KEY)")
    .option("--url <address>", "where the service is (default: FANFOLD_PUBLIC_URL, or FANFOLD_HOST and FANFOLD_PORT)")
    .option("--as <id>", "without a key: the id of the key whose rights it gives")
    .examples("fanfold dashboard", "FANFOLD_KEY=ff_… fanfold dashboard --url https://maps.example.org")
    .action((flags: Flags) => dashboard(cli, flags));
}

async function dashboard(cli: Cli, flags: Flags): Promise<void> {
  const config = configOf(cli);
  const key = flags.key ?? (flags.as === undefined ? config.api_key : undefined);
  const url = (flags.url ?? config.public_url ?? addressOf(config.host, config.port)).replace(/\/+$/, "");
  const link = key === undefined ? await fromDatabase(cli, url, flags.as) : await fromService(url, key);
  answer(cli, link, () => [link.url]);
  if (!globals(cli).json) {
    note(cli.io, `signs in once, until ${moment(link.expires_at)}, with the rights of key ${link.key_id}`);
  }
}

async function fromService(url: string, key: string): Promise<Link> {
  const { createClient } = await import("../../client/index.js");
  return createClient({ url, key }).call(sessions_api.link, {});
}

function fromDatabase(cli: Cli, url: string, as: string | undefined): Promise<Link> {
  return withSession(cli, async ({ engine }) => signInLink(engine, url, as ?? (await keyOfDashboard(engine))));
}

/** `key_id`: whose rights it gives. */
export async function signInLink(engine: Engine, url: string, key_id: string): Promise<Link> {
  const { code, expires_at } = await createSignInLink(engine.db, { tenant_id: engine.tenant, key_id });
  return { url: `${url}/sign-in#code=${code}`, key_id, expires_at };
}

/** A person who has the database at hand may do everything: so may the key whose rights they sign in with. The command makes that key where it is missing. */
export async function keyOfDashboard({ keys }: Engine): Promise<string> {
  const { keys: all } = await keys.list({ limit: 1000 });
  const known = all.find(({ status, operator, scopes: has }) => {
    return status === "active" && operator && scopes.every((scope) => has.includes(scope));
  });
  if (known !== undefined) return known.key_id;
  return (await keys.create({ name: "dashboard", scopes, operator: true, actor: "fanfold" })).key_id;
}

function addressOf(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
