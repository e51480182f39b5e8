// The forty-third step: in the tables that all services write, the database looks at each row: logins/row-policies.ts says what a service's own are. The app role and
// the owner write any.
import type { Migration } from "../migrate.ts";

const tables = ["outbox", "subscription", "parked_event", "handled_event", "service_instance"];

const sql = tables
  .map(
    (table) => `
create policy everybody_reads on ${table} for select using (true);
create policy app_writes on ${table} to portcullis_app using (true) with check (true);
alter table ${table} enable row level security;`,
  )
  .join("\n");

export const rowPoliciesMigration: Migration = { number: 43, name: "row-policies", sql };
