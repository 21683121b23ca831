// Under which role the service may run. A superuser, the owner of the tables or a role that bypasses row-level security would
// see every tenant's rows wherever one filter is forgotten: the service does not start as one, and says what to do instead.
import { Forbidden } from "../core/errors.js";
import { formatProblems, type Problem } from "../core/problems.js";
import type { Database } from "../engine/database.js";
import { readServingFacts, type ServingFacts } from "../engine/server_facts.js";

/** Throws Forbidden with everything that is wrong and the SQL that mends it. The embedded database has but one role. */
export async function assertServingRole(db: Database): Promise<void> {
  if (db.kind === "embedded") return;
  const facts = await readServingFacts(db);
  const problems = problemsOfRole(facts);
  if (problems.length === 0) return;
  const title = `the service must not run as role "${facts.role}"`;
  throw new Forbidden(formatProblems(title, problems), {
    problems,
    hint: `as an administrator: ${howToMend(facts)}; then let DATABASE_URL name that role`,
  });
}

function problemsOfRole(facts: ServingFacts): Problem[] {
  const { role, is_superuser, bypasses_security, is_owner, missing_roles, mapping, mapped_tenant } = facts;
  const mend = howToMend(facts);
  const problems: Problem[] = [];
  const found = (problem: string, fix = mend) => problems.push({ path: role, problem, fix });
  if (is_superuser) found("it is a superuser: row-level security does not hold for it");
  // Whoever is a superuser is all the rest as well.
  if (is_superuser) return problems;
  if (bypasses_security) found("it bypasses row-level security", `alter role ${name(role)} nobypassrls;`);
  if (is_owner) found("it owns the tables, or may become their owner", `revoke fanfold_owner from ${name(role)};`);
  if (missing_roles.length > 0) {
    found(
      `it is not a member of ${missing_roles.join(" and ")}`,
      `grant ${missing_roles.join(", ")} to ${name(role)};`,
    );
  }
  if (mapping === "tenant") {
    found(`it belongs to tenant "${mapped_tenant}"`);
  } else if (mapping === "none") {
    found("it is not mapped as the server's role", `select app.map_role(${text(role)}, null);`);
  }
  return problems;
}

/** A role that can be mended is mended; any other needs one beside it. */
function howToMend({ role, is_superuser, bypasses_security, is_owner, mapping }: ServingFacts): string {
  const other = is_superuser || bypasses_security || is_owner || mapping === "tenant";
  const server = other ? "fanfold_server" : role;
  const made = other
    ? `create role ${name(server)} login password '…' in role fanfold_api, fanfold_worker;`
    : `grant fanfold_api, fanfold_worker to ${name(server)};`;
  return `${made} select app.map_role(${text(server)}, null);`;
}

function name(role: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(role) ? role : `"${role.replaceAll('"', '""')}"`;
}

function text(role: string): string {
  return `'${role.replaceAll("'", "''")}'`;
}
