// The SQL by which an administrator makes a role that may serve, or mends one. Said by the server that refuses a role and by
// `fanfold doctor`. Pure.

/** What we call it when a role is needed beside the one that is connected. */
export const server_role = "fanfold_server";

/** `exists`: roles are shared by all databases of a server, so another database of it may have made it already. */
export function serverRoleSql(exists: boolean): string {
  const made = exists
    ? `grant fanfold_api, fanfold_worker to ${server_role};`
    : `create role ${server_role} login password '<password>' in role fanfold_api, fanfold_worker;`;
  return `${made} ${mapSql(server_role)}`;
}

/** For a role that holds nothing it should not: what it lacks. */
export function mendRoleSql(role: string, missing_roles: readonly string[]): string {
  const granted = missing_roles.length === 0 ? "" : `grant ${missing_roles.join(", ")} to ${sqlName(role)}; `;
  return granted + mapSql(role);
}

/** As the server's, or as a tenant's. */
export function howToMap(role: string): string {
  return `${mapSql(role)} to let it serve all tenants, or with '<tenant>' instead of null for one`;
}

function mapSql(role: string): string {
  return `select app.map_role('${role.replaceAll("'", "''")}', null);`;
}

export function sqlName(role: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(role) ? role : `"${role.replaceAll('"', '""')}"`;
}
