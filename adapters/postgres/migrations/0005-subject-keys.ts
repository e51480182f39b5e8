// The fifth step: keys that seal what the audit log says about persons. Unlike the log, a row may be changed: destroying a key is what the table is
// for. A destroyed key's row stays, without its bytes, so that what it sealed is known to be erased and not lost.
import type { Migration } from "../migrate.ts";

const sql = `
create table audit_subject_key (
  id      uuid    primary key,
  person  text    not null collate "C" check (char_length(person) between 1 and 512),
  wrapped bytea   check (octet_length(wrapped) between 1 and 1024),
  told    boolean not null default false check (wrapped is null or not told)
);
create unique index audit_subject_key_in_force on audit_subject_key (person) where wrapped is not null;
create index audit_subject_key_untold on audit_subject_key (person) where wrapped is null and not told;
comment on table audit_subject_key is 'Keys of sealed fields, wrapped under a master key. Without bytes: destroyed.';

create function audit_subject_key_stays() returns trigger
language plpgsql set search_path = portcullis, pg_temp as $$
begin
  if old.wrapped is null and new.wrapped is not null then
    raise exception 'the key % was destroyed and does not come back', old.id using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger stays_destroyed before update on audit_subject_key for each row execute function audit_subject_key_stays();

revoke all on function audit_subject_key_stays() from public;
grant select, insert (id, person, wrapped), update (wrapped, told) on audit_subject_key to portcullis_app;
`;

export const subjectKeysMigration: Migration = { number: 5, name: "subject keys", sql };
