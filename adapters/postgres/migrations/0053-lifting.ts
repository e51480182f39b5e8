// The fifty-third step: halts are lifted by a function that holds a lift against what the rule for it asks for (core/halts/halts.ts), and a change of a guarded row
// without its event is refused where it comes from a service's login. Who raises a halt needs none of it.
//
//  1. A service's login is one that is neither the owner nor the one that all services share in development: those are only noticed (0048).
//  2. A firm halt, and with it every other one, is lifted against a live request, its asker's answer and another person's that names the request, both for exactly these
//     halts; a lift that counts losses anew against the officer's. Answers are used once (0052), and end by the server's clock.
//  3. A fund's or a strategy's own halts take one operator, whom the event names; the drill's take none.
//  4. The event of the change is looked for at the end of the transaction, because it is written last.
import type { Migration } from "../migrate.ts";
import { guardedTables, guardBodies as noticing } from "./0048-guarded-rows.ts";

const now = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";
const definer = "language plpgsql security definer set search_path = portcullis, pg_temp";

const moved = /\n {2}end if;\n {2}return null;\nend $/;
/** The same trigger, which no longer looks away. */
function refusing(table: string): string {
  const text = noticing[`guard_${table}`] ?? "";
  const refuse = `
  elsif guard_binds() then
    raise exception 'a change of ${table} needs its event in the same transaction' using errcode = 'insufficient_privilege';
  end if;
  return null;
end `;
  return text.replace(moved, refuse);
}

/** By their names: the watch compares what the database runs with these. */
export const guardBodies: Readonly<Record<string, string>> = {
  ...noticing,
  ...Object.fromEntries(guardedTables.map(({ table }) => [`guard_${table}`, refusing(table)])),
  guard_binds: `
begin
  return not pg_has_role(session_user, (select c.relowner from pg_class c where c.oid = 'portcullis.halt'::regclass), 'member')
    and not pg_has_role(session_user, 'portcullis_app', 'member');
end `,
  use_code_answer: `
declare
  used text;
begin
  update code_answer a set used_us = ${now} where a.question_id = (
    select c.question_id from code_answer c
    where c.subject = of_subject and c.accepted and c.used_us is null and c.expires_us > ${now} and c.action = 'ResumeHalt'
      and c.parameters ->> 'kind' = for_kind and c.parameters ->> 'request_id' = for_request
      and c.parameters -> 'halt_ids' @> to_jsonb(halt_ids) and to_jsonb(halt_ids) @> (c.parameters -> 'halt_ids')
      and not exists (select from identity_revocation v
        where v.kind = 'subject' and v.id in (c.subject, c.actor) and v.revoked_us >= c.at_us)
    order by c.at_us desc, c.question_id limit 1 for update)
  returning lower(a.actor) into used;
  return used;
end `,
  lift_is_proven: `
declare
  asked json; scopes bigint; firm bigint; drill bigint; newest bigint;
begin
  select count(distinct (h.severity, coalesce(h.strategy_id, h.fund_id))), count(*) filter (where h.severity = 'FIRM_HALT'),
      count(*) filter (where h.severity <> 'FIRM_HALT' and h.fund_id = 'drill'), max(h.epoch)
    into scopes, firm, drill, newest from halt h where h.halt_id = any (halt_ids);
  if rule = 'drill' then return drill = cardinality(halt_ids); end if;
  if drill > 0 then return false; end if;
  if rule = 'scope' then return scopes = 1 and firm = 0; end if;
  if rule = 'rebase' then return scopes = 1 and firm = 0 and use_code_answer('rebase', '', by_subject, halt_ids) is not null; end if;
  if rule is distinct from 'sign' then return false; end if;
  select r.content into asked from resume_request r where r.request_id = of_request and not r.has_ended;
  return asked is not null and asked ->> 'subject' <> by_subject and (asked ->> 'epoch')::bigint >= newest
    and (asked -> 'haltIds')::jsonb @> to_jsonb(halt_ids) and to_jsonb(halt_ids) @> (asked -> 'haltIds')::jsonb
    and not exists (select from halt h where h.lifted_us is null and not h.halt_id = any (halt_ids)
      and (h.severity = 'FIRM_HALT' or h.fund_id <> 'drill'))
    and use_code_answer('ask', '', asked ->> 'subject', halt_ids) <> use_code_answer('sign', of_request, by_subject, halt_ids);
end `,
  lift_halts: `
declare
  next_epoch bigint; lifted bigint;
begin
  update halt_epoch e set epoch = e.epoch + 1 returning e.epoch into next_epoch;
  if guard_binds() and not coalesce(lift_is_proven(halt_ids, rule, of_request, by_subject), false) then
    raise exception 'these halts are not lifted: what the rule asks for is not there' using errcode = 'insufficient_privilege';
  end if;
  update halt h set lifted_us = at_us, lifted_epoch = next_epoch where h.halt_id = any (halt_ids) and h.lifted_us is null;
  get diagnostics lifted = row_count;
  if lifted <> cardinality(halt_ids) then
    raise exception 'a halt is not in force' using errcode = 'serialization_failure';
  end if;
  return next_epoch;
end `,
};

const body = (name: string): string => `as $guard$${guardBodies[name]}$guard$`;

const sql = `
create function guard_binds() returns boolean stable ${definer} ${body("guard_binds")};
${guardedTables.map(({ table }) => `create or replace function guard_${table}() returns trigger ${definer} ${body(`guard_${table}`)};`).join("\n")}

create function use_code_answer(for_kind text, for_request text, of_subject text, halt_ids text[]) returns text ${definer} ${body("use_code_answer")};
create function lift_is_proven(halt_ids text[], rule text, of_request text, by_subject text) returns boolean ${definer} ${body("lift_is_proven")};
create function lift_halts(halt_ids text[], at_us bigint, rule text, of_request text, by_subject text) returns bigint ${definer} ${body("lift_halts")};
revoke all on function guard_binds(), use_code_answer(text, text, text, text[]), lift_is_proven(text[], text, text, text),
  lift_halts(text[], bigint, text, text, text) from public;
grant execute on function lift_halts(text[], bigint, text, text, text) to portcullis_app;
`;

export const liftingMigration: Migration = { number: 53, name: "lifting", sql };
