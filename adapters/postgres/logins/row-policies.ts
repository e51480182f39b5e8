// Which rows of the tables that all services write are a service's own: events that it may publish, in its own name; its cursors, what it put aside and handled;
// its leases. Nobody speaks for another service, or makes it miss or skip an event.
//
//  1. A policy is made again only when its text changed: making one waits for everybody who uses the table.
import { createHash } from "node:crypto";
import type pg from "pg";
import { mayPublish } from "../../../contracts/src/authority.ts";
import { foreignDurableSubjects } from "../../../contracts/src/foreign-events.ts";
import { type StoreProcess, storeProcesses } from "../../../contracts/src/platform-services.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { schemaName } from "../connection.ts";
import { quotedName, quotedText } from "./grant-statements.ts";

type Command = "insert" | "update" | "delete";

interface RowRule {
  readonly table: string;
  readonly commands: readonly Command[];
  /** What holds for a row of the service's own. */
  readonly isOwn: string;
}

interface Policy {
  readonly name: string;
  readonly table: string;
  /** Without the name and the role. */
  readonly text: string;
}

/** What operations takes in for programs outside, in their names and never in one of ours, nor in several of ours at once ("oms+treasury"). */
const isForeign = `position('+' in source) = 0 and source <> all (array[${storeProcesses.map(quotedText).join(", ")}]::text[]) and subject = any (array[${foreignDurableSubjects.map(quotedText).join(", ")}]::text[])`;

/** Operations also relays events to NATS, answers for what others put aside, and declares their processes lost. */
function rowRules(service: StoreProcess): readonly RowRule[] {
  const own = quotedText(service);
  const named = (column: string): string => `split_part(${column}, '.', 1) = ${own}`;
  const published = Object.values(subjects)
    .filter(({ name }) => mayPublish(service, name))
    .map(({ name }) => quotedText(name));
  const isOperations = service === "operations";
  const isPublished = `source = ${own} and subject = any (array[${published.join(", ")}]::text[])`;
  return [
    {
      table: "outbox",
      commands: ["insert"],
      isOwn: isOperations ? `(${isPublished}) or (${isForeign})` : isPublished,
    },
    {
      table: "subscription",
      commands: ["insert", "update", "delete"],
      isOwn: isOperations ? `${named("name")} or name = 'nats.relay'` : named("name"),
    },
    { table: "handled_event", commands: ["insert"], isOwn: named("subscription") },
    { table: "parked_event", commands: ["insert", "delete"], isOwn: named("subscription") },
    { table: "parked_event", commands: ["update"], isOwn: isOperations ? "true" : named("subscription") },
    { table: "service_instance", commands: ["insert", "update"], isOwn: `service = ${own}` },
    { table: "service_instance", commands: ["delete"], isOwn: isOperations ? "true" : `service = ${own}` },
  ];
}

function policiesOf(service: StoreProcess): readonly Policy[] {
  return rowRules(service).flatMap(({ table, commands, isOwn }) =>
    commands.map((command) => {
      const using = command === "insert" ? "" : ` using (${isOwn})`;
      const check = command === "delete" ? "" : ` with check (${isOwn})`;
      return { name: `${service}_${command}`, table, text: `for ${command}${using}${check}` };
    }),
  );
}

interface KnownPolicy {
  readonly name: string;
  readonly table: string;
  readonly mark: string | null;
}

/** Inside a transaction: what is there as it should be stays. */
export async function applyPolicies(
  client: pg.Client,
  roles: Partial<Readonly<Record<StoreProcess, string>>>,
): Promise<void> {
  const { rows } = await client.query<KnownPolicy>(
    `select p.polname::text as name, c.relname::text as table, obj_description(p.oid, 'pg_policy') as mark
     from pg_policy p join pg_class c on c.oid = p.polrelid where c.relnamespace = $1::regnamespace`,
    [schemaName],
  );
  const known = new Map(rows.map(({ name, table, mark }) => [`${table} ${name}`, mark]));
  for (const service of storeProcesses) {
    const role = roles[service];
    if (role === undefined) continue;
    for (const policy of policiesOf(service)) {
      const mark = markOf(policy, role);
      const before = known.get(`${policy.table} ${policy.name}`);
      if (before !== mark) await put(client, policy, role, mark, before !== undefined);
    }
  }
}

async function put(client: pg.Client, policy: Policy, role: string, mark: string, isThere: boolean): Promise<void> {
  const on = `${policy.name} on ${schemaName}.${policy.table}`;
  const statements = [
    ...(isThere ? [`drop policy ${on}`] : []),
    `create policy ${on} ${textFor(policy, role)}`,
    `comment on policy ${on} is ${quotedText(mark)}`,
  ];
  for (const statement of statements) await client.query(statement);
}

/** The role stands between the command and the conditions. */
function textFor({ text }: Policy, role: string): string {
  return text.replace(/^for \w+/, (command) => `${command} to ${quotedName(role)}`);
}

function markOf(policy: Policy, role: string): string {
  return createHash("sha256").update(textFor(policy, role)).digest("hex");
}
