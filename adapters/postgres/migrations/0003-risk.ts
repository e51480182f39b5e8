// The third step: the risk engine's journal, its limits, halts and valuations, and the reference data.
//
// What carries weight elsewhere:
//  - `risk_journal` takes its numbers from the outbox's own sequence, so that readers follow both behind one cursor, and its `xid`
//    stands before its `id`, as the outbox's does and for the same reason.
//  - `risk_append` is the one way in: it locks the pen's row against being taken, refuses a stale pen with PR001, and inserts the whole
//    batch, in one statement that is its own transaction. The batch's first row carries the batch's id: that is the witness
//    after a lost answer. There is no index on it, because that question is rare and knows from which row on to look.
//  - Indexes are paid for with every decision, so there are few. Keys are found by the five minutes they fall in and then by their
//    hash: only the newest part of that index is ever written, however long the journal grows. There is none on time: decisions are
//    numbered nearly as they were made, so a moment is found by halving (`risk_journal_before`), give or take a disagreement of clocks.
//  - Payloads up to a page stay in their row uncompressed: compressing two kilobytes costs more than writing them.
//  - Ids come from callers, garbage included, so their columns hold what text can hold of them; the payload has the truth.
import type { Migration } from "../migrate.ts";

const journal = `
create table risk_journal (
  xid       xid8     not null default pg_current_xact_id(),
  id        bigint   primary key,
  kind      smallint not null check (kind between 1 and 4),
  approved  boolean,
  at_us     bigint   not null check (at_us between -9007199254740991 and 9007199254740991),
  event_id  uuid,
  batch     uuid,
  key_hash  bytea,
  body_hash bytea,
  fund_id   text     not null collate "C",
  order_id  text     not null collate "C",
  code      text     collate "C",
  fill_id   text     collate "C",
  payload   bytea    not null,
  constraint risk_journal_decision_has_event check (kind <> 1 or event_id is not null)
) with (
  toast_tuple_target = 8160,
  autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.2
);
alter table risk_journal alter column payload set storage external;
comment on table risk_journal is 'Every decision and whatever else moved the books of the risk engine. Append only for everybody.';
comment on column risk_journal.kind is '1 decision (DecisionRecord bytes), 2 fill, 3 transition, 4 release (JSON).';
comment on column risk_journal.event_id is 'The id of a decision.';
comment on column risk_journal.batch is 'On the first row of each batch: the id that the batch was sent with.';

do $$
declare
  numbers text := pg_get_serial_sequence('outbox', 'id');
begin
  execute format('alter table risk_journal alter column id set default nextval(%L::regclass)', numbers);
  execute format('grant usage on sequence %s to portcullis_app', numbers);
end $$;

create index risk_journal_by_key on risk_journal ((at_us / 300000000), key_hash)
  where key_hash is not null and code is distinct from 'DUPLICATE_KEY' and code is distinct from 'KEY_REUSED';
create index risk_journal_by_order on risk_journal (order_id) where kind = 1;
create index risk_journal_denied on risk_journal (at_us, id, fund_id, event_id) where approved = false;
create unique index risk_journal_fill_once on risk_journal (fill_id) where fill_id is not null;

create table risk_pen (
  one         boolean primary key default true check (one),
  pen         bigint  not null default 0,
  incarnation text    not null default '',
  taken_us    bigint  not null default 0
);
insert into risk_pen default values;
comment on table risk_pen is 'Who may append to the journal: whoever took the pen last. It is also taken away to settle a lost answer.';

create table risk_snapshot (
  through  bigint primary key,
  taken_us bigint not null,
  content  bytea  not null
);
alter table risk_snapshot alter column content set storage external;

create type risk_entry as (
  kind smallint, approved boolean, at_us bigint, event_id uuid, key_hash bytea, body_hash bytea,
  fund_id text, order_id text, code text, fill_id text, payload bytea
);
comment on type risk_entry is 'A row of the journal on its way in. Sent in binary form, so columns are only ever added by a new type.';

create function risk_append(with_pen bigint, batch_id uuid, entries risk_entry[]) returns bigint language plpgsql as $$
begin
  -- Shared among appends, of which there is one at a time anyway, and in the way of whoever takes the pen until this has ended.
  perform from portcullis.risk_pen where pen = with_pen for share;
  if not found then
    raise exception 'the pen % is not in force', with_pen using errcode = 'PR001';
  end if;
  insert into portcullis.risk_journal
      (kind, approved, at_us, event_id, batch, key_hash, body_hash, fund_id, order_id, code, fill_id, payload)
    select e.kind, e.approved, e.at_us, e.event_id, case when e.n = 1 then batch_id end, e.key_hash, e.body_hash,
           e.fund_id, e.order_id, e.code, e.fill_id, e.payload
    from unnest(entries) with ordinality as e
      (kind, approved, at_us, event_id, key_hash, body_hash, fund_id, order_id, code, fill_id, payload, n);
  return lastval();
end $$;

create function risk_journal_before(moment_us bigint) returns bigint language plpgsql stable as $$
declare
  low    bigint := 0;
  high   bigint := coalesce((select max(id) from portcullis.risk_journal), 0);
  middle bigint;
  probe  record;
begin
  -- Invariant: every decision up to low was made before the moment, and none after high was.
  while low < high loop
    middle := (low + high) / 2;
    select id, at_us into probe from portcullis.risk_journal
      where id > middle and kind = 1 order by id limit 1;
    if found and probe.id <= high and probe.at_us < moment_us then low := probe.id; else high := middle; end if;
  end loop;
  return low;
end $$;
comment on function risk_journal_before(bigint) is 'A number before the first decision of that moment or later, if clocks never went back.';
`;

const records = `
create table risk_envelope (
  fund_id text   not null collate "C",
  version bigint not null check (version >= 0),
  set_us  bigint not null,
  hash    text   not null,
  content json   not null,
  primary key (fund_id, version)
);
comment on table risk_envelope is 'Every version of every fund''s limits. Append only for everybody.';

create table risk_envelope_head (
  fund_id text   primary key collate "C",
  version bigint not null
);
comment on table risk_envelope_head is 'The newest version of each fund; its row is what a change locks. -1: none yet.';

create table risk_nav (
  fund_id  text   primary key collate "C",
  as_of_us bigint not null,
  content  json   not null
) with (fillfactor = 50);

create table halt_epoch (
  one   boolean primary key default true check (one),
  epoch bigint  not null default 0
);
insert into halt_epoch default values;
comment on table halt_epoch is 'Grows with every halt and every lift; locking its row keeps others from doing either.';

create table halt (
  halt_id      text   primary key collate "C",
  epoch        bigint not null unique,
  severity     text   not null check (severity in ('STRATEGY_HALT', 'FUND_HALT', 'FIRM_HALT')),
  fund_id      text   not null,
  strategy_id  text,
  reason       text   not null,
  requested_by text   not null,
  since_us     bigint not null,
  content      json   not null,
  lifted_us    bigint,
  lifted_epoch bigint
);
create index halt_in_force on halt (epoch) where lifted_us is null;
comment on column halt.content is 'The whole record as it was latched, evidence included.';

create table reference_version (
  kind    text   not null collate "C",
  version bigint not null check (version >= 1),
  content json   not null,
  set_by  text   not null,
  set_us  bigint not null,
  reason  text   not null,
  hash    text   not null,
  primary key (kind, version)
);
comment on table reference_version is 'Every version of every kind of reference data. Append only for everybody.';

create table reference_head (
  kind    text   primary key collate "C",
  version bigint not null
);
comment on table reference_head is 'The newest version of each kind; its row is what a change locks. 0: none yet.';

create table reference_change (
  one    boolean primary key default true check (one),
  change bigint  not null default 0
);
insert into reference_change default values;

create function reference_changed() returns trigger
language plpgsql security definer set search_path = portcullis, pg_temp as $$
begin
  update reference_change set change = change + 1;
  return null;
end $$;
create trigger reference_changed after insert on reference_version for each statement execute function reference_changed();

create table treasury_holding (
  fund_id  text           not null collate "C",
  symbol   text           not null collate "C",
  quantity numeric(38,18) not null,
  primary key (fund_id, symbol)
) with (fillfactor = 50);

create function refuse_rewriting() returns trigger language plpgsql set search_path = portcullis, pg_temp as $$
begin
  raise exception '% is append only', tg_table_name using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete or truncate on risk_journal
  for each statement execute function refuse_rewriting();
create trigger append_only before update or delete or truncate on risk_envelope
  for each statement execute function refuse_rewriting();
create trigger append_only before update or delete or truncate on reference_version
  for each statement execute function refuse_rewriting();
`;

// Readers follow the outbox and the journal behind one cursor, so a cursor may stand at a number of either, and what was handled is
// remembered for as long as a row of either may be handed over again.
const followers = `
create or replace function check_cursor() returns trigger language plpgsql set search_path = portcullis, pg_temp as $$
begin
  if new.cursor_id < old.cursor_id then
    raise exception 'the cursor of % cannot go back', new.name using errcode = 'check_violation';
  end if;
  if new.cursor_id > old.cursor_id and new.cursor_id > coalesce((select max(id) from outbox), 0)
     and new.cursor_id > coalesce((select max(id) from risk_journal), 0)
     and new.cursor_id > (select trimmed_id from outbox_floor) then
    raise exception 'the cursor of % cannot pass the newest event', new.name using errcode = 'check_violation';
  end if;
  return new;
end $$;

create or replace function trim_history(older_than_us bigint, rows_max integer) returns bigint
language plpgsql security definer set search_path = portcullis, pg_temp as $$
declare
  kept_us bigint;
  removed bigint;
  total   bigint := 0;
  newest  xid8;
begin
  -- An event that is still kept may be handed over again, so what is known of it must be kept as well. One hour covers
  -- clocks that disagree and events that were numbered in another order than they were dated. The journal is never trimmed, but
  -- nothing of it at or before the floor is handed to anybody.
  kept_us := least(
    (select at_us from outbox order by id limit 1),
    (select at_us from risk_journal where id > (select trimmed_id from outbox_floor) order by id limit 1)) - 3600000000;
  delete from handled_event where ctid = any (array(
    select ctid from handled_event where handled_us < least(older_than_us, kept_us) limit rows_max));
  get diagnostics removed = row_count;
  total := total + removed;
  with gone as (
    delete from commit_marker where ctid = any (array(
      select ctid from commit_marker where at_us < older_than_us limit rows_max)) returning xid)
    select count(*), (select xid from gone order by xid desc limit 1) into removed, newest from gone;
  if removed > 0 then
    update outbox_floor set trimmed_xid = greatest(trimmed_xid, newest);
  end if;
  total := total + removed;
  delete from service_instance where lease_until_us < older_than_us;
  get diagnostics removed = row_count;
  return total + removed;
end $$;
`;

const rights = `
revoke all on function reference_changed(), refuse_rewriting(), risk_append(bigint, uuid, risk_entry[]),
  risk_journal_before(bigint) from public;
grant execute on function risk_append(bigint, uuid, risk_entry[]), risk_journal_before(bigint) to portcullis_app;
grant select, insert (kind, approved, at_us, event_id, batch, key_hash, body_hash, fund_id, order_id, code, fill_id, payload)
  on risk_journal to portcullis_app;
grant select, update (pen, incarnation, taken_us) on risk_pen to portcullis_app;
grant select, insert, update, delete on risk_snapshot to portcullis_app;
grant select, insert on risk_envelope, reference_version to portcullis_app;
grant select, insert, update on risk_envelope_head, reference_head, risk_nav, treasury_holding to portcullis_app;
grant select, update (epoch) on halt_epoch to portcullis_app;
grant select, insert, update (lifted_us, lifted_epoch) on halt to portcullis_app;
grant select on reference_change to portcullis_app;
`;

export const riskMigration: Migration = { number: 3, name: "risk", sql: journal + records + followers + rights };
