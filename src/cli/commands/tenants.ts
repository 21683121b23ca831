import type { TenantPage } from "../../engine/verbs/tenants.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { checked, type PageFlags, pageOf } from "../terminal/options.js";
import { answering, withSession } from "../terminal/session.js";
import { moment, table } from "../terminal/summary.js";
import { addRemoveTenant } from "./leaving_tenants.js";

export function addTenants(cli: Cli): void {
  const tenants = cli.program
    .command("tenants")
    .summary("make, list and rename tenants")
    .description("The tenants that share the service: each sees only its own jobs, tasks and keys.")
    .examples(
      "fanfold tenants create acme --name 'Acme Ltd.'",
      "fanfold keys create first --tenant acme --scope all",
      "fanfold limits acme set queued_tasks=100000",
    );
  addList(cli, tenants);
  addCreate(cli, tenants);
  addRename(cli, tenants);
  addRemoveTenant(cli, tenants);
}

function addList(cli: Cli, tenants: CliCommand): void {
  tenants
    .command("list", { isDefault: true })
    .summary("list tenants by id")
    .description("Lists tenants by id.")
    .pageOptions()
    .examples("fanfold tenants list", "fanfold tenants list --json | jq '.tenants[].tenant_id'")
    .action(async (options: PageFlags) => {
      const asked = checked("these tenants cannot be listed", (problems) => pageOf(options, problems));
      await answering(cli, ({ engine }) => engine.tenants.list(asked), pageLines);
    });
}

function* pageLines({ tenants, next }: TenantPage, width: number): Generator<string> {
  const rows = tenants.map(({ tenant_id, name, created_at }) => [tenant_id, moment(created_at), name ?? ""]);
  yield* table(["TENANT", "CREATED", "NAME"], rows, width);
  if (next !== null) yield `more: add --cursor ${next}`;
}

function addCreate(cli: Cli, tenants: CliCommand): void {
  tenants
    .command("create")
    .summary("make a tenant")
    .description("Makes a tenant. One that exists is left as it is.")
    .argument("<id>", "lower-case letters, digits, - and _; it stays")
    .option("--name <text>", "how people call it")
    .examples("fanfold tenants create acme --name 'Acme Ltd.'")
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

function addRename(cli: Cli, tenants: CliCommand): void {
  tenants
    .command("rename")
    .summary("call a tenant something else")
    .description("Changes how people call a tenant. Its id stays.")
    .argument("<id>", "the tenant's id")
    .argument("<name>", "how people call it from now on")
    .examples("fanfold tenants rename acme 'Acme Ltd.'")
    .action(async (tenant_id: string, name: string) => {
      await withSession(cli, async ({ engine }) => {
        const tenant = await engine.tenants.rename(tenant_id, name, cli.io.user());
        answer(cli, tenant, () => [`tenant ${tenant_id} is called ${tenant.name}`]);
      });
    });
}
