// One-time codes that travel to the gateway and back through the database: judged as everywhere else, bounded, and worth nothing when nobody waits any more.
import { Secret, TOTP } from "otpauth";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toUnixMs } from "../../contracts/src/instant.ts";
import type { NamedAction } from "../../ports/identity.ts";
import { oneTimeCodesChecks } from "../../testkit/conformance/one-time-codes.ts";
import { type IdentityFixture, openIdentityFixture, person, quiet } from "../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { openClient } from "../postgres/connection.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { type AnswerCodesOptions, type AnsweringCodes, startAnsweringCodes } from "./answer-one-time-codes.ts";
import { createOneTimeCodes } from "./ask-one-time-codes.ts";
import { createSecondFactors } from "./second-factors.ts";

const lifting: NamedAction = { action: "ResumeHalt", parameters: { kind: "ask", request_id: "", halt_ids: ["h-1"] } };
const timers = systemTimers();
let database: TestDatabase;
let duty = person("duty");
let count = 0;
let fixture: IdentityFixture;
let answering: AnsweringCodes | undefined;
let secret: string;

beforeAll(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
});

afterAll(async () => {
  await fixture.close();
  await database.drop();
});

beforeEach(async () => {
  count += 1;
  duty = person(`duty-${count}`);
  const { store, sealing, clock } = fixture;
  const factors = createSecondFactors({ store, sealing, clock, random: systemRandom() });
  const begun = await factors.begin(duty, undefined);
  if (!begun.ok) throw new Error(begun.denial.code);
  secret = begun.value.secret;
  await factors.confirm(duty, codeNow());
  clock.pass(90_000);
});

afterEach(async () => {
  await answering?.close();
  answering = undefined;
  await fixture.rows("delete from code_question");
  await fixture.rows("delete from code_answer");
});

const codeNow = (): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: toUnixMs(fixture.clock.now()) });
const wrongCode = (): string => (codeNow() === "111111" ? "222222" : "111111");

/** The gateway's half, on connections of its own. */
function answer(differs: Partial<AnswerCodesOptions> = {}): AnsweringCodes {
  const open = () => openClient(database.address.app, { log: quietLog, applicationName: "test" });
  const own = { store: fixture.another(), sealing: fixture.sealing, clock: fixture.clock };
  answering = startAnsweringCodes({ ...own, timers, random: systemRandom(), log: quiet, open, ...differs });
  return answering;
}

const ask = (waitMsMax?: number) =>
  createOneTimeCodes({
    store: fixture.store,
    timers,
    random: systemRandom(),
    ...(waitMsMax !== undefined && { waitMsMax }),
  });

const counts = async () =>
  (
    await fixture.rows(
      "select (select count(*)::int from code_question) as q, (select count(*)::int from code_answer) as a",
    )
  )[0];

describe("one-time codes asked of the gateway", () => {
  it.each(oneTimeCodesChecks)("$sentence", async ({ run }) => {
    answer();
    await run({
      codes: ask(60_000),
      duty,
      nobody: person("nobody"),
      codeNow,
      wrongCode,
      pass: async (ms) => fixture.clock.pass(ms),
      reported: async () =>
        (await fixture.events()).map(({ subject }) => subject).filter((subject) => subject.includes(".stepup.")),
    });
    expect(await counts()).toMatchObject({ q: 0 });
  });

  it("are not accepted while nobody answers, and the code stays good", async () => {
    const before = (await fixture.events()).length;
    const denial = await ask(50).prove(duty, lifting, codeNow());
    expect(denial).toMatchObject({
      code: "SECOND_FACTOR_UNCHECKED",
      reason: expect.stringContaining("does not answer"),
    });
    // Whoever comes back later removes what nobody waits for any more, unjudged.
    await fixture.rows("update code_question set asked_us = asked_us - 5000001");
    expect(await answer().round()).toBeLessThanOrEqual(1);
    await expect.poll(counts, { timeout: 20_000 }).toEqual({ q: 0, a: 0 });
    expect(await fixture.events()).toHaveLength(before);
    expect(await ask(60_000).prove(duty, lifting, codeNow())).toBeUndefined();
  });

  it("open nothing when the answer comes after whoever asked gave up, and are used all the same", async () => {
    const code = codeNow();
    expect(await ask(20).prove(duty, lifting, code)).toMatchObject({ code: "SECOND_FACTOR_UNCHECKED" });
    // As if it had come a moment ago, however slow this machine is.
    await fixture.rows(
      "update code_question set asked_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint + 4000000",
    );
    answer();
    await expect.poll(counts, { timeout: 20_000 }).toEqual({ q: 0, a: 1 });
    expect(await fixture.rows("select accepted, used_us from code_answer")).toEqual([
      { accepted: true, used_us: null },
    ]);
    expect(await ask(60_000).prove(duty, lifting, code)).toMatchObject({ code: "SECOND_FACTOR_WRONG" });
  });

  it("are answered with a row that says who, for exactly what, and how long", async () => {
    answer({ everyMs: 20 });
    // Who has the factor is not what the asker says.
    expect(await ask(60_000).prove({ ...duty, actor: "operator:somebody" }, lifting, codeNow())).toBeUndefined();
    const rows = await fixture.rows(
      `select subject, actor, action, parameters, accepted, used_us,
         round((expires_us - extract(epoch from clock_timestamp()) * 1000000) / 60000000)::int as minutes from code_answer`,
    );
    const { subject, actor } = duty;
    expect(rows).toEqual([{ subject, actor, ...lifting, accepted: true, used_us: null, minutes: 16 }]);
    expect(JSON.stringify(await fixture.rows("select * from code_answer"))).not.toContain(codeNow());
  });

  it("are judged once by several gateways, and one that cannot be judged keeps nobody waiting", async () => {
    const second = startAnsweringCodes({
      ...fixture,
      store: fixture.another(),
      timers,
      random: systemRandom(),
      log: quiet,
      everyMs: 10,
    });
    answer({ everyMs: 10 });
    const codes = ask(60_000);
    const code = codeNow();
    const answers = await Promise.all(Array.from({ length: 6 }, () => codes.prove(duty, lifting, code)));
    expect(answers.filter((denial) => denial === undefined)).toHaveLength(1);
    const unhashable = "select ask_code(gen_random_uuid(), $1, 'operator:x', 'ResumeHalt', '{\"n\": 1e400}', '1')";
    await fixture.rows(unhashable, [duty.subject]);
    await fixture.rows("update second_factor set secret_sealed = 'unreadable' where subject = $1", [duty.subject]);
    expect(await codes.prove(duty, lifting, code)).toMatchObject({ code: "SECOND_FACTOR_UNCHECKED" });
    expect(await codes.prove(person("nobody"), lifting, code)).toMatchObject({ code: "SECOND_FACTOR_MISSING" });
    await second.close();
  });

  it("wait a hundred at most, and old ones make room", async () => {
    const question = "select ask_code(gen_random_uuid(), 's', 'a', 'ResumeHalt', '{}', '1') as asked";
    await fixture.rows(`select ${question.slice(7).replace(" as asked", "")} from generate_series(1, 100)`);
    expect(await fixture.rows(question)).toEqual([{ asked: false }]);
    expect(await ask(50).prove(duty, lifting, codeNow())).toMatchObject({ code: "SECOND_FACTOR_UNCHECKED" });
    await fixture.rows("update code_question set asked_us = asked_us - 61000000");
    expect(await fixture.rows(question)).toEqual([{ asked: true }]);
    expect(await counts()).toEqual({ q: 1, a: 0 });
  });
});
