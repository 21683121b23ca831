// fanfold keys: makes, lists, rotates and revokes the API keys of a tenant, with the database at hand.
import { scopes } from "../../core/api/endpoint.js";
import type { Problem } from "../../core/errors/problems.js";
import { printable } from "../../core/values/printable.js";
import type { KeyPage, KeyRecord } from "../../engine/verbs/keys.js";
import { answer, type Cli, type CliCommand, globals } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { note } from "../terminal/io.js";
import { checked, collect, momentOf, oneOf, type PageFlags, pageOf, wholeNumber } from "../terminal/options.js";
import { answering, withSession } from "../terminal/session.js";
import { moment, table } from "../terminal/summary.js";

export function addKeys(cli: Cli): void {
  const keys = cli.program
    .command("keys")
    .summary("make, list, rotate and revoke API keys")
    .description("The API keys of a tenant. A key is shown once, when it is made; only a hash of it is kept.")
    .examples(
      "fanfold keys create 'nightly import' --scope submit --scope read",
      "fanfold keys rotate 7h3k9mpqrs2t --overlap 86400",
      "fanfold keys revoke 7h3k9mpqrs2t --reason leaked",
    );
  addList(cli, keys);
  addCreate(cli, keys);
  addRotate(cli, keys);
  addRevoke(cli, keys);
}

function addList(cli: Cli, keys: CliCommand): void {
  keys
    .command("list", { isDefault: true })
    .summary("list keys, newest first")
    .description("Lists the tenant's keys, newest first.")
    .pageOptions()
    .examples("fanfold keys list --tenant acme", "fanfold keys list --json | jq '.keys[].name'")
    .action(async (options: PageFlags) => {
      const asked = checked("these keys cannot be listed", (problems) => pageOf(options, problems));
      await answering(cli, ({ engine }) => engine.keys.list(asked), pageLines);
    });
}

function* pageLines({ keys, next }: KeyPage, width: number): Generator<string> {
  if (keys.length === 0) yield "no keys; make one: fanfold keys create <name> --scope read";
  const rows = keys.map((key) => [
    key.key_id,
    key.name,
    key.status,
    `${key.scopes.join(",")}${key.operator ? " operator" : ""}`,
    moment(key.created_at),
    moment(key.last_used_at) || "never",
    moment(key.revoked_at ?? key.expires_at),
  ]);
  if (rows.length > 0) yield* table(["KEY", "NAME", "STATUS", "MAY", "CREATED", "USED", "ENDS"], rows, width);
  if (next !== null) yield `more: add --cursor ${next}`;
}

interface CreateFlags {
  scope?: string[];
  env?: string;
  expires?: string;
  operator?: boolean;
  by?: string;
}

function addCreate(cli: Cli, keys: CliCommand): void {
  keys
    .command("create")
    .summary("make a key")
    .description("Makes a key and prints it, once: the key on standard output, everything else on standard error.")
    .argument("<name>", "what it is for")
    .option(
      "--scope <scope>",
      `what it may do: ${scopes.join(", ")} or all; several with commas, or one by one`,
      collect,
    )
    .option("--env <word>", "the second part of the key, so that people can distinguish keys by sight (default: live)")
    .option("--expires <moment>", "when it ends by itself, for example 2030-12-31T18:00:00Z (default: never)")
    .option("--operator", "an operator's key: may manage tenants and limits")
    .actorOption()
    .examples(
      "fanfold keys create 'nightly import' --scope submit,read",
      "KEY=$(fanfold keys create ops --scope all --operator)",
    )
    .action((name: string, flags: CreateFlags) => create(cli, name, flags));
}

async function create(cli: Cli, name: string, { scope = [], env, expires, operator, by }: CreateFlags): Promise<void> {
  const problems: Problem[] = [];
  const expires_at = momentOf("--expires", expires, problems);
  const named = scope.flatMap((text) => text.split(",")).map((text) => text.trim());
  const given = named.filter((text) => text !== "");
  for (const word of new Set(given)) {
    if (word !== "all") oneOf("--scope", word, scopes, problems);
  }
  const wanted = given.includes("all") ? [...scopes] : [...new Set(given)];
  if (wanted.length === 0) {
    problems.push({ path: "--scope", problem: "is missing", fix: `--scope read, or ${scopes.join(", ")}, all` });
  }
  if (problems.length > 0) throw usage("this key cannot be made", { problems });
  await withSession(cli, async ({ engine }) => {
    const made = await engine.keys.create({
      name,
      scopes: wanted,
      env,
      expires_at,
      operator: operator ?? false,
      actor: by ?? cli.io.user(),
    });
    answer(cli, made, () => [made.key]);
    tell(cli, [`key ${made.key_id} of tenant ${made.tenant_id}: keep it, it is not shown again`]);
  });
}

function addRotate(cli: Cli, keys: CliCommand): void {
  keys
    .command("rotate")
    .summary("make a key that takes another's place")
    .description("Makes a key with the name and the scopes of another, which ends after the overlap.")
    .argument("<key>", "the key's id")
    .option("--overlap <seconds>", "how long both are valid, 0 to 2592000 (default 3600)")
    .option(
      "--expires <moment>",
      "when the new one ends by itself, for example 2030-12-31T18:00:00Z (default: after as long as the old one was given)",
    )
    .actorOption()
    .examples("fanfold keys rotate 7h3k9mpqrs2t", "fanfold keys rotate 7h3k9mpqrs2t --overlap 86400")
    .action(async (key_id: string, flags: { overlap?: string; expires?: string; by?: string }) => {
      const asked = checked("this key cannot be rotated", (problems) => ({
        overlap_s: wholeNumber("--overlap", flags.overlap, 0, 2_592_000, problems),
        expires_at: momentOf("--expires", flags.expires, problems),
      }));
      await withSession(cli, async ({ engine }) => {
        const rotated = await engine.keys.rotate(key_id, { ...asked, actor: flags.by ?? cli.io.user() });
        answer(cli, rotated, () => [rotated.new.key]);
        tell(cli, [
          `key ${rotated.new.key_id} takes the place of ${key_id}: keep it, it is not shown again`,
          `key ${key_id} ends at ${moment(rotated.old.revoked_at)}`,
        ]);
      });
    });
}

function addRevoke(cli: Cli, keys: CliCommand): void {
  keys
    .command("revoke")
    .summary("end a key now")
    .description("Ends a key now: within five seconds every server refuses it.")
    .argument("<key>", "the key's id")
    .reasonOption()
    .actorOption()
    .examples("fanfold keys revoke 7h3k9mpqrs2t --reason leaked")
    .action(async (key_id: string, flags: { reason?: string; by?: string }) => {
      await withSession(cli, async ({ engine }) => {
        const revoked = await engine.keys.revoke(key_id, {
          reason: flags.reason ?? null,
          actor: flags.by ?? cli.io.user(),
        });
        answer(cli, revoked, () => [revokedLine(revoked)]);
      });
    });
}

function revokedLine({ key_id, name, revoked_at }: KeyRecord): string {
  return `key ${key_id} (${printable(name, 100)}) ended at ${moment(revoked_at)}`;
}

/** Beside the answer, so that a script gets the key and nothing else. */
function tell(cli: Cli, lines: readonly string[]): void {
  if (!globals(cli).json) for (const text of lines) note(cli.io, text);
}
