// The fifty-sixth step: a machine's token names its funds. Which they are gives power, so they are guarded like its operations (0048): a row whose
// funds were changed without the event of the change is found, and refused where it comes from a service's login.
//
//  1. A token of before names none, which is every fund.
//  2. What was audited stays so: digests move only where they were right, so that a change that nobody audited stays visible.
import type { Migration } from "../migrate.ts";
import { guardBodies as before } from "./0054-creating-power.ts";

const digested = /(\w+)\.development::text, \1\.expires_us::text/g;
const withFunds = (text: string): string => text.replace(digested, "$&, $1.funds::text");
const changed = ["guard_service_token", "guard_differences"] as const;

/** By their names: the watch compares what the database runs with these. */
export const guardBodies: Readonly<Record<string, string>> = {
  ...before,
  ...Object.fromEntries(changed.map((name) => [name, withFunds(before[name] ?? "")])),
};

const definer = "language plpgsql security definer set search_path = portcullis, pg_temp";
const body = (name: string): string => `as $guard$${guardBodies[name]}$guard$`;
const digest =
  "guard_digest(jsonb_build_array(r.name::text, r.secret_hash::text, r.operations::text, r.development::text, r.expires_us::text))";

const sql = `
alter table service_token add column funds text[] check (cardinality(funds) > 0);
comment on column service_token.funds is 'The funds that it may speak of; null for every fund.';
create or replace function guard_service_token() returns trigger ${definer} ${body("guard_service_token")};
create or replace function guard_differences() returns table (of_table text, row_id text, found text, digest bytea, ends_us bigint)
  ${definer} ${body("guard_differences")};
update guarded_row g set digest = ${withFunds(digest)}
  from service_token r
  where g.of_table = 'service_token' and g.row_id = r.id and g.digest = ${digest};
`;

export const tokenFundsMigration: Migration = { number: 56, name: "token-funds", sql };
