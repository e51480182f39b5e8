// The fifty-fourth step: as a service's login nobody gets power by a row and its event alone. A person or a machine's token that can do something takes a proof of a second
// factor that was granted in an earlier transaction and is redeemed in this one; in production a person takes a request as well, which was made earlier and is
// signed in this one.
//
//  1. What takes power away, a person who is disabled or a token that is revoked, takes none of it.
//  2. Development's people and tokens need only their event, and there are none in production: which of the two this is, the start writes as the owner.
//  3. Proofs are not inserted redeemed, nor requests signed, and both say in which transaction they were made: no login but the owner has the right to write that.
import type { Migration } from "../migrate.ts";
import { guardBodies as before } from "./0053-lifting.ts";

const definer = "language plpgsql security definer set search_path = portcullis, pg_temp";

/** Before anything else is looked at; `grows` says when the row can do something. */
function proving(table: string, name: string, grows: string): string {
  const text = before[`guard_${table}`] ?? "";
  const noChange = "is_digest then return null; end if;\n";
  return text.replace(
    noChange,
    `${noChange}  if guard_binds() and is_now is not null and ${grows} and not guard_is_proven('${table}', new.${name}, new.development) then
    raise exception 'a change of ${table} needs what two people do for it, or a proof of a second factor' using errcode = 'insufficient_privilege';
  end if;
`,
  );
}

/** By their names: the watch compares what the database runs with these. */
export const guardBodies: Readonly<Record<string, string>> = {
  ...before,
  guard_is_proven: `
declare
  is_production boolean := coalesce((select m.is_production from platform_mode m), true);
  own xid8 := pg_current_xact_id();
begin
  if is_development and not is_production then return true; end if;
  if is_development or not exists (select from step_up_proof p
    where p.redeemed_us is not null and p.xmin = own::xid and p.made_in <> own) then return false; end if;
  return of_table <> 'operator' or not is_production or exists (select from identity_request r
    where r.target = 'operator:' || named and r.outcome = 'signed' and r.xmin = own::xid and r.made_in <> own);
end `,
  guard_operator: proving("operator", "name", "new.disabled_us is null"),
  guard_service_token: proving("service_token", "id", "true"),
};

const body = (name: string): string => `as $guard$${guardBodies[name]}$guard$`;

const sql = `
create table platform_mode (
  one           boolean primary key default true check (one),
  is_production boolean not null
);
comment on table platform_mode is 'What the last start was, written by the owner alone. None: production.';

alter table step_up_proof add column made_in xid8 not null default pg_current_xact_id();
alter table identity_request add column made_in xid8 not null default pg_current_xact_id();
comment on column step_up_proof.made_in is 'The transaction that granted it. Nobody writes it.';
comment on column identity_request.made_in is 'The transaction that asked. Nobody writes it.';

create function guard_is_proven(of_table text, named text, is_development boolean) returns boolean ${definer} ${body("guard_is_proven")};
revoke all on function guard_is_proven(text, text, boolean) from public;
create or replace function guard_operator() returns trigger ${definer} ${body("guard_operator")};
create or replace function guard_service_token() returns trigger ${definer} ${body("guard_service_token")};
`;

export const creatingPowerMigration: Migration = { number: 54, name: "creating-power", sql };
