// The fourth step: the audit log.
//
// What carries weight elsewhere:
//  - `audit_append` is the one way in: it locks the head, refuses a stale pen (PA001) and a batch that does not begin at the head (PA002),
//    inserts the whole batch and moves the head, in one statement that is its own transaction. The app role may call it and may
//    not insert, so a row that came another way came from the owner.
//  - An entry is its own event on the bus: it takes a number of the outbox's own sequence, behind whose cursors it is read, so that what was
//    not committed is never heard of and what was committed is heard. The lock on the head comes first and gives the transaction its own number
//    before it takes one of those, as readers rely on. Who begins to listen hears of entries from the outbox's floor on.
//  - What is kept as `text` is the bytes that were hashed. The columns beside it are an index that can be derived from them, and whoever
//    verifies believes the bytes. Entries up to a page stay in their row uncompressed.
//  - Entries are never changed: the app role has no right to, and triggers refuse everybody else, also in a session that plays a replica. A
//    superuser can take the triggers away; that a rewritten chain differs from its checkpoints is then what shows it.
//  - The index beside the text can be put right by `audit_repair_index`, and only to what the text of the same row says; it never touches the
//    text, the sequence or the place among the events.
//  - A checkpoint's note may gain signatures of witnesses and nothing else; `audit_checkpoint_gains` looks at every change.
//  - Tiles are derived and may be written anew.
import type { Migration } from "../migrate.ts";

const tables = `
create table audit_entry (
  sequence   bigint primary key check (sequence between 0 and 9007199254740991),
  event_id   text   not null collate "C",
  subject_id text   not null collate "C",
  action     text   not null collate "C",
  text       bytea  not null check (octet_length(text) between 1 and 65535),
  at_us       bigint not null default 0 check (at_us between -9007199254740991 and 9007199254740991),
  outbox_id   bigint not null,
  constraint audit_entry_event_once unique (event_id)
) with (
  toast_tuple_target = 8160,
  autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.2
);
alter table audit_entry alter column text set storage external;
do $$
begin
  execute format('alter table audit_entry alter column outbox_id set default nextval(%L::regclass)', pg_get_serial_sequence('outbox', 'id'));
end $$;
create unique index audit_entry_heard on audit_entry (outbox_id);
create index audit_entry_by_subject on audit_entry (subject_id, sequence);
create index audit_entry_key_changes on audit_entry (sequence) where action in ('key.rotated', 'key.revoked');
comment on table audit_entry is 'The audit chain. Append only for everybody.';
comment on column audit_entry.text is 'All eight fields as canonical JSON in UTF-8: the bytes that are verified.';
comment on column audit_entry.outbox_id is 'Where the event about the entry stands among those of the outbox; at_us is the time of the entry, and its id follows from event_id.';
comment on column audit_entry.event_id is 'What the entry was made of; with subject_id and action an index, not the record.';

create table audit_head (
  one         boolean primary key default true check (one),
  pen         bigint  not null default 0,
  incarnation text    not null default '',
  taken_us    bigint  not null default 0,
  size        bigint  not null default 0 check (size between 0 and 9007199254740991),
  hash        text    not null default repeat('0', 64),
  "timestamp" text    not null default ''
) with (fillfactor = 10);
insert into audit_head default values;
comment on table audit_head is 'The newest entry, and who may append: whoever took the pen last.';

create table audit_checkpoint (
  size  bigint primary key check (size between 0 and 9007199254740991),
  note  text   not null check (strpos(note, E'\\n\\n') > 1),
  at_us bigint not null check (at_us between -9007199254740991 and 9007199254740991)
);
comment on table audit_checkpoint is 'What was signed. Never removed; a note only ever gains signatures.';

create table audit_tile (
  level  smallint not null check (level between 0 and 63),
  index  bigint   not null check (index between 0 and 9007199254740991),
  hashes bytea    not null check (octet_length(hashes) between 32 and 8192 and octet_length(hashes) % 32 = 0),
  primary key (level, index)
);
alter table audit_tile alter column hashes set storage external;
comment on table audit_tile is 'The tree over the entries, in pieces. Derived from audit_entry.';
`;

const functions = `
create type audit_row as (sequence bigint, event_id text, subject_id text, action text, text bytea, at_us bigint);
comment on type audit_row is 'A row of the log on its way in. Sent in binary form, so columns are only ever added by a new type.';

create function audit_take_pen(by_incarnation text, at_us bigint)
returns table (pen bigint, size bigint, hash text, "timestamp" text)
language sql security definer set search_path = portcullis, pg_temp as $$
  -- The strongest lock: whoever appends or puts a checkpoint is waited for.
  select 1 from audit_head for update;
  update audit_head set pen = audit_head.pen + 1, incarnation = by_incarnation, taken_us = at_us
  returning audit_head.pen, audit_head.size, audit_head.hash, audit_head."timestamp"
$$;

create function audit_append(
  with_pen bigint, after bigint, entries audit_row[], new_size bigint, new_hash text, new_timestamp text
) returns bigint language plpgsql security definer set search_path = portcullis, pg_temp as $$
declare
  head  record;
  added bigint;
begin
  -- In the way of whoever takes the pen until this has ended.
  select pen, size into strict head from audit_head for no key update;
  if head.pen is distinct from with_pen then
    raise exception 'the pen % is not in force', with_pen using errcode = 'PA001';
  end if;
  if head.size is distinct from after then
    raise exception 'the log has % entries and not %', head.size, after using errcode = 'PA002';
  end if;
  insert into audit_entry (sequence, event_id, subject_id, action, text, at_us)
    select e.sequence, e.event_id, e.subject_id, e.action, e.text, e.at_us
    from unnest(entries) with ordinality as e (sequence, event_id, subject_id, action, text, at_us, place)
    where e.sequence = after + e.place - 1;
  get diagnostics added = row_count;
  if added = 0 or added is distinct from cardinality(entries)::bigint or new_size is distinct from after + added then
    raise exception 'these are not the entries from % to %', after, new_size - 1 using errcode = 'PA003';
  end if;
  update audit_head set size = new_size, hash = new_hash, "timestamp" = new_timestamp;
  return new_size;
end $$;

create function audit_put_checkpoint(with_pen bigint, of_size bigint, new_note text, new_at_us bigint) returns void
language plpgsql security definer set search_path = portcullis, pg_temp as $$
begin
  -- In the way of whoever takes the pen, and not in that of an append.
  perform from audit_head where pen = with_pen for key share;
  if not found then
    raise exception 'the pen % is not in force', with_pen using errcode = 'PA001';
  end if;
  insert into audit_checkpoint as c (size, note, at_us) values (of_size, new_note, new_at_us)
    on conflict (size) do update set note = excluded.note where c.note <> excluded.note;
end $$;

create function audit_checkpoint_gains() returns trigger
language plpgsql set search_path = portcullis, pg_temp as $$
declare
  old_end integer := strpos(old.note, E'\\n\\n');
  new_end integer := strpos(new.note, E'\\n\\n');
begin
  if new.size is distinct from old.size or new.at_us is distinct from old.at_us
     or left(new.note, new_end) is distinct from left(old.note, old_end)
     or not string_to_array(substr(old.note, old_end + 2), E'\\n') <@ string_to_array(substr(new.note, new_end + 2), E'\\n') then
    raise exception 'the checkpoint of size % was signed as it is: its note may gain signatures and nothing else', old.size
      using errcode = 'PA004';
  end if;
  return new;
end $$;

create function audit_refuse_rewriting() returns trigger
language plpgsql set search_path = portcullis, pg_temp as $$
begin
  raise exception 'the audit log is append only, so % on % is refused: what was recorded is evidence, and every copy of a checkpoint would show the change',
    tg_op, tg_table_name using errcode = 'insufficient_privilege';
end $$;

create trigger append_only before update of sequence, text, outbox_id or delete or truncate on audit_entry
  for each statement execute function audit_refuse_rewriting();
create trigger index_stays before update of event_id, subject_id, action, at_us on audit_entry
  for each statement when (current_setting('portcullis.audit_repair', true) is distinct from 'on')
  execute function audit_refuse_rewriting();
create trigger append_only before delete or truncate on audit_checkpoint
  for each statement execute function audit_refuse_rewriting();
create trigger only_gains before update on audit_checkpoint
  for each row execute function audit_checkpoint_gains();
create trigger stays before delete or truncate on audit_head
  for each statement execute function audit_refuse_rewriting();
alter table audit_entry enable always trigger append_only;
alter table audit_entry enable always trigger index_stays;
alter table audit_checkpoint enable always trigger append_only;
alter table audit_checkpoint enable always trigger only_gains;
alter table audit_head enable always trigger stays;
`;

// An entry's text is canonical JSON: the action is its first member, and the subject stands before the time at its end. A column keeps a zero
// character as a delete character and four digits, and the delete character itself as well.
const repairWords = `
create type audit_index_row as (sequence bigint, event_id text, subject_id text, action text);

create function audit_json_of_column(value text) returns text language sql immutable set search_path = portcullis, pg_temp as $$
  select replace(replace(to_json(value)::text, chr(127) || '0000', '\\u0000'), chr(127) || '007f', chr(127))
$$;
`;

// The switch that lets the index change is thrown inside: only a superuser may put a parameter of ours into a function's definition.
export const repairIndexFunction = `
create or replace function audit_repair_index(with_pen bigint, repairs audit_index_row[]) returns bigint
language plpgsql security definer set search_path = portcullis, pg_temp as $$
declare
  fitting  bigint[];
  repaired bigint;
begin
  perform from audit_head where pen = with_pen for no key update;
  if not found then
    raise exception 'the pen % is not in force', with_pen using errcode = 'PA001';
  end if;
  -- Only what the bytes say: a caller that is led astray cannot make the index lie.
  select array_agg(r.sequence) into fitting
    from unnest(repairs) as r (sequence, event_id, subject_id, action)
    join audit_entry e on e.sequence = r.sequence
    cross join lateral (select convert_from(e.text, 'UTF8')) as t (line)
    cross join lateral (select ',"subject_id":' || audit_json_of_column(r.subject_id) || ',"timestamp":"') as s (subject)
    where starts_with(t.line, '{"action":' || audit_json_of_column(r.action) || ',"actor":')
      and right(left(t.line, -29), length(s.subject)) = s.subject
      and (e.event_id = r.event_id
        or strpos(t.line, regexp_replace(r.event_id, '^(bus|key[.]rotated|key[.]revoked|subject-key-destroyed)/', '')) > 0);
  -- Until the last update below; whatever rolls this back turns it off as well.
  perform set_config('portcullis.audit_repair', 'on', true);
  -- In two steps, because two rows may have each other's event id.
  update audit_entry set event_id = 'repairing ' || sequence where sequence = any (fitting);
  update audit_entry e
    set event_id = r.event_id, subject_id = r.subject_id, action = r.action,
        at_us = (extract(epoch from left(right(convert_from(e.text, 'UTF8'), 29), 27)::timestamptz) * 1000000)::bigint
    from unnest(repairs) as r (sequence, event_id, subject_id, action)
    where e.sequence = r.sequence and e.sequence = any (fitting);
  get diagnostics repaired = row_count;
  perform set_config('portcullis.audit_repair', 'off', true);
  return repaired;
end $$;
`;

// Readers follow three tables behind one cursor now.
const followers = `
create or replace function check_cursor() returns trigger language plpgsql set search_path = portcullis, pg_temp as $$
begin
  if new.cursor_id < old.cursor_id then
    raise exception 'the cursor of % cannot go back', new.name using errcode = 'check_violation';
  end if;
  if new.cursor_id > old.cursor_id and new.cursor_id > coalesce((select max(id) from outbox), 0)
     and new.cursor_id > coalesce((select max(id) from risk_journal), 0)
     and new.cursor_id > coalesce((select max(outbox_id) from audit_entry), 0)
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
  -- clocks that disagree and events that were numbered in another order than they were dated. Journal and audit log are never
  -- trimmed, but nothing of them at or before the floor is handed to anybody.
  kept_us := least(
    (select at_us from outbox order by id limit 1),
    (select at_us from risk_journal where id > (select trimmed_id from outbox_floor) order by id limit 1),
    (select at_us from audit_entry where outbox_id > (select trimmed_id from outbox_floor) order by outbox_id limit 1))
    - 3600000000;
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
revoke all on function audit_take_pen(text, bigint), audit_append(bigint, bigint, audit_row[], bigint, text, text),
  audit_put_checkpoint(bigint, bigint, text, bigint), audit_checkpoint_gains(), audit_refuse_rewriting(),
  audit_json_of_column(text), audit_repair_index(bigint, audit_index_row[]) from public;
grant execute on function audit_take_pen(text, bigint), audit_append(bigint, bigint, audit_row[], bigint, text, text),
  audit_put_checkpoint(bigint, bigint, text, bigint), audit_repair_index(bigint, audit_index_row[]) to portcullis_app;
grant select on audit_entry, audit_head, audit_checkpoint to portcullis_app;
grant select, insert, update (hashes) on audit_tile to portcullis_app;
`;

export const auditMigration: Migration = {
  number: 4,
  name: "audit",
  sql: tables + functions + repairWords + repairIndexFunction + followers + rights,
  // Needed a superuser, for a parameter in the definition of audit_repair_index; step 19 makes that function the same everywhere.
  superseded: ["449d3b96ed5613bdcbbd95b21037c8f0e33123a93b2fe3457295dc5c10f8be78"],
};
