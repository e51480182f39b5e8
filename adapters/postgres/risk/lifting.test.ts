// 28.6: as the login of a service halts are lifted only against what the rule asks for, and nothing that gives power changes without its event. The owner, and the
// login that all share in development, are noticed instead (queries/unaudited-changes.test.ts).
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PlatformService, platformServices } from "../../../contracts/src/platform-services.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { systemRandom } from "../../system/random.ts";
import { openClient } from "../connection.ts";
import { prepareServiceLogins, roleNameOf } from "../logins/service-logins.ts";

const now = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";
let database: TestDatabase;
let owner: pg.Client;
const clients = new Map<PlatformService, pg.Client>();
const as = (service: PlatformService): pg.Client => clients.get(service) ?? owner;

beforeAll(async () => {
  database = await testDatabase();
  owner = await openClient(database.address.owner, { log: quietLog, applicationName: "test" });
  const options = { owner: database.address.owner, configured: {}, random: systemRandom(), log: quietLog };
  const { targets = {} } = await prepareServiceLogins({ ...options, services: platformServices });
  for (const service of platformServices) {
    const target = targets[service];
    if (target === undefined) throw new Error(`no login of ${service}`);
    clients.set(service, await openClient(target, { log: quietLog, applicationName: "test" }));
  }
  // Raising needs nothing.
  const halt = (id: string, epoch: number, severity: string, fund: string, strategy = "null"): string =>
    `update halt_epoch set epoch = ${epoch}; insert into halt (halt_id, epoch, severity, fund_id, strategy_id, reason, requested_by, since_us, content)
     values ('${id}', ${epoch}, '${severity}', '${fund}', ${strategy}, 'r', 'x', 1, '{"halt_id":"${id}"}')`;
  await as("riskengine").query(halt("firm", 1, "FIRM_HALT", ""));
  await as("operations").query(halt("fund", 2, "FUND_HALT", "alpha"));
  await as("operations").query(halt("strategy", 3, "STRATEGY_HALT", "alpha", "'alpha-momentum'"));
  await as("operations").query(halt("drill", 4, "FUND_HALT", "drill"));
});
afterAll(async () => {
  for (const client of clients.values()) await client.end();
  const role = (service: PlatformService): string => `"${roleNameOf(database.address.owner.database, service)}"`;
  for (const service of platformServices) {
    await owner.query(`drop owned by ${role(service)}; drop role ${role(service)}`);
  }
  await owner.end();
  await database.drop();
});

const event = (source: string, subject: keyof typeof subjects, name: string): string =>
  `insert into outbox (event_id, at_us, subject, key, source, payload)
   values (gen_random_uuid(), 1, '${subjects[subject].name}', 'k', '${source}', '{"x":"${name}"}')`;
const ids = (haltIds: readonly string[]): string => `array[${haltIds.map((id) => `'${id}'`).join(", ")}]`;
const everything = ["firm", "fund", "strategy"];

interface Case {
  readonly halts?: readonly string[];
  readonly rule?: "scope" | "drill" | "rebase" | "sign" | "anything";
  readonly by?: string;
  /** Whose events there are; default those of the halts. */
  readonly reported?: readonly string[];
  /** What the request in the table says; "none" when there is none. */
  readonly request?:
    | {
        readonly halts?: readonly string[];
        readonly subject?: string;
        readonly epoch?: number;
        readonly ended?: boolean;
      }
    | "none";
  readonly scene?: string;
}

/** What a lift comes to, everything in one transaction that is taken back. */
async function lift(service: PlatformService, one: Case): Promise<string> {
  const { halts = everything, rule = "sign", by = "s-relief", reported = halts, request = {} } = one;
  const client = as(service);
  await owner.query("delete from code_answer; delete from identity_revocation where id = 's-duty'");
  await owner.query(one.scene ?? bothAnswers);
  try {
    await client.query("begin");
    if (request !== "none") {
      const { halts: asked = everything, subject = "s-duty", epoch = 4, ended = false } = request;
      const content = JSON.stringify({ requestId: "q-1", haltIds: asked, subject, epoch });
      await client.query(
        `insert into resume_request (request_id, has_ended, content, requested_us) values ('q-1', ${ended}, '${content}', 1);
         ${event(service, "resumeRequested", "q-1")}`,
      );
    }
    const { rows } = await client.query(`select lift_halts(${ids(halts)}, 7, '${rule}', 'q-1', '${by}') as epoch`);
    for (const id of reported) await client.query(event(service, "haltLifted", id));
    await client.query("set constraints all immediate");
    return `lifted at ${rows[0]?.epoch}`;
  } catch (error) {
    return `${(error as { readonly code?: string }).code} ${(error as Error).message}`;
  } finally {
    await client.query("rollback");
  }
}

const answer = (subject: string, kind: string, differs: Readonly<Record<string, string>> = {}): string => {
  const {
    actor,
    request = kind === "sign" ? "q-1" : "",
    halts = JSON.stringify(everything),
    accepted = "true",
  } = differs;
  const parameters = `{"kind": "${kind}", "request_id": "${request}", "halt_ids": ${halts}}`;
  return `insert into code_answer values (gen_random_uuid(), '${subject}', '${actor ?? subject.replace("s-", "operator:")}', 'ResumeHalt',
    '${parameters}', ${accepted}, null, 5, ${now} + ${differs["left"] ?? "60000000"}, ${differs["used"] ?? "null"});`;
};
const [asked, signed] = [answer("s-duty", "ask"), answer("s-relief", "sign")];
const bothAnswers = asked + signed;
const refused = expect.stringMatching(/^42501 .*what the rule asks for is not there/);

describe("28.6: a firm halt", () => {
  it.each(["riskengine", "operations"] as const)(
    "is lifted as %s with request, answers and events",
    async (service) => {
      expect(await lift(service, {})).toBe("lifted at 5");
    },
  );

  it.each<readonly [string, Case]>([
    ["without any answer", { scene: "select 1" }],
    ["without the asker's", { scene: signed }],
    ["without the signer's", { scene: asked }],
    ["without a request", { request: "none" }],
    ["with one that has ended", { request: { ended: true } }],
    ["with one for other halts", { request: { halts: ["firm", "fund"] } }],
    ["with one from before a halt", { request: { epoch: 2 } }],
    ["with one of somebody else", { request: { subject: "s-third" } }],
    ["with one's own request", { by: "s-duty", scene: asked + answer("s-duty", "sign") }],
    ["by one person with two subjects", { scene: asked + answer("s-relief", "sign", { actor: "Operator:DUTY" }) }],
    ["and leaves another one in force", { halts: ["firm", "fund"], request: { halts: ["firm", "fund"] } }],
    ["against answers for other halts", { scene: asked + answer("s-relief", "sign", { halts: '["firm", "fund"]' }) }],
    [
      "against answers for more halts",
      { scene: answer("s-duty", "ask", { halts: '["firm", "fund", "strategy", "x"]' }) + signed },
    ],
    ["against a signature of another request", { scene: asked + answer("s-relief", "sign", { request: "q-2" }) }],
    ["against an answer for something else", { scene: asked + answer("s-relief", "rebase", { request: "q-1" }) }],
    ["against one that was not accepted", { scene: asked + answer("s-relief", "sign", { accepted: "false" }) }],
    ["against one that was used", { scene: asked + answer("s-relief", "sign", { used: "1" }) }],
    ["against one that ran out", { scene: answer("s-duty", "ask", { left: "-1" }) + signed }],
    [
      "after the asker's logins were ended",
      {
        scene: `${bothAnswers} insert into identity_revocation values ('subject', 's-duty', 6, 9999999999999999, 'x')`,
      },
    ],
    ["by an operator alone", { rule: "scope" }],
    ["by an officer alone", { rule: "rebase", scene: answer("s-relief", "rebase") }],
    ["as a drill", { rule: "drill" }],
    ["on no rule", { rule: "anything" }],
  ])("is not lifted %s", async (_how, one) => {
    expect(await lift("operations", one)).toEqual(refused);
    expect(await lift("riskengine", one)).toEqual(refused);
  });

  it("is not lifted without an event for each, nor by a statement, nor by anybody else", async () => {
    expect(await lift("operations", { reported: ["firm", "fund"] })).toMatch(/^42501 a change of halt needs its event/);
    for (const service of platformServices) {
      const lifting = as(service).query("update halt set lifted_us = 1, lifted_epoch = 5");
      await expect(lifting, service).rejects.toThrow("permission denied");
      if (service === "riskengine" || service === "operations") continue;
      const calling = as(service).query("select lift_halts(array['firm'], 1, 'scope', '', '')");
      await expect(calling, service).rejects.toThrow("permission denied");
    }
    for (const service of ["riskengine", "operations"] as const) {
      const forging = as(service).query(answer("s-duty", "ask"));
      await expect(forging, service).rejects.toThrow("permission denied for table code_answer");
      await expect(as(service).query("select from second_factor"), service).rejects.toThrow("permission denied");
      await expect(as(service).query("select from code_question"), service).rejects.toThrow("permission denied");
    }
  });

  it("uses both answers up, and no others", async () => {
    await owner.query("delete from code_answer");
    await owner.query(bothAnswers + answer("s-third", "sign"));
    await owner.query("begin; set local session authorization default");
    await owner.query("select use_code_answer('sign', 'q-1', 's-relief', array['strategy', 'firm', 'fund'])");
    const { rows } = await owner.query("select subject from code_answer where used_us is not null");
    await owner.query("rollback");
    expect(rows).toEqual([{ subject: "s-relief" }]);
  });
});

describe("28.6: a halt of one scope", () => {
  const officer = answer("s-relief", "rebase", { halts: '["fund"]' });
  it.each<readonly [string, Case, unknown]>([
    ["a fund's by an operator", { halts: ["fund"], rule: "scope" }, "lifted at 5"],
    ["a strategy's by an operator", { halts: ["strategy"], rule: "scope" }, "lifted at 5"],
    ["both at once", { halts: ["fund", "strategy"], rule: "scope" }, refused],
    ["a fund's with losses counted anew", { halts: ["fund"], rule: "rebase", scene: officer }, "lifted at 5"],
    ["a fund's so without an answer", { halts: ["fund"], rule: "rebase", scene: "select 1" }, refused],
    ["a strategy's so with the fund's answer", { halts: ["strategy"], rule: "rebase", scene: officer }, refused],
    ["a drill's by the drill", { halts: ["drill"], rule: "drill" }, "lifted at 5"],
    ["a drill's by an operator", { halts: ["drill"], rule: "scope" }, refused],
    ["a fund's as a drill", { halts: ["fund"], rule: "drill" }, refused],
    [
      "a fund's without its event",
      { halts: ["fund"], rule: "scope", reported: [] },
      expect.stringMatching(/^42501 .*its event/),
    ],
    ["one that is not in force", { halts: ["gone"], rule: "drill" }, refused],
  ])("%s", async (_what, one, expected) => {
    expect(await lift("operations", { ...one, request: "none" })).toEqual(expected);
  });
});

describe("28.6: a change of identity as the gateway's login", () => {
  const far = "9999999999999999";
  const proof = (column = "", value = ""): string =>
    `insert into step_up_proof (proof_hash, subject, action, parameters_hash, issued_us, expires_us${column}) values ('f', 's', 'a', 'p', 1, ${far}${value})`;
  const request = (column = "", value = ""): string =>
    `insert into identity_request (request_id, operation, target, parameters, requested_by, subject, reason, made_us, expires_us${column})
     values ('f', 'AddOperator', 'operator:mallory', '{}', 'r', 's', 'r', 1, ${far}${value})`;
  const person = (development = false): string =>
    `insert into operator values ('mallory', 'x', '{admin}', ${development}, 1)`;
  const token = `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us) values ('f', 'n', 'h', '{}', 'x', 1, ${far})`;
  const redeem = "update step_up_proof set redeemed_us = 2";
  const sign = "update identity_request set outcome = 'signed', ended_by = 'x', ended_us = 2";
  const of = (subject: keyof typeof subjects, name: string): string => event("gateway", subject, name);
  const made = of("operatorChanged", "operator:mallory");
  const [granted, requested, ended] = [
    of("stepUpGranted", "p"),
    of("identityRequested", "f"),
    of("identityRequestEnded", "f"),
  ];

  /** The first ones in a transaction of their own, if any; then the rest in another, which is taken back. */
  async function change(
    mode: "production" | "development",
    earlier: readonly string[],
    ...now: readonly string[]
  ): Promise<string> {
    const client = as("gateway");
    await owner.query(
      `begin; set local session_replication_role = replica; delete from step_up_proof; delete from identity_request; delete from guarded_row where of_table in ('step_up_proof', 'identity_request');
       update platform_mode set is_production = ${mode === "production"}; commit`,
    );
    try {
      await client.query("begin");
      if (earlier.length > 0) await client.query(`${earlier.join("; ")}; commit; begin`);
      for (const one of now) await client.query(one);
      await client.query("set constraints all immediate");
      return "done";
    } catch (error) {
      return `${(error as { readonly code?: string }).code} ${(error as Error).message}`;
    } finally {
      await client.query("rollback");
    }
  }

  it.each([
    ["a person", person()],
    ["a key", "insert into identity_key values ('forged', '{}', 1)"],
    ["a second factor", "insert into second_factor (subject, actor, secret_sealed) values ('f', 'operator:m', 'x')"],
    ["a proof", proof()],
    ["a token", token],
    ["a request", request()],
  ])("is refused without its event: %s", async (_what, statement) => {
    expect(await change("development", [], statement)).toMatch(/^42501 a change of \w+ needs/);
  });

  const [prove, ask] = [
    [proof(), granted],
    [request(), requested],
  ];
  const tokenMade = of("serviceTokenChanged", "f");
  it.each<readonly [string, "production" | "development", readonly string[], readonly string[], string]>([
    ["a person with an event alone", "development", [], [person(), made], "needs"],
    ["a token with an event alone", "development", [], [token, tokenMade], "needs"],
    ["a person with a proof of the same transaction", "development", [], [...prove, redeem, person(), made], "needs"],
    ["a person with a proof that is not redeemed", "development", prove, [person(), made], "needs"],
    ["a person with a proof", "development", prove, [redeem, person(), made], "done"],
    ["a token with a proof", "production", prove, [redeem, token, tokenMade], "done"],
    ["a person of development's", "development", [], [person(true), made], "done"],
    ["a person of development's", "production", [], [person(true), made], "needs"],
    ["a person with a proof alone", "production", prove, [redeem, person(), made], "needs"],
    [
      "a person with proof and request, both earlier",
      "production",
      [...prove, ...ask],
      [redeem, sign, ended, person(), made],
      "done",
    ],
    [
      "a person with a request of the same transaction",
      "production",
      prove,
      [redeem, ...ask, sign, ended, person(), made],
      "needs",
    ],
    [
      "a person whom another request names",
      "production",
      [...prove, ...ask.map((one) => one.replace("mallory", "ada"))],
      [redeem, sign, ended, person(), made],
      "needs",
    ],
    [
      "a person who is disabled",
      "production",
      [],
      ["insert into operator values ('mallory', 'x', '{admin}', false, 1, 2)", made],
      "done",
    ],
    [
      "a proof that is redeemed from the beginning",
      "development",
      [],
      [proof(", redeemed_us", ", 2")],
      "permission denied",
    ],
    ["a proof of another transaction", "development", [], [proof(", made_in", ", '3'")], "permission denied"],
    [
      "a request that is signed from the beginning",
      "production",
      [],
      [request(", outcome, ended_us", ", 'signed', 2")],
      "permission denied",
    ],
  ])("%s, in %s", async (_what, mode, earlier, statements, expected) => {
    expect(await change(mode, earlier, ...statements)).toContain(expected);
  });
});
