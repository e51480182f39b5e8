// The fifty-second step: one-time codes travel to whoever keeps second factors, and the answer comes back as a row that nobody else can write. The services that lift
// halts ask by a function, and read no second factor.
//
//  1. Times are the server's: whoever asks cannot make a question young or an answer last.
//  2. Questions that wait are bounded, and those that are too old go with the next one.
import type { Migration } from "../migrate.ts";

const now = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";

const sql = `
create table code_question (
  question_id uuid   primary key,
  subject     text   not null,
  actor       text   not null,
  action      text   not null check (action = 'ResumeHalt'),
  parameters  jsonb  not null check (octet_length(parameters::text) <= 262144),
  code        text   not null check (octet_length(code) <= 64),
  asked_us    bigint not null
);
comment on table code_question is 'One-time codes on their way to whoever judges them, for seconds. Written by ask_code alone.';

create table code_answer (
  question_id uuid    primary key,
  subject     text    not null,
  actor       text    not null,
  action      text    not null,
  parameters  jsonb   not null,
  accepted    boolean not null,
  denial      json,
  at_us       bigint  not null,
  expires_us  bigint  not null,
  used_us     bigint
);
create index code_answer_subject on code_answer (subject);
create index code_answer_expires on code_answer (expires_us);
comment on table code_answer is 'How a one-time code was judged, for whom and for exactly what. Written by whoever keeps second factors.';
comment on column code_answer.used_us is 'Set once, by the function that does what the code was shown for.';

create function ask_code(question_id uuid, subject text, actor text, action text, parameters jsonb, code text) returns boolean
language plpgsql security definer set search_path = portcullis, pg_temp as $ask$
declare
  at_us bigint := ${now};
begin
  delete from code_question q where q.question_id in
    (select o.question_id from code_question o where abs(at_us - o.asked_us) > 60000000 for update skip locked);
  if (select count(*) from code_question) >= 100 then return false; end if;
  insert into code_question values (ask_code.question_id, ask_code.subject, ask_code.actor, ask_code.action, ask_code.parameters, ask_code.code, at_us);
  perform pg_notify('portcullis_code_question', '');
  return true;
end $ask$;
revoke all on function ask_code(uuid, text, text, text, jsonb, text) from public;

grant execute on function ask_code(uuid, text, text, text, jsonb, text) to portcullis_app;
grant select, update (question_id), delete on code_question to portcullis_app;
grant select, insert, delete on code_answer to portcullis_app;
`;

export const codeQuestionsMigration: Migration = { number: 52, name: "code-questions", sql };
