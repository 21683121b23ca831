// fanfold tenants: who shares the service.
import type { Command } from "commander";
import type { Problem } from "../../core/errors/problems.js";
import type { TenantPage } from "../../engine/verbs/tenants.js";
import { answer, type Cli, examples } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { wholeNumber } from "../terminal/options.js";
import { withSession } from "../terminal/session.js";
import { moment, table } from "../terminal/summary.js";

export function addTenants(cli: Cli): void {
  const tenants = cli.program
    .command("tenants")
    .summary("make, list and rename tenants")
    .description("The tenants that share the service: each sees its own jobs, tasks and keys and nobody else's.")
    .addHelpText(
      "after",
      examples(
        "fanfold tenants create acme --name 'Acme Ltd.'",
        "fanfold keys create first --tenant acme --scope all",
        "fanfold limits acme set queued_tasks=100000",
      ),
    );
  addList(cli, tenants);
  addCreate(cli, tenants);
  addRename(cli, tenants);
}

function addList(cli: Cli, tenants: Command): void {
  tenants
    .command("list", { isDefault: true })
    .summary("list tenants by id")
    .description("Lists tenants by id.")
    .option("--limit <number>", "at most so many, 1 to 1000 (default 20)")
    .option("--cursor <cursor>", "go on where the last page ended")
    .addHelpText("after", examples("fanfold tenants list", "fanfold tenants list --json | jq '.tenants[].tenant_id'"))
    .action(async (options: { limit?: string; cursor?: string }) => {
      const problems: Problem[] = [];
      const limit = wholeNumber("--limit", options.limit, 1, 1000, problems) ?? 20;
      if (problems.length > 0) throw usage("these tenants cannot be listed", { problems });
      await withSession(cli, async ({ engine }) => {
        const page = await engine.tenants.list({ limit, cursor: options.cursor ?? null });
        answer(cli, page, () => pageLines(page, cli.io.width()));
      });
    });
}

function* pageLines({ tenants, next }: TenantPage, width: number): Generator<string> {
  const rows = tenants.map(({ tenant_id, name, created_at }) => [tenant_id, moment(created_at), name ?? ""]);
  yield* table(["TENANT", "CREATED", "NAME"], rows, width);
  if (next !== null) yield `more: add --cursor ${next}`;
}

function addCreate(cli: Cli, tenants: Command): void {
  tenants
    .command("create")
    .summary("make a tenant")
    .description("Makes a tenant. One that exists is left as it is.")
    .argument("<id>", "lower-case letters, digits, - and _; it stays")
    .option("--name <text>", "how people call it")
    .addHelpText("after", examples("fanfold tenants create acme --name 'Acme Ltd.'"))
    .action(async (tenant_id: string, { name = null }: { name?: string | null }) => {
      await withSession(cli, async ({ engine }) => {
        const tenant = await engine.tenants.create(tenant_id, { name, actor: cli.io.user() });
        answer(cli, tenant, () => [
          tenant.created ? `tenant ${tenant_id} is made` : `tenant ${tenant_id} was there already`,
          `  next: fanfold keys create first --tenant ${tenant_id} --scope all`,
        ]);
      });
    });
}

function addRename(cli: Cli, tenants: Command): void {
  tenants
    .command("rename")
    .summary("call a tenant something else")
    .description("Changes how people call a tenant. Its id stays.")
    .argument("<id>", "the tenant's id")
    .argument("<name>", "how people call it from now on")
    .addHelpText("after", examples("fanfold tenants rename acme 'Acme Ltd.'"))
    .action(async (tenant_id: string, name: string) => {
      await withSession(cli, async ({ engine }) => {
        const tenant = await engine.tenants.rename(tenant_id, name, cli.io.user());
        answer(cli, tenant, () => [`tenant ${tenant_id} is called ${tenant.name}`]);
      });
    });
}
