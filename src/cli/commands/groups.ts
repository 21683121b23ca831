import { printable } from "../../core/values/printable.js";
import type { GroupPage, GroupRecord } from "../../engine/verbs/groups.js";
import type { JobPage } from "../../engine/verbs/records.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { count } from "../terminal/figures.js";
import { checked, oneOf, type PageFlags, pageOf, wholeNumber } from "../terminal/options.js";
import { answering, withSession } from "../terminal/session.js";
import { moment, table } from "../terminal/summary.js";
import { type VerbFlags, verbOptions } from "../terminal/verb.js";
import { shortId } from "../terminal/view.js";

const statuses = ["open", "completed", "partial_success", "failed", "cancelled"] as const;

export function addGroups(cli: Cli): void {
  const groups = cli.program
    .command("groups")
    .summary("list, open, seal and cancel groups of jobs")
    .description(
      "Groups of jobs. A group opens with its first job, and ends when it is sealed and all its jobs have ended.",
    )
    .examples(
      "fanfold submit hello_world n=1 --group night-7",
      "fanfold groups seal night-7",
      "fanfold groups show night-7",
    );
  addList(cli, groups);
  addShow(cli, groups);
  addCreate(cli, groups);
  addSeal(cli, groups);
  addJobs(cli, groups);
  addCancelGroup(cli, groups);
}

function addList(cli: Cli, groups: CliCommand): void {
  groups
    .command("list", { isDefault: true })
    .summary("list groups, newest first")
    .option("--status <status>", `only these: ${statuses.join(", ")}`)
    .pageOptions()
    .examples("fanfold groups list --status open")
    .action(async (flags: PageFlags & { status?: string }) => {
      const asked = checked("these groups cannot be listed", (problems) => ({
        status: oneOf("--status", flags.status, statuses, problems),
        ...pageOf(flags, problems),
      }));
      await answering(cli, ({ engine }) => engine.groups.list(asked), listLines);
    });
}

function* listLines({ groups, next }: GroupPage, width: number): Generator<string> {
  if (groups.length === 0) yield "no groups";
  const rows = groups.map((one) => [
    one.group_id,
    one.status,
    one.sealed_at === null ? "" : "sealed",
    count(one.total),
    count(one.open),
    moment(one.created_at),
  ]);
  if (rows.length > 0) yield* table(["GROUP", "STATUS", "", "JOBS", "OPEN", "CREATED"], rows, width);
  if (next !== null) yield `more: add --cursor ${next}`;
}

function addShow(cli: Cli, groups: CliCommand): void {
  groups
    .command("show")
    .summary("show a group and its counts")
    .argument("<group>", "id of the group")
    .examples("fanfold groups show night-7", "fanfold groups show night-7 --json | jq .open")
    .action(async (group_id: string) => {
      await answering(cli, ({ engine }) => engine.groups.get(group_id), showLines);
    });
}

function* showLines(group: GroupRecord): Generator<string> {
  yield `${group.group_id}  ${group.status}${group.name === null ? "" : `  ${printable(group.name)}`}`;
  const parts = (["open", "completed", "partial_success", "failed", "cancelled"] as const)
    .filter((name) => group[name] > 0)
    .map((name) => `${count(group[name])} ${name}`);
  const expected = group.expected === null ? "" : ` of ${count(group.expected)} expected`;
  yield `  ${count(group.total)} jobs${expected}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
  yield `  ${printable(group.hint)}`;
}

function addCreate(cli: Cli, groups: CliCommand): void {
  groups
    .command("create")
    .summary("open a group before its first job")
    .argument("<group>", "id of the group: letters, digits and . _ : -")
    .option("--name <text>", "what people call it")
    .option("--expected <number>", "how many jobs it will have: the last of them seals it")
    .examples("fanfold groups create night-7 --expected 40")
    .action(async (group_id: string, flags: { name?: string; expected?: string }) => {
      const expected = checked(
        "this group cannot be opened",
        (problems) => wholeNumber("--expected", flags.expected, 1, 999_999_999, problems) ?? null,
      );
      await withSession(cli, async ({ engine }) => {
        const given = { group_id, name: flags.name ?? null, expected, actor: cli.io.user() };
        const reply = await engine.groups.create(given);
        answer(cli, reply, () => [
          `${reply.created ? "opened" : "exists already"}  ${group_id}`,
          `  add jobs: fanfold submit <type> --group ${group_id}`,
        ]);
      });
    });
}

function addSeal(cli: Cli, groups: CliCommand): void {
  groups
    .command("seal")
    .summary("let no more jobs join; it ends when all it has have ended")
    .argument("<group>", "id of the group")
    .actorOption()
    .examples("fanfold groups seal night-7")
    .action(async (group_id: string, flags: VerbFlags) => {
      const { actor } = verbOptions(cli, flags);
      await withSession(cli, async ({ engine }) => {
        const reply = await engine.groups.seal(group_id, { actor });
        answer(cli, reply, () => [
          reply.changed ? `sealed  ${group_id}` : `nothing changed: ${group_id} is sealed already`,
          ...showLines(reply.group),
        ]);
      });
    });
}

function addJobs(cli: Cli, groups: CliCommand): void {
  groups
    .command("jobs")
    .summary("list the jobs of a group, newest first")
    .argument("<group>", "id of the group")
    .option("--open", "only those that have not ended")
    .pageOptions()
    .examples("fanfold groups jobs night-7 --open")
    .action(async (group_id: string, flags: PageFlags & { open?: boolean }) => {
      const asked = checked("these jobs cannot be listed", (problems) => pageOf(flags, problems));
      await withSession(cli, async ({ engine }) => {
        const page = await engine.groups.jobs(group_id, { open: flags.open ?? false, ...asked });
        answer(cli, page, () => jobLines(page, cli.io.width()));
      });
    });
}

function* jobLines({ jobs, next }: JobPage, width: number): Generator<string> {
  if (jobs.length === 0) yield "no jobs";
  const rows = jobs.map((job) => [shortId(job.job_id), job.job_type, job.status, moment(job.created_at)]);
  if (rows.length > 0) yield* table(["JOB", "TYPE", "STATUS", "CREATED"], rows, width);
  if (next !== null) yield `more: add --cursor ${next}`;
}

function addCancelGroup(cli: Cli, groups: CliCommand): void {
  groups
    .command("cancel")
    .summary("cancel its open jobs")
    .argument("<group>", "id of the group")
    .verbOptions()
    .examples("fanfold groups cancel night-7 --dry-run")
    .action(async (group_id: string, flags: VerbFlags) => {
      const options = verbOptions(cli, flags);
      await withSession(cli, async ({ engine }) => {
        const reply = await engine.groups.cancel(group_id, { ...options, limit_s: 3600 });
        const jobs = reply.cancelled === 1 ? "1 job" : `${count(reply.cancelled)} jobs`;
        answer(cli, reply, () => [
          reply.dry_run
            ? `would cancel ${jobs} of ${group_id}; nothing was changed`
            : `cancelled  ${jobs} of ${group_id}`,
          ...(reply.left > 0 ? [`  ${count(reply.left)} are left: fanfold groups cancel ${group_id}`] : []),
        ]);
      });
    });
}
