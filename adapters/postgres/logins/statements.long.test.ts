// 28.6: sixty statements that nobody should get through with, tried as every service's own login on a database with something in it. Whose office a change is, is
// named beside it; everybody else is refused, or changes no row because the row is not theirs to see.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PlatformService, platformServices } from "../../../contracts/src/platform-services.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { quietLog } from "../../../testkit/global-setup.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { systemRandom } from "../../system/random.ts";
import { type ConnectionTarget, openClient } from "../connection.ts";
import { type LoginTargets, prepareServiceLogins, roleNameOf } from "./service-logins.ts";

const halting: readonly PlatformService[] = ["riskengine", "operations"];
const nobody: readonly PlatformService[] = [];
const event = (source: string, subject: string): string =>
  `insert into outbox (event_id, at_us, subject, key, source, payload) values (gen_random_uuid(), 1, '${subject}', 'k', '${source}', '{}')`;

/** The statement, and whose office it is. */
const statements: readonly (readonly [string, readonly PlatformService[]])[] = [
  // Halts.
  ["delete from halt", nobody],
  ["update halt set content = '{}'", nobody],
  ["update halt set severity = 'STRATEGY_HALT'", nobody],
  ["update halt set lifted_us = 1, lifted_epoch = 2", halting],
  ["update halt_epoch set epoch = epoch + 1", halting],
  ["delete from halt_epoch", nobody],
  ["truncate halt", nobody],
  ["alter table halt disable trigger all", nobody],
  ["drop table halt", nobody],
  ["delete from halt_told", nobody],
  ["update halt_step set detail = 'done'", nobody],
  ["delete from resume_request", nobody],
  ["update resume_request set has_ended = true", halting],
  ["update restriction set ended_us = 1", ["operations"]],
  ["delete from restriction", nobody],
  // Who is who.
  ["insert into identity_key values ('forged', '{}', 1)", ["gateway"]],
  ["delete from identity_key", ["gateway"]],
  ["update identity_issuer set issuer = 'https://evil.example'", ["gateway"]],
  ["insert into operator values ('mallory', 'x', '{admin}', false, 1)", ["gateway"]],
  ["update operator set roles = '{admin}'", ["gateway"]],
  ["select password_hash from operator", ["gateway"]],
  ["delete from second_factor", ["gateway"]],
  ["insert into second_factor (subject, actor) values ('s', 'operator:mallory')", ["gateway"]],
  ["update second_factor set secret_sealed = ''", ["gateway"]],
  ["select code_hash from recovery_code", ["gateway"]],
  ["insert into step_up_proof values ('h', 's', null, 'a', 'p', 1, 2)", ["gateway"]],
  ["delete from step_up_proof", ["gateway"]],
  [
    "insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us) values ('t', 'n', 'h', '{}', 'x', 1, 2)",
    ["gateway"],
  ],
  ["delete from identity_revocation", ["gateway"]],
  ["update identity_epoch set epoch = 0", nobody],
  ["select payload_sealed from oidc_state", ["gateway"]],
  // The audit log.
  ["delete from audit_entry", nobody],
  ["update audit_entry set action = 'forged'", nobody],
  [
    "insert into audit_entry (sequence, event_id, subject_id, action, text, at_us) values (9, 'e', 's', 'a', '{}', 1)",
    nobody,
  ],
  ["update audit_head set size = 0", nobody],
  ["delete from audit_checkpoint", nobody],
  ["insert into audit_checkpoint values (9, E'n\\n\\n', 1)", nobody],
  ["delete from audit_tile", nobody],
  ["select audit_take_pen('mallory', 1)", ["operations"]],
  ["select wrapped from audit_subject_key", ["operations"]],
  ["alter table audit_entry disable trigger all", nobody],
  // The journal and the limits.
  ["delete from risk_journal", nobody],
  ["update risk_journal set code = null", nobody],
  ["insert into risk_journal (kind, at_us, payload) values (2, 1, '')", ["riskengine"]],
  ["update risk_pen set pen = pen + 1", ["riskengine"]],
  ["delete from risk_snapshot", ["riskengine"]],
  ["update risk_envelope set content = '{}'", nobody],
  ["update risk_envelope_head set version = 0", ["riskengine"]],
  ["update loss_state set content = null", halting],
  // Other services' records.
  ["insert into oms_fill (fill_id) values ('forged')", ["oms"]],
  ["delete from oms_fill", nobody],
  ["delete from treasury_entry", nobody],
  ["update treasury_balance set amount = 0", ["treasury", "oms"]],
  ["update reference_version set content = '{}'", nobody],
  ["delete from research_backtest", nobody],
  // Events, cursors, leases.
  [event("oms", subjects.fillsCreated.name), ["oms"]],
  [event("operations", subjects.haltLifted.name), ["operations"]],
  ["delete from outbox", nobody],
  ["update subscription set cursor_id = 9 where name = 'riskengine.fills'", ["riskengine"]],
  ["delete from service_instance where service = 'riskengine'", ["riskengine", "operations"]],
  // The installation itself.
  ["select password from service_login", nobody],
  ["update installation set id = ''", nobody],
  ["create role mallory", nobody],
];

describe("28.6: as each service's login", () => {
  let database: TestDatabase;
  let owner: ConnectionTarget;
  let targets: LoginTargets = {};

  beforeAll(async () => {
    database = await testDatabase();
    owner = database.address.owner;
    const prepared = await prepareServiceLogins({
      owner,
      configured: {},
      services: platformServices,
      random: systemRandom(),
      log: quietLog,
    });
    targets = prepared.targets ?? {};
    await asOwner(`
      insert into subscription (name, cursor_id, patterns, updated_us) values ('riskengine.fills', 0, '{}', 1);
      insert into service_instance values ('i', 'riskengine', 'h', 1, 1, 1);
      insert into halt (halt_id, epoch, severity, fund_id, reason, requested_by, since_us, content)
        values ('h', 1, 'FIRM_HALT', '', 'r', 'operator:ada', 1, '{}');
      insert into resume_request (request_id, has_ended, content, requested_us) values ('q', false, '{}', 1);
      insert into second_factor (subject, actor) values ('s', 'operator:ada')`);
  });

  afterAll(async () => {
    const roles = platformServices.map((service) => `"${roleNameOf(owner.database, service)}"`);
    for (const role of roles) await asOwner(`drop owned by ${role}; drop role ${role}`);
    await database?.drop();
  });

  async function asOwner(sql: string): Promise<void> {
    const client = await openClient(owner, { log: quietLog, applicationName: "test" });
    await client.query(sql).finally(() => client.end());
  }

  it("has a list of sixty", () => {
    expect(statements.length).toBeGreaterThanOrEqual(60);
    expect(new Set(statements.map(([statement]) => statement)).size).toBe(statements.length);
  });

  it.each(platformServices)("%s gets through with none that is not its office", async (service) => {
    const target = targets[service];
    if (target === undefined) throw new Error(`no login of ${service}`);
    const client = await openClient(target, { log: quietLog, applicationName: "test" });
    const through: string[] = [];
    for (const [statement, offices] of statements) {
      if (offices.includes(service)) continue;
      await client.query("begin");
      const changed = await client.query(statement).then(
        ({ rowCount }) => rowCount ?? 0,
        (error: Error) =>
          /permission denied|must be owner|row-level security/.test(error.message) ? 0 : error.message,
      );
      await client.query("rollback");
      if (changed !== 0) through.push(`${statement}: ${changed}`);
    }
    await client.end();
    expect(through).toEqual([]);
  });

  it("each statement does something where it is somebody's office, so that a refusal is no slip of the list", async () => {
    const broken: string[] = [];
    for (const [statement, [office]] of statements) {
      const target = office === undefined ? owner : targets[office];
      if (target === undefined) throw new Error(`no login of ${office}`);
      const client = await openClient(target, { log: quietLog, applicationName: "test" });
      await client.query("begin");
      const message = await client.query(statement).then(
        () => undefined,
        (error: Error) => error.message,
      );
      await client.query("rollback");
      await client.end();
      // What is wrong with a value comes after the question who asks; append-only tables refuse everybody.
      if (message !== undefined && /permission denied|row-level security|syntax error|does not exist/.test(message)) {
        broken.push(`${statement}: ${message}`);
      }
    }
    expect(broken).toEqual([]);
  });
});
