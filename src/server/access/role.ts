// Under which role the service may run. A superuser, the owner of the tables or a role that bypasses row-level security would
// see every tenant's rows wherever one filter is forgotten: the service does not start as one, and says what to do instead.
import { Forbidden } from "../../core/errors/errors.js";
import type { Problem } from "../../core/errors/problems.js";
import type { Database } from "../../engine/database/database.js";
import { readServingFacts, type ServingFacts } from "../../engine/schema/server_facts.js";
import { mendRoleSql, server_role, serverRoleSql } from "../../engine/schema/server_role.js";

/** Throws Forbidden with everything that is wrong and the SQL that mends it. The embedded database has but one role. */
export async function assertServingRole(db: Database): Promise<void> {
  if (db.kind === "embedded") return;
  const facts = await readServingFacts(db);
  const problems = problemsOfRole(facts);
  if (problems.length === 0) return;
  const title = `the service must not run as role "${facts.role}"`;
  throw new Forbidden(title, { problems, hint: howToMend(facts) });
}

/** What to do is said once, for all of them. */
function problemsOfRole(facts: ServingFacts): Problem[] {
  const { role, is_superuser, bypasses_security, is_owner, missing_roles, mapping, mapped_tenant } = facts;
  const problems: Problem[] = [];
  const found = (problem: string) => problems.push({ path: role, problem, fix: "" });
  if (is_superuser) found("it is a superuser: row-level security does not hold for it");
  // A superuser is all the rest as well.
  if (is_superuser) return problems;
  if (bypasses_security) found("it bypasses row-level security");
  if (is_owner) found("it owns the tables, or may become their owner");
  if (missing_roles.length > 0) found(`it is not a member of ${missing_roles.join(" and ")}`);
  if (mapping === "tenant") found(`it belongs to tenant "${mapped_tenant}"`);
  else if (mapping === "none") found("it is not mapped as the server's role");
  return problems;
}

/** A role that only lacks something is mended. Any other stays what it is (somebody must migrate) and gets one beside it. */
function howToMend(facts: ServingFacts): string {
  const { role, is_superuser, bypasses_security, is_owner, mapping, missing_roles, server_role_exists } = facts;
  if (!is_superuser && !bypasses_security && !is_owner && mapping !== "tenant") {
    return `as an administrator: ${mendRoleSql(role, missing_roles)}`;
  }
  const url = `postgres://${server_role}:<password>@<host>/${encodeURIComponent(facts.database)}`;
  return `as an administrator: ${serverRoleSql(server_role_exists)} then DATABASE_URL=${url}`;
}
