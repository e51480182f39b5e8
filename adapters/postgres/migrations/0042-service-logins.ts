// The forty-second step: the passwords of the logins that a start makes for its services, where only the owner reads them. The key is the role's name, which
// contains the database's: a copy of the database makes passwords of its own.
import type { Migration } from "../migrate.ts";

const sql = `
create table service_login (
  role     text primary key,
  password text not null
);
comment on table service_login is 'Logins that the start made for its services, one each. Nobody but the owner is granted anything on it.';
`;

export const serviceLoginsMigration: Migration = { number: 42, name: "service-logins", sql };
