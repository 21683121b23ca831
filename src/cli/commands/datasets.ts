// fanfold datasets: resources with their releases, who approved what, and the decisions about them.
import { approvals, clearances, type ReleaseRecord, releases_api } from "../../core/api/platform/releases.js";
import type { Problem } from "../../core/errors/problems.js";
import { printable } from "../../core/values/printable.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { bytes, count } from "../terminal/figures.js";
import { checked, oneOf, type PageFlags, pageOf } from "../terminal/options.js";
import { withSession } from "../terminal/session.js";
import { moment, table } from "../terminal/summary.js";
import { type VerbFlags, verbOptions } from "../terminal/verb.js";

const id_words = "release or request id, or dataset/resource[/version]";

export function addDatasets(cli: Cli): void {
  const datasets = cli.program
    .command("datasets")
    .summary("list datasets; approve, reject, revoke and unpublish releases")
    .description(
      "A resource of a dataset has releases, one for each version. Those that want a review are approved or rejected by a person;\n" +
        "the latest is the highest that is approved.",
    )
    .examples(
      "fanfold datasets",
      "fanfold datasets show dem/alps",
      'fanfold datasets approve dem/alps/2 --reason "checked"',
    );
  addList(cli, datasets);
  addShow(cli, datasets);
  addLookup(cli, datasets);
  for (const verb of ["approve", "reject", "revoke"] as const) addDecision(cli, datasets, verb);
  addUnpublish(cli, datasets);
}

function addList(cli: Cli, datasets: CliCommand): void {
  datasets
    .command("list", { isDefault: true })
    .summary("list resources by name, with their newest and their latest release")
    .option("--dataset <id>", "only of this dataset")
    .option("--approval <state>", `only those whose newest release is ${approvals.join(", ")}`)
    .pageOptions()
    .examples("fanfold datasets list --approval pending_review")
    .action(async (flags: PageFlags & { dataset?: string; approval?: string }) => {
      const wanted = checked("these datasets cannot be listed", (problems) => ({
        dataset_id: flags.dataset,
        approval: oneOf("--approval", flags.approval, approvals, problems),
        ...pageOf(flags, problems),
      }));
      await withSession(cli, async ({ engine }) => {
        const page = await engine.call(releases_api.datasets, wanted as never);
        answer(cli, page, function* () {
          if (page.datasets.length === 0) return yield "no datasets";
          const rows = page.datasets.map(({ dataset_id, resource_id, releases, newest, latest }) => [
            `${dataset_id}/${resource_id}`,
            count(releases),
            `${newest.version_id} ${newest.approval}`,
            latest === null ? "none" : latest.version_id,
          ]);
          yield* table(["DATASET", "RELEASES", "NEWEST", "LATEST"], rows, cli.io.width());
          if (page.next !== null) yield `more: add --cursor ${page.next}`;
        });
      });
    });
}

function addShow(cli: Cli, datasets: CliCommand): void {
  datasets
    .command("show")
    .summary("the releases of a resource, and who decided what")
    .argument("<resource>", "dataset/resource")
    .examples("fanfold datasets show dem/alps")
    .action(async (text: string) => {
      const { dataset_id, resource_id } = resourceIn(text);
      await withSession(cli, async ({ engine }) => {
        const told = await engine.call(releases_api.releases, { dataset_id, resource_id } as never);
        answer(cli, told, function* () {
          const rows = told.releases.map((one) => [
            String(one.ordinal),
            one.version_id,
            one.status,
            one.approval,
            one.clearance,
            one.latest ? "latest" : "",
            one.reviewer ?? "",
          ]);
          yield* table(["#", "VERSION", "REQUEST", "APPROVAL", "CLEARANCE", "", "REVIEWER"], rows, cli.io.width());
          for (const { version_id, decisions } of told.releases) {
            for (const { decision, by, at, reason } of decisions)
              yield `  ${version_id}: ${decision} by ${printable(by)} at ${moment(at)}${reason === null ? "" : `: ${printable(reason)}`}`;
          }
        });
      });
    });
}

function addLookup(cli: Cli, datasets: CliCommand): void {
  datasets
    .command("lookup")
    .summary("what there is to be had of a resource")
    .argument("<resource>", "dataset/resource, or dataset/resource/version")
    .examples("fanfold datasets lookup dem/alps")
    .action(async (text: string) => {
      const wanted = resourceIn(text, true);
      await withSession(cli, async ({ engine }) => {
        const told = await engine.call(releases_api.lookup, wanted as never);
        if (!told.found) cli.exit_code = 1;
        answer(cli, told, () => [told.found ? releaseLine(told.release as ReleaseRecord) : `not found: ${told.why}`]);
      });
    });
}

function addDecision(cli: Cli, datasets: CliCommand, verb: "approve" | "reject" | "revoke"): void {
  const words = {
    approve: "approve a release: what publishes it goes on",
    reject: "reject a release: the gate of its request fails",
    revoke: "revoke an approved release, and take it down",
  };
  const command = datasets.command(verb).summary(words[verb]).argument("<release>", id_words);
  if (verb === "approve") command.option("--clearance <how far>", `${clearances.join(", ")} (default restricted)`);
  command
    .verbOptions()
    .examples(`fanfold datasets ${verb} dem/alps/2 --reason "checked by hand"`)
    .action(async (id: string, flags: VerbFlags & { clearance?: string }) => {
      const problems: Problem[] = [];
      const clearance = oneOf("--clearance", flags.clearance, clearances, problems);
      const options = verbOptions(cli, flags);
      if (verb !== "approve" && !options.reason)
        problems.push({ path: "--reason", problem: "is missing", fix: "say why, for the record" });
      if (problems.length > 0)
        throw usage(`the release cannot be ${verb === "reject" ? "rejected" : `${verb}d`}`, { problems });
      await withSession(cli, async ({ engine }) => {
        const told = await engine.call(releases_api[verb], {
          id,
          ...(clearance && { clearance }),
          ...options,
        } as never);
        answer(cli, told, () => [
          `${releaseLine(told.release)}${told.dry_run ? `; would be ${told.after}` : ""}`,
          ...(told.jobs.length > 0
            ? [
                `${told.dry_run ? "would take down what" : "taken down by"} ${count(told.jobs.length)} jobs${told.dry_run ? " made" : ""}`,
              ]
            : []),
        ]);
      });
    });
}

function addUnpublish(cli: Cli, datasets: CliCommand): void {
  datasets
    .command("unpublish")
    .summary("what of a release would go; with --yes it goes")
    .argument("<release>", id_words)
    .option("--yes", "really")
    .option("--reason <text>", "why, for the record")
    .examples(
      "fanfold datasets unpublish dem/alps/2",
      'fanfold datasets unpublish dem/alps/2 --yes --reason "superseded"',
    )
    .action(async (id: string, { yes = false, reason }: { yes?: boolean; reason?: string }) => {
      await withSession(cli, async ({ engine }) => {
        const wanted = { id, dry_run: !yes, reason, actor: cli.io.user() };
        const told = await engine.call(releases_api.unpublish, wanted as never);
        answer(cli, told, () => [
          ...told.files.slice(0, 20).map(({ ref, bytes: size }) => `  ${printable(ref)}  ${bytes(size)}`),
          `${count(told.file_count)} files, ${bytes(told.bytes)}${told.dry_run ? " would go; with --yes they go" : ` go, by ${count(told.jobs.length)} jobs`}`,
        ]);
      });
    });
}

function releaseLine(release: ReleaseRecord): string {
  const { dataset_id, resource_id, version_id, approval, clearance, latest } = release;
  return `${printable(`${dataset_id}/${resource_id}/${version_id}`)} is ${approval}, ${clearance}${latest ? ", the latest" : ""}`;
}

function resourceIn(text: string, with_version = false) {
  const [dataset_id = "", resource_id = "", version_id, ...more] = text.split("/");
  if (dataset_id === "" || resource_id === "" || more.length > 0 || (version_id !== undefined && !with_version)) {
    throw usage(`"${printable(text)}" does not name a resource`, {
      next: `for example dem/alps${with_version ? " or dem/alps/2" : ""}`,
    });
  }
  return { dataset_id, resource_id, ...(version_id === undefined ? {} : { version_id }) };
}
