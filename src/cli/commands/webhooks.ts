// fanfold webhooks: who hears of outcomes (endpoints), what they were sent (deliveries), and sending it again (replay).
import type { Problem } from "../../core/errors/problems.js";
import { job_events, type WebhookEvent, webhook_events } from "../../core/places/webhooks.js";
import { printable } from "../../core/values/printable.js";
import type { WebhookRecord, WebhookWithSecret } from "../../engine/verbs/webhooks.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { checked, collect, oneOf, wholeNumber } from "../terminal/options.js";
import { answering, withSession } from "../terminal/session.js";
import { moment, table } from "../terminal/summary.js";
import { addDeliveries, addDiscard, addReplay, addShowDelivery } from "./deliveries.js";

export function addWebhooks(cli: Cli): void {
  const webhooks = cli.program
    .command("webhooks")
    .summary("notify other services when jobs end")
    .description("Endpoints that hear how jobs ended, what they were sent, and sending it again.")
    .examples(
      "fanfold webhooks create https://example.com/hook --event job.failed",
      "fanfold webhooks deliveries --status failed",
      "fanfold webhooks replay <delivery>",
    );
  addCreate(cli, webhooks);
  addList(cli, webhooks);
  addShow(cli, webhooks);
  addUpdate(cli, webhooks);
  addSwitch(cli, webhooks, "enable");
  addSwitch(cli, webhooks, "disable");
  addRotate(cli, webhooks);
  addPing(cli, webhooks);
  addRemove(cli, webhooks);
  addDeliveries(cli, webhooks);
  addShowDelivery(cli, webhooks);
  addReplay(cli, webhooks);
  addDiscard(cli, webhooks);
}

interface SettingFlags {
  url?: string;
  event?: string[];
  description?: string;
  timeout?: string;
  by?: string;
}

function settingsOf(cli: Cli, flags: SettingFlags, problems: Problem[]) {
  const events = flags.event?.map((event) => oneOf("--event", event, webhook_events, problems));
  const timeout_s = wholeNumber("--timeout", flags.timeout, 1, 30, problems);
  if (problems.length > 0) throw usage("this endpoint cannot be", { problems });
  return {
    events: events as WebhookEvent[] | undefined,
    timeout_s,
    description: flags.description,
    ...actorOf(cli, flags),
  };
}

function actorOf(cli: Cli, { by }: { by?: string }): { actor?: string } {
  const actor = by ?? cli.io.user();
  return actor === null ? {} : { actor };
}

function addSettings(command: CliCommand): CliCommand {
  return command
    .option("--event <event>", `hears of this, may be repeated (${webhook_events.join(", ")}); all of jobs`, collect)
    .option("--description <text>", "what it is for")
    .option("--timeout <seconds>", "how long it may take to answer, 1 to 30 (default 20)")
    .actorOption();
}

function addCreate(cli: Cli, webhooks: CliCommand): void {
  addSettings(
    webhooks
      .command("create")
      .summary("make an endpoint")
      .description("Makes an endpoint. Its secret is shown once: receivers check signatures with it.")
      .argument("<url>", "where to POST to")
      .option("--secret <name>", "secret://name of one the workers know, instead of a new one"),
  )
    .examples(
      "fanfold webhooks create https://example.com/hooks",
      "fanfold webhooks create https://example.com/hooks --event job.failed --secret secret://billing_hook",
    )
    .action(async (url: string, flags: SettingFlags & { secret?: string }) => {
      const settings = settingsOf(cli, flags, []);
      const { secret } = flags;
      await withSession(cli, async ({ engine }) => {
        const made = await engine.webhooks.create({ url, ...settings, secret });
        answer(cli, made, () => [
          `made  ${made.endpoint_id}  ${printable(made.url, 200)}`,
          ...secretLines(made),
          `  try it: fanfold webhooks ping ${made.endpoint_id}`,
        ]);
      });
    });
}

function* secretLines({ secret, secrets }: WebhookWithSecret): Generator<string> {
  if (secret !== null) yield `  secret  ${secret}   (shown once: keep it where the receiver finds it)`;
  for (const { kept, until } of secrets) {
    if (until === null) continue;
    const which = kept.startsWith("secret://") ? `the old secret (${printable(kept, 100)})` : "the old secret";
    yield `  ${which} stays good until ${moment(until)}: till then deliveries are signed with both`;
  }
}

function addList(cli: Cli, webhooks: CliCommand): void {
  webhooks
    .command("list", { isDefault: true })
    .summary("list endpoints")
    .description("Lists the endpoints of this tenant.")
    .examples("fanfold webhooks list")
    .action(() =>
      withSession(cli, async ({ engine }) => {
        const endpoints = await engine.webhooks.list();
        answer(cli, { endpoints }, () => listLines(endpoints, cli.io.width()));
      }),
    );
}

function* listLines(endpoints: readonly WebhookRecord[], width: number): Generator<string> {
  if (endpoints.length === 0) {
    yield "no webhook endpoints; make one: fanfold webhooks create <url>";
    return;
  }
  const rows = endpoints.map((one) => [
    one.endpoint_id,
    one.status,
    one.events.length === job_events.length && job_events.every((event) => one.events.includes(event))
      ? "all of jobs"
      : one.events.map((event) => event.replace(/^job\./, "")).join(","),
    printable(one.url, 200),
    printable(one.disabled_reason ?? "", 200),
  ]);
  yield* table(["ENDPOINT", "STATUS", "EVENTS", "URL", ""], rows, width);
}

function addShow(cli: Cli, webhooks: CliCommand): void {
  webhooks
    .command("show")
    .summary("one endpoint")
    .description("One endpoint: its health, and until when its secrets are good.")
    .argument("<endpoint>", "its id, as webhooks list shows it")
    .examples("fanfold webhooks show we_abcdefghijklmnop")
    .action((endpoint_id: string) => answering(cli, ({ engine }) => engine.webhooks.get(endpoint_id), endpointLines));
}

function* endpointLines(one: WebhookRecord): Generator<string> {
  yield `${one.endpoint_id}  ${one.status}  ${printable(one.url, 500)}`;
  if (one.description) yield `  for       ${printable(one.description, 500)}`;
  yield `  events    ${one.events.join(", ") || "only of jobs that name it"}`;
  if (one.disabled_reason !== null) yield `  disabled  ${printable(one.disabled_reason, 500)}`;
  if (one.failure_streak > 0)
    yield `  failing   ${one.failure_streak} sends in a row, since ${moment(one.failing_since)}`;
  if (one.paused_until !== null) yield `  paused    until ${moment(one.paused_until)}; then one delivery tries it`;
  for (const { kept, since, until } of one.secrets) {
    yield `  secret    ${printable(kept, 100)}, since ${moment(since)}${until === null ? "" : `, until ${moment(until)}`}`;
  }
  yield `  what it was sent: fanfold webhooks deliveries --endpoint ${one.endpoint_id}`;
}

function addUpdate(cli: Cli, webhooks: CliCommand): void {
  addSettings(
    webhooks
      .command("update")
      .summary("change an endpoint")
      .description("Changes what is given, and leaves the rest.")
      .argument("<endpoint>", "its id")
      .option("--url <url>", "where to POST to"),
  )
    .examples("fanfold webhooks update we_abcdefghijklmnop --url https://example.com/new")
    .action(async (endpoint_id: string, flags: SettingFlags) => {
      const settings = settingsOf(cli, flags, []);
      await withSession(cli, async ({ engine }) => {
        const { url } = flags;
        const changed = await engine.webhooks.update(endpoint_id, { ...settings, url });
        answer(cli, changed, () => endpointLines(changed));
      });
    });
}

function addSwitch(cli: Cli, webhooks: CliCommand, verb: "enable" | "disable"): void {
  const enabled = verb === "enable";
  webhooks
    .command(verb)
    .summary(enabled ? "let it hear again" : "let it hear no more")
    .description(
      enabled
        ? "Enables an endpoint and forgets its failures. What was discarded meanwhile: fanfold webhooks replay."
        : "Disables an endpoint. What waits for it is discarded, and can be replayed later.",
    )
    .argument("<endpoint>", "its id")
    .reasonOption()
    .actorOption()
    .examples(`fanfold webhooks ${verb} we_abcdefghijklmnop`)
    .action((endpoint_id: string, { reason, by }: { reason?: string; by?: string }) =>
      withSession(cli, async ({ engine }) => {
        const change = { enabled, reason, ...actorOf(cli, by === undefined ? {} : { by }) };
        const changed = await engine.webhooks.update(endpoint_id, change);
        answer(cli, changed, () => [
          `${verb}d  ${changed.endpoint_id}`,
          ...(enabled ? [`  what it missed: fanfold webhooks replay --endpoint ${endpoint_id} --dry-run`] : []),
        ]);
      }),
    );
}

function addRotate(cli: Cli, webhooks: CliCommand): void {
  webhooks
    .command("rotate")
    .summary("give an endpoint a new secret")
    .description(
      "Gives an endpoint a new secret. For a while deliveries are signed with both, so that receivers can change over.",
    )
    .argument("<endpoint>", "its id")
    .option("--secret <name>", "secret://name of one the workers know, instead of a new one")
    .option("--overlap <seconds>", "how long the secrets before stay good (default 86400, a day)")
    .examples("fanfold webhooks rotate we_abcdefghijklmnop --overlap 3600")
    .action(async (endpoint_id: string, { secret, overlap }: { secret?: string; overlap?: string }) => {
      const overlap_s = checked("the secret cannot be rotated", (problems) =>
        wholeNumber("--overlap", overlap, 0, 2_592_000, problems),
      );
      await withSession(cli, async ({ engine }) => {
        const rotated = await engine.webhooks.rotate(endpoint_id, { secret, overlap_s, ...actorOf(cli, {}) });
        answer(cli, rotated, () => [`rotated  ${rotated.endpoint_id}`, ...secretLines(rotated)]);
      });
    });
}

function addPing(cli: Cli, webhooks: CliCommand): void {
  webhooks
    .command("ping")
    .summary("send something to try an endpoint out")
    .description("Sends an endpoint a delivery of the type webhook.ping.")
    .argument("<endpoint>", "its id")
    .examples("fanfold webhooks ping we_abcdefghijklmnop")
    .action((endpoint_id: string) =>
      withSession(cli, async ({ engine }) => {
        const delivery = await engine.webhooks.ping(endpoint_id, cli.io.user());
        answer(cli, delivery, () => [
          `queued  ${delivery.delivery_id}`,
          `  how it went: fanfold webhooks delivery ${delivery.delivery_id}`,
        ]);
      }),
    );
}

function addRemove(cli: Cli, webhooks: CliCommand): void {
  webhooks
    .command("delete")
    .summary("delete an endpoint")
    .description("Deletes an endpoint and discards what waits for it. What it was sent stays on record.")
    .argument("<endpoint>", "its id")
    .examples("fanfold webhooks delete we_abcdefghijklmnop")
    .action((endpoint_id: string) =>
      withSession(cli, async ({ engine }) => {
        const reply = await engine.webhooks.remove(endpoint_id, cli.io.user());
        answer(cli, reply, () => [`deleted  ${reply.endpoint_id}; ${reply.discarded} waiting deliveries discarded`]);
      }),
    );
}
