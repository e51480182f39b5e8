// The sixty-second step: a machine's token names the logins of NATS that speak for it. Whose word something is gives power, so they are guarded like the token's
// funds (0056).
//
//  1. A token of before names none, and so does none of them: what comes from NATS is believed as it was.
//  2. What was audited stays so: digests move only where they were right.
//  3. The newest token that names a login says for whom it speaks, also when that token has ended: a login must not become nobody's again because a token ran
//     out. So such a token is not forgotten before another one names its logins.
import type { Migration } from "../migrate.ts";
import { guardBodies as before } from "./0056-token-funds.ts";

const digested = /(\w+)\.funds::text/g;
const withLogins = (text: string): string => text.replace(digested, "$&, $1.nats_logins::text");
const changed = ["guard_service_token", "guard_differences"] as const;

/** By their names: the watch compares what the database runs with these. */
export const guardBodies: Readonly<Record<string, string>> = {
  ...before,
  ...Object.fromEntries(changed.map((name) => [name, withLogins(before[name] ?? "")])),
};

const definer = "language plpgsql security definer set search_path = portcullis, pg_temp";
const body = (name: string): string => `as $guard$${guardBodies[name]}$guard$`;
const digest =
  "guard_digest(jsonb_build_array(r.name::text, r.secret_hash::text, r.operations::text, r.development::text, r.expires_us::text, r.funds::text))";

const sql = `
alter table service_token add column nats_logins text[] check (cardinality(nats_logins) > 0);
comment on column service_token.nats_logins is 'The logins of NATS that speak for it; null for none.';
create or replace function guard_service_token() returns trigger ${definer} ${body("guard_service_token")};
create or replace function guard_differences() returns table (of_table text, row_id text, found text, digest bytea, ends_us bigint)
  ${definer} ${body("guard_differences")};
update guarded_row g set digest = ${withLogins(digest)}
  from service_token r
  where g.of_table = 'service_token' and g.row_id = r.id and g.digest = ${digest};
`;

export const tokenLoginsMigration: Migration = { number: 62, name: "token-logins", sql };
