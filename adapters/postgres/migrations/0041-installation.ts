// The forty-first step: which installation a database belongs to. The first start that uses it says so, and nobody else's data folder is let in after that.
import type { Migration } from "../migrate.ts";

const sql = `
create table installation (
  is_only boolean primary key default true check (is_only),
  id text not null check (id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
);
`;

export const installationMigration: Migration = { number: 41, name: "installation", sql };
