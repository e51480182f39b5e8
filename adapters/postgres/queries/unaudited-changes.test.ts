// 28.6: a change without its event is found, whoever made it; one with its event is not, and what is set back is none any more.
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { UnauditedChanges } from "../../../ports/unaudited-changes.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { openPool } from "../connection.ts";
import { migrate } from "../migrate.ts";
import { guardedTables } from "../migrations/0048-guarded-rows.ts";
import { migrations } from "../migrations/index.ts";
import { createUnauditedChanges } from "./unaudited-changes.ts";

const far = "9999999999999999";
/** What makes a row that gives power, what takes it away, and the event that tells of either. */
const changes: Readonly<
  Record<
    string,
    { readonly make: string; readonly undo: string; readonly subject: keyof typeof subjects; name: string }
  >
> = {
  halt: {
    make: "update halt set lifted_us = 1, lifted_epoch = 2; update halt_epoch set epoch = 2",
    undo: "update halt set lifted_us = null, lifted_epoch = null; update halt_epoch set epoch = 1",
    subject: "haltLifted",
    name: "h-1",
  },
  restriction: {
    make: "update restriction set ended_us = 1, ended = '{}'",
    undo: "update restriction set ended_us = null, ended = null",
    subject: "restrictionEnded",
    name: "r-1",
  },
  resume_request: {
    make: "insert into resume_request (request_id, has_ended, content, requested_us) values ('q-1', false, '{}', 1)",
    undo: "delete from resume_request",
    subject: "resumeRequested",
    name: "q-1",
  },
  identity_issuer: {
    make: "insert into identity_issuer (issuer, updated_us) values ('https://evil.example', 1)",
    undo: "delete from identity_issuer",
    subject: "configurationChanged",
    name: "https://evil.example",
  },
  identity_key: {
    make: "insert into identity_key values ('k-1', '{}', 1)",
    undo: "delete from identity_key",
    subject: "signingKeyChanged",
    name: "k-1",
  },
  identity_revocation: {
    make: "delete from identity_revocation",
    undo: `insert into identity_revocation values ('token', 't-1', 1, ${far}, 'operator:ada')`,
    subject: "sessionClosed",
    name: "operator:ada",
  },
  operator: {
    make: "insert into operator values ('mallory', 'x', '{admin}', false, 1)",
    undo: "delete from operator",
    subject: "operatorChanged",
    name: "operator:mallory",
  },
  second_factor: {
    make: "insert into second_factor (subject, actor, secret_sealed) values ('s-1', 'operator:mallory', 'x')",
    undo: "delete from second_factor where subject = 's-1'",
    subject: "factorChanged",
    name: "operator:mallory",
  },
  recovery_code: {
    make: "insert into recovery_code values ('s-0', 'c-1')",
    undo: "delete from recovery_code",
    subject: "factorChanged",
    name: "operator:ada",
  },
  step_up_proof: {
    make: `insert into step_up_proof values ('p-1', 's-0', null, 'a', 'p', 1, ${far})`,
    undo: "delete from step_up_proof",
    subject: "stepUpGranted",
    name: "p",
  },
  service_token: {
    make: `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us) values ('t-1', 'n', 'h', '{}', 'x', 1, ${far})`,
    undo: "delete from service_token",
    subject: "serviceTokenChanged",
    name: "t-1",
  },
  identity_request: {
    make: `insert into identity_request values ('i-1', 'o', 't', '{}', null, 'r', 's', 'r', 1, ${far})`,
    undo: "delete from identity_request",
    subject: "identityRequested",
    name: "i-1",
  },
};

let database: TestDatabase;
let pool: pg.Pool;
let unaudited: UnauditedChanges;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(database.address.owner, { log: quietLog, applicationName: "test", sizeMax: 1 });
  unaudited = createUnauditedChanges(pool);
  // What restricts needs no event.
  await pool.query(`
    update halt_epoch set epoch = 1;
    insert into halt (halt_id, epoch, severity, fund_id, reason, requested_by, since_us, content)
      values ('h-1', 1, 'FIRM_HALT', '', 'r', 'operator:ada', 1, '{}');
    insert into restriction (restriction_id, kind, watchdog, episode_id, since_us, content)
      values ('r-1', 'SHADOW', 'w', 'e-1', 1, '{}');
    insert into identity_revocation values ('token', 't-1', 1, ${far}, 'operator:ada');
    insert into second_factor (subject, actor) values ('s-0', 'operator:ada')`);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const found = async (): Promise<readonly string[]> =>
  (await unaudited.list(20)).map(({ table, row, found: how }) => `${table} ${row} ${how}`);
const event = (subject: string, name: string): string =>
  `insert into outbox (event_id, at_us, subject, key, source, payload) values (gen_random_uuid(), 1, '${subject}', 'k', 'test', '{"x":"${name}"}')`;
const audited = (change: string, subject: keyof typeof subjects, name: string): Promise<unknown> =>
  pool.query(`begin; ${change}; ${event(subjects[subject].name, name)}; commit`);

describe("28.6: changes that nobody audited", () => {
  it("what restricts is none, and every guarded table is tried here", async () => {
    expect(await found()).toEqual([]);
    expect(Object.keys(changes).sort()).toEqual(guardedTables.map(({ table }) => table).sort());
  });

  it.each(Object.entries(changes))("%s: found without the event, gone when set back", async (table, { make, undo }) => {
    await pool.query(make);
    expect(await found()).toEqual([expect.stringMatching(new RegExp(`^${table} `))]);
    const [change] = await unaudited.list(1);
    expect(change?.changeId).toMatch(/^[0-9a-f]{16}$/);
    await pool.query(undo);
    expect(await found()).toEqual([]);
  });

  it.each(Object.entries(changes))("%s: none with the event in the same transaction", async (_table, one) => {
    await audited(one.make, one.subject, one.name);
    expect(await found()).toEqual([]);
    await audited(one.undo, one.subject, one.name);
    expect(await found()).toEqual([]);
  });

  it("an event that names another row, or came before, vouches for nothing", async () => {
    const { make, undo } = changes["halt"] ?? { make: "", undo: "" };
    await audited(make, "haltLifted", "h-2");
    expect(await found()).toEqual(["halt h-1 removed"]);
    await pool.query(undo);
    await pool.query(event(subjects.haltLifted.name, "h-1"));
    await pool.query(make);
    expect(await found()).toEqual(["halt h-1 removed"]);
    await pool.query(undo);
  });

  it("a proof that was used does not come back, and what ran out is removed without an event", async () => {
    await audited(`insert into step_up_proof values ('p-2', 's-0', null, 'a', 'p', 1, ${far})`, "stepUpGranted", "p");
    await pool.query("update step_up_proof set redeemed_us = 1");
    expect(await found()).toEqual([]);
    await pool.query("update step_up_proof set redeemed_us = null");
    expect(await found()).toEqual([expect.stringMatching(/^step_up_proof .* added$/)]);
    await pool.query("delete from step_up_proof");
    await pool.query("insert into identity_revocation values ('token', 'old', 1, 5, 'operator:ada')");
    await pool.query("delete from identity_revocation where id = 'old'");
    expect(await found()).toEqual([]);
  });

  it("an audited change after it does not hide it", async () => {
    await audited("insert into operator values ('ada', 'x', '{viewer}', false, 1)", "operatorChanged", "operator:ada");
    await pool.query("update operator set roles = '{admin}'");
    await audited("update operator set password_hash = 'y'", "operatorChanged", "operator:ada");
    expect(await found()).toEqual(["operator ada changed"]);
    await pool.query("update operator set roles = '{viewer}', password_hash = 'x'");
    expect(await found()).toEqual([]);
  });

  it("a token is found that was given a login of NATS", async () => {
    const { make, undo } = changes["service_token"] ?? { make: "", undo: "" };
    await audited(make, "serviceTokenChanged", "t-1");
    await pool.query("update service_token set nats_logins = '{desk}'");
    expect(await found()).toEqual(["service_token t-1 changed"]);
    await audited(undo, "serviceTokenChanged", "t-1");
  });

  it("a token is found that was given other funds", async () => {
    const { make, undo } = changes["service_token"] ?? { make: "", undo: "" };
    await audited(`${make}; update service_token set funds = '{harbor}'`, "serviceTokenChanged", "t-1");
    expect(await found()).toEqual([]);
    await pool.query("update service_token set funds = null");
    expect(await found()).toEqual(["service_token t-1 changed"]);
    await pool.query("update service_token set funds = '{harbor}'");
    expect(await found()).toEqual([]);
    await audited(undo, "serviceTokenChanged", "t-1");
  });

  it("the owner is found who switches triggers off, or replaces what compares", async () => {
    await pool.query("alter table operator disable trigger all");
    expect(await found()).toEqual(["pg_trigger operator changed"]);
    await pool.query("update operator set roles = '{admin}'; alter table operator enable trigger all");
    expect(await found()).toEqual(["operator ada changed"]);
    await pool.query(
      "begin; set local session_replication_role = replica; update operator set roles = '{viewer}'; commit",
    );
    expect(await found()).toEqual([]);
    const { rows } = await pool.query("select pg_get_functiondef('guard_has_event'::regproc) as text");
    await pool.query(rows[0].text.replace("return exists", "return true or exists"));
    expect(await found()).toEqual(["pg_proc guard_has_event changed"]);
    await pool.query(rows[0].text);
    expect(await found()).toEqual([]);
  });

  it("the epoch of halts and the newest limits must be what their rows say", async () => {
    await pool.query("update halt_epoch set epoch = epoch + 1; insert into risk_envelope_head values ('alpha', 3)");
    expect(await found()).toEqual(["halt_epoch epoch changed", "risk_envelope_head alpha changed"]);
    await pool.query("update halt_epoch set epoch = epoch - 1; delete from risk_envelope_head");
    expect(await found()).toEqual([]);
  });

  it("what is remembered of losses, and the newest snapshot, are not forgotten", async () => {
    await pool.query(
      "insert into loss_state values ('a', '{}'); insert into risk_snapshot values (1, 1, ''), (2, 1, '')",
    );
    await expect(pool.query("update loss_state set content = null")).rejects.toThrow("not forgotten");
    await expect(pool.query("delete from risk_snapshot")).rejects.toThrow("the newest snapshot stays");
    expect((await pool.query("delete from risk_snapshot where through = 1")).rowCount).toBe(1);
  });

  it("a signed request accepts its change once, and only one that was audited does", async () => {
    await pool.query("update operator set roles = '{admin}' where name = 'ada'");
    const [change] = await unaudited.list(1);
    const request = (id: string): string =>
      `insert into identity_request values ('${id}', 'AcceptUnauditedChange', 't', '{"change_id":"${change?.changeId}"}', null,
         'operator:bert', 's', 'r', 1, ${far}, 'signed', 'operator:carl', 2)`;
    await pool.query(request("forged"));
    expect(await unaudited.hasSigned()).toBe(false);
    expect((await pool.query("select * from guard_accept()")).rows).toEqual([]);
    await pool.query("delete from identity_request");
    await audited(request("i-9"), "identityRequestEnded", "i-9");
    expect(await unaudited.hasSigned()).toBe(true);
    expect((await pool.query("select request_id, row_id, cosigned_by from guard_accept()")).rows).toEqual([
      { request_id: "i-9", row_id: "ada", cosigned_by: "operator:carl" },
    ]);
    expect([await found(), await unaudited.hasSigned()]).toEqual([[], false]);
    await pool.query("update operator set roles = '{viewer}' where name = 'ada'");
    await pool.query("select * from guard_accept()");
    expect(await found()).toEqual(["operator ada changed"]);
  });
});

describe("tokens of before they named their funds", () => {
  it("stay audited where they were, and nothing hides what was not", async () => {
    const old = await testDatabase(migrations.filter(({ number }) => number < 56));
    const owner = openPool(old.address.owner, { log: quietLog, applicationName: "test", sizeMax: 1 });
    try {
      const insert = (id: string) =>
        `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us) values ('${id}', 'n', '${id}', '{}', 'x', 1, ${far})`;
      await owner.query(
        `begin; ${insert("t-1")}; ${insert("t-2")}; ${event(subjects.serviceTokenChanged.name, "t-1")}; ${event(subjects.serviceTokenChanged.name, "t-2")}; commit`,
      );
      await owner.query("update service_token set operations = '{ResumeHalt}' where id = 't-2'");
      await migrate(old.address.owner, migrations, quietLog);
      const differences = await createUnauditedChanges(owner).list(20);
      expect(differences.map(({ table, row, found: how }) => `${table} ${row} ${how}`)).toEqual([
        "service_token t-2 changed",
      ]);
      expect((await owner.query("select distinct funds from service_token")).rows).toEqual([{ funds: null }]);
    } finally {
      await owner.end();
      await old.drop();
    }
  });
});
