// 28.6: what nobody shall get through with: statements against halts, identity, the audit log, the journal and other services' tables. As every service's own login each is
// refused, changes no row, or is noticed. In what a service keeps itself it is tried as everybody else.
import type { PlatformService } from "../../contracts/src/platform-services.ts";
import { subjects } from "../../contracts/src/subjects.ts";

export interface HostileStatement {
  readonly sql: string;
  /** The table that it is about, which a test puts back. */
  readonly table: string;
  /** Whose own records they are; halts, identity, the audit log and the journal are nobody's own. */
  readonly keepers: readonly PlatformService[];
}

const far = "9999999999999999";
const event = (source: string, subject: string): string =>
  `insert into outbox (event_id, at_us, subject, key, source, payload) values (gen_random_uuid(), 1, '${subject}', 'k', '${source}', '{}')`;

function against(table: string, ...statements: readonly string[]): readonly HostileStatement[] {
  return statements.map((sql) => ({ sql, table, keepers: [] }));
}

function keptBy(keepers: readonly PlatformService[], table: string, sql: string): HostileStatement {
  return { sql, table, keepers };
}

/** The change and its event in one transaction, in the name of whoever may publish it. */
const withEvent = (source: string, subject: string, name: string, change: string): string =>
  `with reported as (insert into outbox (event_id, at_us, subject, key, source, payload)
     select gen_random_uuid(), 1, '${subject}', 'k', '${source}', convert_to(json_build_object('name', ${name})::text, 'UTF8')) ${change}`;
const someHalt = "(select halt_id from halt where lifted_us is null and fund_id <> 'drill' limit 1)";

const halts: readonly HostileStatement[] = [
  ...["riskengine", "operations"].flatMap((source) =>
    ["drill", "rebase", "sign", "anything"].flatMap((rule) =>
      against(
        "halt",
        withEvent(
          source,
          subjects.haltLifted.name,
          someHalt,
          `select lift_halts(array[${someHalt}], 1, '${rule}', (select request_id from resume_request where not has_ended), 's') as "${source}"`,
        ),
      ),
    ),
  ),
  ...["riskengine", "operations"].flatMap((source) =>
    against(
      "halt",
      withEvent(source, subjects.haltLifted.name, someHalt, "update halt set lifted_us = 1, lifted_epoch = 9999"),
    ),
  ),
  keptBy(
    ["gateway"],
    "code_answer",
    `insert into code_answer select gen_random_uuid(), content ->> 'subject', 'operator:mallory', 'ResumeHalt', '{}', true, null, 1, ${far} from resume_request limit 1`,
  ),
  ...against("code_answer", "update code_answer set used_us = null, accepted = true"),
  ...against("code_question", "select code from code_question", "update code_question set code = '1'"),
  ...against(
    "halt",
    "update halt set lifted_us = 1, lifted_epoch = 2",
    "update halt set content = '{}'",
    "update halt set severity = 'STRATEGY_HALT'",
    "delete from halt",
    "truncate halt",
    "alter table halt disable trigger all",
    "drop table halt",
  ),
  ...against("halt_epoch", "update halt_epoch set epoch = epoch + 1", "delete from halt_epoch"),
  ...against("halt_told", "delete from halt_told"),
  ...against("halt_step", "update halt_step set detail = 'done'"),
  ...against(
    "resume_request",
    "update resume_request set has_ended = true",
    "update resume_request set content = '{}' where not has_ended",
    "delete from resume_request",
  ),
  ...against("restriction", "update restriction set ended_us = 1, ended = '{}'", "delete from restriction"),
];

const identity: readonly HostileStatement[] = [
  ...against(
    "operator",
    withEvent(
      "gateway",
      subjects.operatorChanged.name,
      "'operator:mallory'",
      "insert into operator values ('mallory', 'x', '{admin}', false, 1)",
    ),
    withEvent(
      "gateway",
      subjects.operatorChanged.name,
      "'operator:viewer'",
      "update operator set roles = '{admin}', development = false where name = 'viewer'",
    ),
  ),
  ...against(
    "service_token",
    withEvent(
      "gateway",
      subjects.serviceTokenChanged.name,
      "'forged'",
      `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us) values ('forged', 'n', 'h', '{}', 'x', 1, ${far})`,
    ),
  ),
  ...against(
    "identity_key",
    "insert into identity_key values ('forged', '{}', 1)",
    "update identity_key set public_jwk = '{}'",
    "delete from identity_key",
  ),
  ...against("identity_issuer", "update identity_issuer set issuer = 'https://evil.example'"),
  ...against(
    "operator",
    "insert into operator values ('mallory', 'x', '{admin}', false, 1)",
    "update operator set roles = '{admin}' where name = 'viewer'",
    "update operator set password_hash = 'x' where name = 'viewer'",
    "delete from operator where name = 'viewer'",
  ),
  ...against(
    "second_factor",
    "insert into second_factor (subject, actor, secret_sealed) values ('forged', 'operator:mallory', 'x')",
    "update second_factor set secret_sealed = 'x' where actor = 'operator:viewer'",
    "delete from second_factor where actor = 'operator:viewer'",
  ),
  ...against(
    "recovery_code",
    "insert into recovery_code select subject, 'forged' from second_factor where actor = 'operator:viewer'",
  ),
  ...against(
    "step_up_proof",
    `insert into step_up_proof values ('forged', 's', null, 'a', 'p', 1, ${far})`,
    "update step_up_proof set redeemed_us = null",
  ),
  ...against(
    "service_token",
    `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us) values ('forged', 'n', 'h', '{}', 'x', 1, ${far})`,
    "update service_token set operations = '{ResumeHalt}'",
  ),
  ...against("identity_revocation", "delete from identity_revocation", "update identity_revocation set until_us = 1"),
  ...against(
    "identity_request",
    `insert into identity_request values ('forged', 'AddOperator', 't', '{}', null, 'r', 's', 'r', 1, ${far}, 'signed', 'x', 2)`,
  ),
  ...against("identity_epoch", "update identity_epoch set epoch = 0"),
];

const record: readonly HostileStatement[] = [
  ...against(
    "audit_entry",
    "delete from audit_entry",
    "update audit_entry set action = 'forged'",
    "insert into audit_entry (sequence, event_id, subject_id, action, text, at_us) values (9, 'e', 's', 'a', '{}', 1)",
    "alter table audit_entry disable trigger all",
  ),
  ...against("audit_head", "update audit_head set size = 0"),
  ...against(
    "audit_checkpoint",
    "delete from audit_checkpoint",
    "insert into audit_checkpoint values (9, E'n\\n\\n', 1)",
  ),
  ...against("audit_tile", "delete from audit_tile"),
  ...against(
    "risk_journal",
    "delete from risk_journal",
    "update risk_journal set code = null",
    "insert into risk_journal (kind, at_us, fund_id, order_id, payload) values (2, 1, 'f', 'o', '')",
  ),
  ...against("risk_pen", "update risk_pen set pen = pen + 1"),
  ...against("risk_snapshot", "delete from risk_snapshot"),
  ...against("risk_envelope", "update risk_envelope set content = '{}'"),
  ...against("risk_envelope_head", "update risk_envelope_head set version = 99"),
  ...against("loss_state", "update loss_state set content = null"),
  ...against("guarded_row", "delete from guarded_row", "update guarded_row set digest = ''"),
  ...against(
    "guarded_row",
    "create or replace function portcullis.guard_has_event(subjects text[], named text[]) returns boolean language sql as 'select true'",
  ),
];

const others: readonly HostileStatement[] = [
  keptBy(["oms"], "oms_fill", "insert into oms_fill (fill_id) values ('forged')"),
  keptBy([], "oms_fill", "delete from oms_fill"),
  keptBy([], "treasury_entry", "delete from treasury_entry"),
  keptBy(["treasury", "oms"], "treasury_balance", "update treasury_balance set amount = 0"),
  keptBy([], "reference_version", "update reference_version set content = '{}'"),
  keptBy([], "research_backtest", "delete from research_backtest"),
  keptBy(["oms"], "outbox", event("oms", subjects.fillsCreated.name)),
  keptBy(["operations"], "outbox", event("operations", subjects.haltLifted.name)),
  keptBy([], "outbox", event("oms+treasury", subjects.fillsCreated.name)),
  keptBy([], "outbox", "delete from outbox"),
  keptBy(
    ["riskengine"],
    "subscription",
    "update subscription set cursor_id = cursor_id where name like 'riskengine.%'",
  ),
  keptBy(["riskengine", "operations"], "service_instance", "delete from service_instance where service = 'riskengine'"),
  keptBy([], "service_login", "select password from service_login"),
  keptBy([], "installation", "update installation set id = ''"),
  keptBy([], "pg_roles", "create role mallory"),
];

export const hostileStatements: readonly HostileStatement[] = [...halts, ...identity, ...record, ...others];
