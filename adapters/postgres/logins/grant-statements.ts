// The statements that give a role what a service may do and nothing else. They begin by taking everything away, so that running them again, after a migration or
// after somebody's own GRANT, ends with the list.
import type { StoreProcess } from "../../../contracts/src/platform-services.ts";
import { schemaName } from "../connection.ts";
import { functionGrants, sequenceGrants, tableGrants } from "./table-grants.ts";

export function grantStatements(service: StoreProcess, role: string): readonly string[] {
  const to = quotedName(role);
  return [
    ...["TABLES", "SEQUENCES", "FUNCTIONS"].map(
      (kind) => `REVOKE ALL ON ALL ${kind} IN SCHEMA ${schemaName} FROM ${to}`,
    ),
    `GRANT USAGE ON SCHEMA ${schemaName} TO ${to}`,
    ...[...tablesByRights(service)].map(([rights, tables]) => `GRANT ${rights} ON ${tables.join(", ")} TO ${to}`),
    ...grantedTo(service, sequenceGrants).map((name) => `GRANT USAGE ON SEQUENCE ${schemaName}.${name} TO ${to}`),
    ...grantedTo(service, functionGrants).map((name) => `GRANT EXECUTE ON FUNCTION ${schemaName}.${name} TO ${to}`),
  ];
}

/** Tables with the same rights are one statement. */
function tablesByRights(service: StoreProcess): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [table, { read, write }] of Object.entries(tableGrants)) {
    const rights = [...(read.includes(service) ? ["select"] : []), ...(write[service] ?? [])].join(", ");
    if (rights !== "") found.set(rights, [...(found.get(rights) ?? []), `${schemaName}.${table}`]);
  }
  return found;
}

function grantedTo(
  service: StoreProcess,
  grants: Readonly<Record<string, readonly StoreProcess[]>>,
): readonly string[] {
  return Object.entries(grants).flatMap(([name, services]) => (services.includes(service) ? [name] : []));
}

/** Vacuuming and the statistics of statements, which db_watchdog uses where it may: they are no service's right to its records. */
export function careStatements(role: string): readonly string[] {
  const to = quotedName(role);
  return [`GRANT MAINTAIN ON ALL TABLES IN SCHEMA ${schemaName} TO ${to}`, `GRANT pg_read_all_stats TO ${to}`];
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
