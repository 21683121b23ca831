// fanfold webhooks deliveries, delivery, replay, discard: what was sent to whom, and sending it again.
import type { ReplyOf } from "../../core/api/endpoint.js";
import type { webhooks_api } from "../../core/api/webhooks.js";
import type { Problem } from "../../core/errors/problems.js";
import { type DeliveryStatus, delivery_statuses } from "../../core/places/webhooks.js";
import { printable } from "../../core/values/printable.js";
import type { DeliveryRecord, DeliveryWithTries } from "../../engine/verbs/webhooks.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { checked, collect, momentOf, oneOf, type PageFlags, pageOf } from "../terminal/options.js";
import { answering, withSession } from "../terminal/session.js";
import { moment, table } from "../terminal/summary.js";
import { exactlyOne } from "../terminal/verb.js";
import { shortId } from "../terminal/view.js";

interface ListFlags extends PageFlags {
  endpoint?: string;
  job?: string;
  status?: string;
}

export function addDeliveries(cli: Cli, webhooks: CliCommand): void {
  webhooks
    .command("deliveries")
    .summary("list what was sent, and what waits to be")
    .description("Lists deliveries, newest first.")
    .option("--endpoint <endpoint>", "to this endpoint")
    .option("--job <job>", "about this job (id or its first characters)")
    .option("--status <status>", `only these: ${delivery_statuses.join(", ")}`)
    .pageOptions()
    .examples("fanfold webhooks deliveries --status failed", "fanfold webhooks deliveries --job 3f2a9c --json")
    .action(async (flags: ListFlags) => {
      const filter = checked("these deliveries cannot be listed", (problems) => ({
        endpoint_id: flags.endpoint,
        job_id: flags.job,
        status: oneOf("--status", flags.status, delivery_statuses, problems),
        ...pageOf(flags, problems),
      }));
      await answering(cli, ({ engine }) => engine.webhooks.deliveries(filter), pageLines);
    });
}

function* pageLines(page: { deliveries: DeliveryRecord[]; next: string | null }, width: number): Generator<string> {
  if (page.deliveries.length === 0) {
    yield "no deliveries";
    return;
  }
  const rows = page.deliveries.map((one) => [
    one.delivery_id,
    one.status,
    one.event_type,
    one.job_id === null ? "" : shortId(one.job_id),
    String(one.attempts),
    one.status === "pending" ? `next ${moment(one.next_at)}` : moment(one.ended_at),
    printable(one.reason ?? one.last_error ?? "", 200),
  ]);
  yield* table(["DELIVERY", "STATUS", "EVENT", "JOB", "TRIES", "WHEN", ""], rows, width);
  if (page.next !== null) yield `more: add --cursor ${page.next}`;
}

export function addShowDelivery(cli: Cli, webhooks: CliCommand): void {
  webhooks
    .command("delivery")
    .summary("one delivery, with every try")
    .description("One delivery: what is sent, and how each try went.")
    .argument("<delivery>", "its id, as webhooks deliveries shows it")
    .examples("fanfold webhooks delivery msg_0634…", "fanfold webhooks delivery msg_0634… --json")
    .action((delivery_id: string) =>
      answering(cli, ({ engine }) => engine.webhooks.delivery(delivery_id), deliveryLines),
    );
}

function* deliveryLines(one: DeliveryWithTries, width: number): Generator<string> {
  yield `${one.delivery_id}  ${one.status}  ${one.event_type}`;
  yield `  to       ${printable(one.endpoint_id ?? one.url ?? "", 500)}`;
  if (one.job_id !== null) yield `  about    job ${shortId(one.job_id)}, epoch ${one.epoch}`;
  if (one.reason !== null) yield `  reason   ${printable(one.reason, 500)}`;
  if (one.next_at !== null) yield `  next     ${moment(one.next_at)}`;
  const rows = one.tries.map((attempt) => [
    moment(attempt.at),
    String(attempt.series),
    String(attempt.status ?? ""),
    `${attempt.duration_ms ?? 0} ms`,
    printable(attempt.error ?? attempt.body ?? "", 300),
  ]);
  if (rows.length > 0) yield* table(["TIME", "SERIES", "HTTP", "TOOK", ""], rows, width);
  else yield "  not tried yet";
}

interface ReplayFlags {
  endpoint?: string;
  from?: string;
  to?: string;
  status?: string[];
  dryRun?: boolean;
}

export function addReplay(cli: Cli, webhooks: CliCommand): void {
  webhooks
    .command("replay")
    .summary("send deliveries again")
    .description(
      "Sends one delivery again, or with --endpoint those of a span of time: the same ids and bytes, a new series of tries.",
    )
    .argument("[delivery]", "its id")
    .option("--endpoint <endpoint>", "all of this endpoint that failed or were discarded")
    .option("--from <moment>", "that came to be at or after this, for example 2030-12-31T18:00:00Z")
    .option("--to <moment>", "that came to be before this")
    .option("--status <status>", `with these instead, may be repeated: ${delivery_statuses.join(", ")}`, collect)
    .option("--dry-run", "only count them")
    .examples(
      "fanfold webhooks replay msg_0634…",
      "fanfold webhooks replay --endpoint we_abcdefghijklmnop --from 2030-12-31T00:00:00Z --dry-run",
    )
    .action(async (delivery_id: string | undefined, flags: ReplayFlags) => {
      exactlyOne(
        "replay",
        { "<delivery>": delivery_id, "--endpoint": flags.endpoint },
        "fanfold webhooks replay <delivery>, or fanfold webhooks replay --endpoint <endpoint>",
      );
      const problems: Problem[] = [];
      const from = momentOf("--from", flags.from, problems);
      const to = momentOf("--to", flags.to, problems);
      const statuses = flags.status?.map((one) => oneOf("--status", one, delivery_statuses, problems));
      const range_only = [flags.from, flags.to, flags.status, flags.dryRun].some((one) => one !== undefined);
      if (delivery_id !== undefined && range_only) {
        problems.push({
          path: "--from, --to, --status, --dry-run",
          problem: "belong to a range",
          fix: "use --endpoint",
        });
      }
      if (problems.length > 0) throw usage("these deliveries cannot be replayed", { problems });
      const actor = cli.io.user();
      await withSession(cli, async ({ engine }) => {
        if (delivery_id !== undefined) {
          const one = await engine.webhooks.replay(delivery_id, actor);
          answer(cli, one, () => [`queued  ${one.delivery_id}, series ${one.series}`]);
          return;
        }
        const reply = await engine.webhooks.replayRange({
          endpoint_id: flags.endpoint as string,
          from,
          to,
          dry_run: flags.dryRun ?? false,
          statuses: statuses as DeliveryStatus[] | undefined,
          ...(actor === null ? {} : { actor }),
        });
        answer(cli, reply, () => replayLines(reply));
      });
    });
}

function* replayLines({
  deliveries,
  dry_run,
  more,
  next_from,
}: ReplyOf<typeof webhooks_api.replay>): Generator<string> {
  const what = `${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"}`;
  yield dry_run ? `would send ${what} again; nothing was changed` : `queued  ${what}, oldest first, 20 a second`;
  if (more) yield `there are more: go on with --from ${next_from}`;
}

export function addDiscard(cli: Cli, webhooks: CliCommand): void {
  webhooks
    .command("discard")
    .summary("give up a pending delivery")
    .description("Gives up one delivery that waits to be sent. It can be replayed later.")
    .argument("<delivery>", "its id")
    .option("--reason <text>", "why; kept with it")
    .examples('fanfold webhooks discard msg_0634… --reason "they know already"')
    .action((delivery_id: string, { reason }: { reason?: string }) =>
      withSession(cli, async ({ engine }) => {
        const one = await engine.webhooks.discard(delivery_id, reason ?? null, cli.io.user());
        answer(cli, one, () => [`discarded  ${one.delivery_id}`]);
      }),
    );
}
