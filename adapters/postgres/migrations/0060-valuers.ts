// The sixtieth step: a fund names the source whose values count. A database of before believed whoever published one; here each fund that a program outside
// values names the one that was heard last, in a version of the reference data with its event, so that it is audited and trading goes on. This happens once:
// who takes the name away later means it.
//
//  1. A LIVE fund names the foreign source that was heard last. One that was never valued names none, and takes no new risk until somebody says who values it.
//  2. A PAPER fund is our treasury's, unless a foreign source was heard and treasury was not within the hour before it: then treasury does not run here.
//  3. What was heard is in the outbox (over gRPC) and in the numbering; of a NATS login without numbers it is only known that it spoke.
import type { Migration } from "../migrate.ts";

const sql = `
do $valuers$
declare
  known record;
  added jsonb;
  content_text text;
  canonical_text text;
  new_hash text;
  now_us constant bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  actor constant text := 'service:upgrade';
  why constant text := 'An upgrade names the source whose values were heard last.';
  notice text;
begin
  select v.version, v.content into known from reference_head h join reference_version v using (kind, version) where h.kind = 'funds';
  if not found then return; end if;
  with published as (
    select key as fund_id, source, max(at_us) as at_us from outbox where subject = 'svc.v1.treasury.nav.updated' group by key, source
    union all
    select fund_id, source, at_us from foreign_position where kind = 'values' and last is not null
  ), unnumbered as (
    select n.fund_id, 'foreign-treasury' as source, n.as_of_us as at_us from risk_nav n
      where exists (select from foreign_unnumbered u where u.source = 'foreign-treasury')
        and not exists (select from published p where p.fund_id = n.fund_id)
        and not exists (select from treasury_nav t where t.fund_id = n.fund_id)
  ), heard as (
    select *, string_to_array(source, '+') <@ array['riskengine', 'operations', 'oms', 'treasury', 'research', 'gateway'] as is_own
      from (select * from published union all select * from unnumbered) both_ways
  ), newest as (
    select distinct on (fund_id) fund_id, source, at_us from heard where not is_own order by fund_id, at_us desc, source
  ), valuing as (
    select n.fund_id, n.source, f.fund ->> 'mode' as mode, n.at_us, greatest(
        (select max(h.at_us) from heard h where h.is_own and h.fund_id = n.fund_id),
        (select t.at_us from treasury_nav t where t.fund_id = n.fund_id and t.every = 'second' order by t.bucket_us desc limit 1)) as own_us
      from newest n join json_array_elements(known.content) f (fund) on f.fund ->> 'fund_id' = n.fund_id
      where f.fund ->> 'valued_by' is null
  )
  select jsonb_object_agg(fund_id, source) into added from valuing
    where mode = 'LIVE' or own_us is null or own_us < at_us - 3600000000;
  if added is null then return; end if;
  select '[' || string_agg(case when added ? (fund ->> 'fund_id')
      then regexp_replace(fund::text, '}\\s*$', '') || ',"valued_by":' || (added -> (fund ->> 'fund_id'))::text || '}'
      else fund::text end, ',' order by place) || ']'
    into content_text from json_array_elements(known.content) with ordinality f (fund, place);
  -- As contracts/src/text/canonical-text.ts writes it: the fields of a fund are texts and a list of texts.
  select '[' || string_agg(one.text, ',' order by place) || ']' into canonical_text
    from json_array_elements(content_text::json) with ordinality f (fund, place),
      lateral (select '{' || string_agg(to_json(key)::text || ':' || case json_typeof(value)
          when 'array' then '[' || coalesce((select string_agg(to_json(entry)::text, ',' order by nth)
            from json_array_elements_text(value) with ordinality e (entry, nth)), '') || ']'
          else to_json(value #>> '{}')::text end, ',' order by key collate "C") || '}' as text from json_each(fund)) one;
  new_hash := encode(sha256(convert_to(canonical_text, 'UTF8')), 'hex');
  insert into reference_version (kind, version, content, set_by, set_us, reason, hash)
    values ('funds', known.version + 1, content_text::json, actor, now_us, why, new_hash);
  update reference_head set version = known.version + 1 where kind = 'funds';
  notice := json_build_object('kind', 'funds', 'version', known.version + 1, 'set_by', actor,
    'set_at', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reason', why, 'hash', new_hash)::text;
  insert into outbox (event_id, at_us, subject, key, source, payload) values
    (gen_random_uuid(), now_us, 'svc.v1.treasury.reference.changed', 'funds', 'operations', convert_to(notice, 'UTF8'));
end
$valuers$;
`;

export const valuersMigration: Migration = { number: 60, name: "valuers", sql };
