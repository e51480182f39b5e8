// The twenty-fifth step: audit logs that follow each other. Each has a stretch of 2^40 numbers in the tables that there are, so that entries,
// checkpoints and tiles of a closed log stay where they stand, and nothing of them is ever changed; where the head is says which log is written.
//
//  - `audit_begin_anew` is the one way from one log to the next: it keeps the head of the old one, moves the head to the next stretch, and appends the
//    first entries there, in one statement that is its own transaction.
//  - A request to begin anew is kept until it is signed, or for ever.
import type { Migration } from "../migrate.ts";

const sql = `
create table audit_closed_log (
  number      integer primary key check (number >= 1),
  size        bigint  not null check (size between 0 and 9007199254740991),
  hash        text    not null,
  "timestamp" text    not null,
  closed_us   bigint  not null check (closed_us between -9007199254740991 and 9007199254740991)
);
comment on table audit_closed_log is 'The heads of audit logs that were closed because they did not verify. Append only for everybody.';

create function audit_begin_anew(
  with_pen bigint, after bigint, entries audit_row[], new_size bigint, new_hash text, new_timestamp text, at_us bigint
) returns void language plpgsql security definer set search_path = portcullis, pg_temp set synchronous_commit = on as $$
declare
  span constant bigint := 1099511627776;
  head record;
begin
  -- As whoever takes the pen: what is under way is waited for.
  select pen, size, hash, "timestamp" into strict head from audit_head for update;
  if head.pen is distinct from with_pen then
    raise exception 'the pen % is not in force', with_pen using errcode = 'PA001';
  end if;
  if after % span <> 0 or head.size / span is distinct from after / span - 1 then
    raise exception 'the log at % is not the one before %', head.size, after using errcode = 'PA002';
  end if;
  insert into audit_closed_log (number, size, hash, "timestamp", closed_us)
    values (after / span, head.size, head.hash, head."timestamp", at_us);
  update audit_head set size = after, hash = repeat('0', 64), "timestamp" = '';
  if cardinality(entries) > 0 then
    perform audit_append(with_pen, after, entries, new_size, new_hash, new_timestamp);
  end if;
end $$;

create trigger append_only before update or delete or truncate on audit_closed_log
  for each statement execute function audit_refuse_rewriting();
alter table audit_closed_log enable always trigger append_only;

create table audit_anew_request (
  request_id   text   primary key collate "C",
  requested_us bigint not null,
  content      json   not null
);
comment on table audit_anew_request is 'Requests to close the audit log and begin another; a second person signs.';

revoke all on function audit_begin_anew(bigint, bigint, audit_row[], bigint, text, text, bigint) from public;
grant execute on function audit_begin_anew(bigint, bigint, audit_row[], bigint, text, text, bigint) to portcullis_app;
grant select on audit_closed_log to portcullis_app;
grant select, insert on audit_anew_request to portcullis_app;
`;

export const auditAnewMigration: Migration = { number: 25, name: "audit-anew", sql };
