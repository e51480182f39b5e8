// The forty-eighth step: changes that nobody audited are found. For every table that holds power over risk, `guarded_row` has a digest of each row as the last
// change that published its event left it. A difference between the two is a change without its event, whoever made it.
//
//  1. The digest moves at the end of a transaction that published the event of the change, in the same transaction; and where a change takes power away
//     or only lets something end whose time is over. Nobody but the owner writes the table.
//  2. It moves only from what stood there: a change that nobody audited stays visible, also when an audited one follows it.
//  3. A row that is back to what it was is no difference any more.
//  4. What an admin and a second person accepted is what stands from then on: the request that they signed, which only the gateway's login can write, is
//     used up by a function that only operations' login may call.
//  5. Triggers that were switched off leave the digest behind, so whoever does that is found by the first change.
//
// A later step that changes such rows, or their columns here, brings `guarded_row` along in its own text.
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Migration } from "../migrate.ts";

interface GuardedTable {
  readonly table: string;
  /** What a row is called; `r` is the row here and below. */
  readonly id: string;
  /** Those that give or hold something. */
  readonly isLive?: string;
  /** What of it gives power; everything else may change unseen. */
  readonly columns: readonly string[];
  /** When it is worth nothing any more, in microseconds. */
  readonly ends?: string;
  /** Which events tell of a change, and what such an event names; without names any of them will do. */
  readonly events: readonly (keyof typeof subjects)[];
  readonly names?: readonly string[];
  /** A new row restricts, and needs no event. */
  readonly isFreeToAdd?: boolean;
  /** One that is gone takes something away from somebody, and needs none either. */
  readonly isFreeToRemove?: boolean;
  /** A change from `o` to `r` that restricts further, and needs none either. */
  readonly isFreeChange?: string;
}

const watchdogs = [
  "watchdogHealth",
  "watchdogDrift",
  "watchdogVpin",
  "watchdogNews",
  "watchdogPosition",
  "watchdogDb",
  "watchdogStrategy",
  "watchdogTheta",
  "watchdogDependency",
  "watchdogVolDd",
] as const;

export const guardedTables: readonly GuardedTable[] = [
  {
    table: "halt",
    id: "r.halt_id",
    isLive: "r.lifted_us is null",
    columns: ["epoch", "severity", "fund_id", "strategy_id", "reason", "requested_by", "since_us", "content"],
    events: ["haltLifted"],
    names: ["r.halt_id"],
    isFreeToAdd: true,
  },
  {
    table: "restriction",
    id: "r.restriction_id",
    isLive: "r.ended_us is null",
    columns: ["kind", "fund_id", "strategy_id", "symbol", "factor", "base", "watchdog", "episode_id", "content"],
    events: ["restrictionEnded", ...watchdogs],
    names: ["r.restriction_id", "r.episode_id"],
    isFreeToAdd: true,
  },
  {
    table: "resume_request",
    id: "r.request_id",
    isLive: "not r.has_ended",
    columns: ["content", "requested_us"],
    events: ["resumeRequested", "resumeEnded"],
    names: ["r.request_id"],
  },
  {
    table: "identity_issuer",
    id: "'issuer'",
    columns: ["issuer"],
    events: ["configurationChanged"],
    names: ["r.issuer"],
  },
  {
    table: "identity_key",
    id: "r.kid",
    isLive: "r.refused_us is null",
    columns: ["public_jwk", "retired_us"],
    events: ["signingKeyChanged"],
    names: ["r.kid"],
  },
  {
    table: "identity_revocation",
    id: "r.kind || ' ' || r.id",
    columns: ["revoked_us", "until_us"],
    // Whoever removes what has ended may have a clock that is an hour ahead of the server's.
    ends: "r.until_us - 3600000000",
    events: ["sessionClosed"],
    isFreeToAdd: true,
    isFreeChange: "r.revoked_us >= o.revoked_us and r.until_us >= o.until_us",
  },
  {
    table: "operator",
    id: "r.name",
    columns: ["password_hash", "roles", "development", "disabled_us"],
    events: ["operatorChanged"],
    names: ["'operator:' || r.name"],
  },
  {
    table: "second_factor",
    id: "r.subject",
    isLive: "r.secret_sealed is not null",
    columns: ["actor", "secret_sealed", "enrolled_us"],
    events: ["factorChanged"],
    names: ["r.actor"],
  },
  {
    table: "recovery_code",
    id: "r.subject || ' ' || left(encode(sha256(convert_to(r.code_hash, 'UTF8')), 'hex'), 16)",
    isLive: "r.used_us is null",
    columns: ["code_hash"],
    events: ["factorChanged"],
  },
  {
    table: "step_up_proof",
    id: "r.subject || ' ' || left(encode(sha256(convert_to(r.proof_hash, 'UTF8')), 'hex'), 16)",
    isLive: "r.redeemed_us is null",
    columns: ["proof_hash", "session_id", "action", "parameters_hash", "expires_us"],
    ends: "r.expires_us",
    events: ["stepUpGranted"],
    names: ["r.parameters_hash"],
    isFreeToRemove: true,
  },
  {
    table: "service_token",
    id: "r.id",
    isLive: "r.revoked_us is null",
    columns: ["name", "secret_hash", "operations", "development", "expires_us"],
    ends: "r.expires_us",
    events: ["serviceTokenChanged"],
    names: ["r.id"],
  },
  {
    table: "identity_request",
    id: "r.request_id",
    columns: [
      "operation",
      "target",
      "parameters",
      "requested_by",
      "subject",
      "reason",
      "expires_us",
      "outcome",
      "ended_by",
    ],
    ends: "r.expires_us",
    events: ["identityRequested", "identityRequestEnded"],
    names: ["r.request_id"],
  },
];

const list = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(", ");
const namesOf = (keys: GuardedTable["events"]): readonly string[] => keys.map((key) => subjects[key].name);
const allSubjects = list([...new Set(guardedTables.flatMap(({ events }) => namesOf(events)))]);
/** Arrays and bytes have a form as JSON of their own, and content may be of the type that keeps its text. */
const digestOf = (columns: readonly string[], row: string): string =>
  `guard_digest(jsonb_build_array(${columns.map((column) => `${row}.${column}::text`).join(", ")}))`;
const ofRow = (expression: string, row: string): string => expression.replaceAll(/\br\./g, `${row}.`);
const now = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";

function triggerBody(guarded: GuardedTable): string {
  const { table, id, isLive = "true", columns, ends, events, names, isFreeChange } = guarded;
  const named = names === undefined ? "null" : `array[${names.map((one) => ofRow(one, "named")).join(", ")}]`;
  const free = [
    ...(guarded.isFreeToAdd ? ["was is null"] : []),
    ...(guarded.isFreeToRemove ? ["is_now is null"] : []),
    ...(ends === undefined ? [] : [`(is_now is null and ${ofRow(ends, "old")} <= ${now})`]),
    ...(isFreeChange === undefined
      ? []
      : [`(was is not null and is_now is not null and ${ofRow(isFreeChange, "new").replaceAll(/\bo\./g, "old.")})`]),
  ];
  return `
declare
  was text; was_digest bytea; is_now text; is_digest bytea; named portcullis.${table};
begin
  if tg_op <> 'INSERT' then
    named := old;
    if ${ofRow(isLive, "old")} then was := ${ofRow(id, "old")}; was_digest := ${digestOf(columns, "old")}; end if;
  end if;
  if tg_op <> 'DELETE' then
    named := new;
    if ${ofRow(isLive, "new")} then is_now := ${ofRow(id, "new")}; is_digest := ${digestOf(columns, "new")}; end if;
  end if;
  if was is not distinct from is_now and was_digest is not distinct from is_digest then return null; end if;
  if ${[...free, `guard_has_event(array[${list(namesOf(events))}], ${named})`].join(" or ")} then
    perform guard_move('${table}', was, was_digest, is_now, is_digest, ${ends === undefined ? "null" : ofRow(ends, "named")});
  end if;
  return null;
end `;
}

/** What has ended is on neither side. */
function differencesOf({ table, id, isLive = "true", columns, ends = "null::bigint" }: GuardedTable): string {
  const isAlive = ends === "null::bigint" ? "" : ` and ${ends} > at_us`;
  return `
  return query select '${table}'::text, coalesce(g.row_id, a.row_id),
      case when g.row_id is null then 'added' when a.row_id is null then 'removed' else 'changed' end, a.digest, a.ends_us
    from (select ${id} as row_id, ${digestOf(columns, "r")} as digest, ${ends} as ends_us
          from ${table} r where ${isLive}${isAlive}) a
    full join (select g.row_id, g.digest from guarded_row g
               where g.of_table = '${table}' and (g.ends_us is null or g.ends_us > at_us)) g using (row_id)
    where a.digest is distinct from g.digest;`;
}

const requestDigest = digestOf(guardedTables.find(({ table }) => table === "identity_request")?.columns ?? [], "r");

/** By their names: the watch compares what the database runs with these. */
export const guardBodies: Readonly<Record<string, string>> = {
  guard_has_event: `
begin
  return exists (select from outbox o where o.xid = pg_current_xact_id() and o.subject in (${allSubjects}) and o.subject = any (subjects)
    and (named is null or exists (select from unnest(named) n where position(to_json(n)::text in convert_from(o.payload, 'UTF8')) > 0)));
end `,
  guard_move: `
begin
  if was = is_now then
    update guarded_row g set digest = is_digest, ends_us = ends where g.of_table = guard_move.of_table and g.row_id = was and g.digest = was_digest;
    return;
  end if;
  delete from guarded_row g where g.of_table = guard_move.of_table and g.row_id = was and g.digest = was_digest;
  if is_now is not null then
    insert into guarded_row (of_table, row_id, digest, ends_us) values (guard_move.of_table, is_now, is_digest, ends) on conflict do nothing;
  end if;
end `,
  ...Object.fromEntries(guardedTables.map((guarded) => [`guard_${guarded.table}`, triggerBody(guarded)])),
  guard_differences: `
#variable_conflict use_column
declare
  at_us bigint := ${now};
begin${guardedTables.map(differencesOf).join("")}
  return query select 'halt_epoch'::text, 'epoch'::text, 'changed'::text, null::bytea, null::bigint from halt_epoch e
    where e.epoch <> greatest((select coalesce(max(h.epoch), 0) from halt h),
      (select coalesce(max(h.lifted_epoch), 0) from halt h where h.lifted_epoch is not null));
  return query select 'risk_envelope_head'::text, h.fund_id, 'changed'::text, null::bytea, null::bigint from risk_envelope_head h
    where h.version <> coalesce((select max(e.version) from risk_envelope e where e.fund_id = h.fund_id), -1);
end `,
  guard_signed: `
begin
  return query select r.request_id, r.parameters ->> 'change_id', r.requested_by, r.ended_by, r.reason
    from identity_request r
    join guarded_row g on g.of_table = 'identity_request' and g.row_id = r.request_id and g.digest = ${requestDigest}
    where r.operation = 'AcceptUnauditedChange' and r.outcome = 'signed' and r.expires_us > ${now}
      and not exists (select from guarded_acceptance a where a.request_id = r.request_id)
    order by r.ended_us, r.request_id;
end `,
  guard_accept: `
#variable_conflict use_column
declare
  asked record; d record;
begin
  for asked in select * from guard_signed() loop
    insert into guarded_acceptance (request_id, change_id) values (asked.request_id, asked.change_id);
    select x.* into d from guard_differences() x where guard_change_id(x.of_table, x.row_id, x.found, x.digest) = asked.change_id;
    continue when d.of_table is null or d.of_table in ('halt_epoch', 'risk_envelope_head');
    delete from guarded_row g where g.of_table = d.of_table and g.row_id = d.row_id;
    if d.digest is not null then
      insert into guarded_row (of_table, row_id, digest, ends_us) values (d.of_table, d.row_id, d.digest, d.ends_us);
    end if;
    return query select asked.request_id, asked.change_id, d.of_table, d.row_id, d.found, asked.requested_by, asked.cosigned_by, asked.reason;
  end loop;
end `,
  guard_losses: `
begin
  raise exception 'what is remembered of losses is not forgotten' using errcode = 'insufficient_privilege';
end `,
  guard_snapshot: `
begin
  if not exists (select from risk_snapshot s where s.through > old.through) then
    raise exception 'the newest snapshot stays' using errcode = 'insufficient_privilege';
  end if;
  return old;
end `,
};

/** What a change is called: another one of the same row is called otherwise. */
const changeId = `left(encode(sha256(convert_to(
    jsonb_build_array(of_table, row_id, found, encode(digest, 'hex'))::text, 'UTF8')), 'hex'), 16)`;
const definer = "language plpgsql security definer set search_path = portcullis, pg_temp";
const body = (name: string): string => `as $guard$${guardBodies[name]}$guard$`;

const tables = guardedTables.map(
  ({ table, id, isLive = "true", columns, ends = "null" }) => `
create function guard_${table}() returns trigger ${definer} ${body(`guard_${table}`)};
create constraint trigger guard after insert or update or delete on ${table}
  deferrable initially deferred for each row execute function guard_${table}();
revoke all on function guard_${table}() from public;
insert into guarded_row (of_table, row_id, digest, ends_us)
  select '${table}', ${id}, ${digestOf(columns, "r")}, ${ends} from ${table} r where ${isLive};`,
);

const sql = `
create table guarded_row (
  of_table text  not null collate "C",
  row_id   text  not null collate "C",
  digest   bytea not null,
  ends_us  bigint,
  primary key (of_table, row_id)
);
comment on table guarded_row is 'What audited changes left in the tables that hold power over risk. Written by triggers alone.';

create index outbox_guarding on outbox (xid) where subject in (${allSubjects});

create function guard_digest(content jsonb) returns bytea language sql immutable parallel safe
  return sha256(convert_to(content::text, 'UTF8'));
create function guard_has_event(subjects text[], named text[]) returns boolean ${definer} ${body("guard_has_event")};
create function guard_move(of_table text, was text, was_digest bytea, is_now text, is_digest bytea, ends bigint) returns void
  ${definer} ${body("guard_move")};
revoke all on function guard_has_event(text[], text[]), guard_move(text, text, bytea, text, bytea, bigint),
  guard_digest(jsonb) from public;
${tables.join("\n")}

create function guard_change_id(of_table text, row_id text, found text, digest bytea) returns text language sql immutable
  return ${changeId};
create function guard_differences() returns table (of_table text, row_id text, found text, digest bytea, ends_us bigint)
  ${definer} ${body("guard_differences")};

create table guarded_acceptance (
  request_id text primary key collate "C",
  change_id  text not null collate "C"
);
comment on table guarded_acceptance is 'Which signed requests to accept a change were used up.';
create function guard_signed() returns table (request_id text, change_id text, requested_by text, cosigned_by text, reason text)
  ${definer} ${body("guard_signed")};
create function guard_accept() returns table (
  request_id text, change_id text, of_table text, row_id text, found text, requested_by text, cosigned_by text, reason text
) ${definer} ${body("guard_accept")};

revoke all on function guard_differences(), guard_change_id(text, text, text, bytea), guard_signed(), guard_accept() from public;
grant execute on function guard_differences(), guard_change_id(text, text, text, bytea), guard_signed(), guard_accept() to portcullis_app;

-- The only ways into the journal, and to the right to write it.
create function risk_take_pen(by_incarnation text, at_us bigint) returns table (pen bigint, newest bigint)
language sql security definer set search_path = portcullis, pg_temp as $$
  update risk_pen set pen = risk_pen.pen + 1, incarnation = by_incarnation, taken_us = at_us
  returning risk_pen.pen, (select coalesce(max(id), 0) from risk_journal)
$$;
create function risk_move_pen(at_us bigint, of_pen bigint) returns void
language sql security definer set search_path = portcullis, pg_temp as $$
  update risk_pen set pen = risk_pen.pen + 1, incarnation = '', taken_us = at_us where of_pen is null or risk_pen.pen = of_pen
$$;
revoke all on function risk_take_pen(text, bigint), risk_move_pen(bigint, bigint) from public;
grant execute on function risk_take_pen(text, bigint), risk_move_pen(bigint, bigint) to portcullis_app;
alter function risk_append(bigint, uuid, risk_entry[]) security definer set search_path = portcullis, pg_temp;

create function guard_losses() returns trigger language plpgsql set search_path = portcullis, pg_temp ${body("guard_losses")};
create trigger guard_losses before update on loss_state for each row
  when (old.content is not null and new.content is null) execute function guard_losses();
create function guard_snapshot() returns trigger language plpgsql set search_path = portcullis, pg_temp ${body("guard_snapshot")};
create trigger guard_snapshot before delete on risk_snapshot for each row execute function guard_snapshot();
revoke all on function guard_losses(), guard_snapshot() from public;
`;

export const guardedRowsMigration: Migration = { number: 48, name: "guarded-rows", sql };
