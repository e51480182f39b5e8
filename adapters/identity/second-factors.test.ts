// Second factors on the real database: what is accepted, what is refused, what stays, and what is never written in clear.
import { Secret, TOTP } from "otpauth";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toUnixMs } from "../../contracts/src/instant.ts";
import type { Identity, NamedAction, SecondFactors } from "../../ports/identity.ts";
import { type IdentityFixture, openIdentityFixture, person } from "../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { systemRandom } from "../system/random.ts";
import { createSecondFactors } from "./second-factors.ts";

const duty = person("duty");
const halt: NamedAction = { action: "ResumeHalt", parameters: { fund_id: "alpha", reason: "all clear" } };

let database: TestDatabase;
let fixture: IdentityFixture;
let factors: SecondFactors;

beforeEach(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
  factors = open(fixture.store);
});

afterEach(async () => {
  await fixture.close();
  await database.drop();
});

function open(store: PostgresStore): SecondFactors {
  return createSecondFactors({ store, sealing: fixture.sealing, clock: fixture.clock, random: systemRandom() });
}

/** The code of now, or of some steps away. */
function codeOf(secret: string, steps = 0): string {
  const timestamp = toUnixMs(fixture.clock.now()) + steps * 30_000;
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
}

/** A code that no accepted step has. */
function wrongCode(secret: string): string {
  const right = new Set([-1, 0, 1].map((steps) => codeOf(secret, steps)));
  return ["111111", "222222", "333333", "444444"].find((code) => !right.has(code)) ?? "";
}

async function enrol(identity: Identity): Promise<{ secret: string; recoveryCodes: readonly string[] }> {
  const begun = await factors.begin(identity, undefined);
  if (!begun.ok) throw new Error(begun.denial.code);
  const confirmed = await factors.confirm(identity, codeOf(begun.value.secret));
  if (!confirmed.ok) throw new Error(confirmed.denial.code);
  fixture.clock.pass(90_000);
  return { secret: begun.value.secret, recoveryCodes: confirmed.value.recoveryCodes };
}

const totp = (code: string) => ({ kind: "totp", code }) as const;
const recovery = (code: string) => ({ kind: "recovery_code", code }) as const;
const denial = (code: string) => ({ ok: false, denial: { code } });

describe("enrolment", () => {
  it("counts only once it is confirmed, tells ten recovery codes, and leaves its events", async () => {
    expect(await factors.status(duty)).toEqual({ recoveryCodesLeft: 0 });
    const begun = await factors.begin(duty, undefined);
    if (!begun.ok) throw new Error(begun.denial.code);
    const { secret, uri } = begun.value;
    expect(uri).toBe(`otpauth://totp/Portcullis:duty?secret=${secret}&issuer=Portcullis`);
    expect(Secret.fromBase32(secret).bytes).toHaveLength(20);
    expect(await factors.stepUp(duty, halt, totp(codeOf(secret)))).toMatchObject(denial("SECOND_FACTOR_MISSING"));
    expect(await factors.status(duty)).toEqual({ recoveryCodesLeft: 0 });
    const confirmed = await factors.confirm(duty, codeOf(secret));
    if (!confirmed.ok) throw new Error(confirmed.denial.code);
    expect(new Set(confirmed.value.recoveryCodes).size).toBe(10);
    for (const code of confirmed.value.recoveryCodes)
      expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/);
    expect(await factors.status(duty)).toEqual({ enrolledAt: fixture.clock.now(), recoveryCodesLeft: 10 });
    expect(
      (await fixture.events()).map(({ subject, payload }) => [subject, payload["change"] ?? payload["code"]]),
    ).toEqual([
      ["svc.v1.identity.factor.changed", "begun"],
      ["svc.v1.identity.stepup.refused", "SECOND_FACTOR_MISSING"],
      ["svc.v1.identity.factor.changed", "enrolled"],
      ["svc.v1.identity.factor.changed", "enrolled"],
    ]);
    expect(await factors.stepUp(duty, halt, totp(codeOf(secret))), "its step is used").toMatchObject(
      denial("SECOND_FACTOR_WRONG"),
    );
  });

  it("runs out after ten minutes, and is not confirmed by a wrong code or twice", async () => {
    expect(await factors.confirm(duty, "123456")).toMatchObject(denial("SECOND_FACTOR_NOT_BEGUN"));
    const begun = await factors.begin(duty, undefined);
    if (!begun.ok) throw new Error(begun.denial.code);
    const { secret } = begun.value;
    expect(await factors.confirm(duty, wrongCode(secret))).toMatchObject(denial("SECOND_FACTOR_WRONG"));
    fixture.clock.pass(600_001);
    expect(await factors.confirm(duty, codeOf(secret))).toMatchObject(denial("SECOND_FACTOR_NOT_BEGUN"));
    const again = await factors.begin(duty, undefined);
    if (!again.ok) throw new Error(again.denial.code);
    expect(await factors.confirm(duty, codeOf(secret)), "the old secret").toMatchObject(denial("SECOND_FACTOR_WRONG"));
    expect(await factors.confirm(duty, codeOf(again.value.secret))).toMatchObject({ ok: true });
    expect(await factors.confirm(duty, codeOf(again.value.secret))).toMatchObject(denial("SECOND_FACTOR_NOT_BEGUN"));
  });

  it("is confirmed by the session that began it, and by no other", async () => {
    const begun = await factors.begin(duty, undefined);
    if (!begun.ok) throw new Error(begun.denial.code);
    const { sessionId: _none, ...nowhere } = duty;
    for (const other of [{ ...duty, sessionId: "other" }, nowhere]) {
      expect(await factors.confirm(other, codeOf(begun.value.secret))).toMatchObject(denial("SECOND_FACTOR_NOT_BEGUN"));
    }
    expect(await factors.confirm(duty, codeOf(begun.value.secret))).toMatchObject({ ok: true });
    const foreign = { ...nowhere, subject: "https://login.example|1" };
    const theirs = await factors.begin(foreign, undefined);
    if (!theirs.ok) throw new Error(theirs.denial.code);
    expect(await factors.confirm(foreign, codeOf(theirs.value.secret))).toMatchObject({ ok: true });
  });

  it("of another factor takes the proofs of the old one along", async () => {
    const old = await enrol(duty);
    expect(await factors.stepUp(duty, halt, totp(codeOf(old.secret)))).toMatchObject({ ok: true });
    fixture.clock.pass(30_000);
    const begun = await factors.begin(duty, totp(codeOf(old.secret)));
    if (!begun.ok) throw new Error(begun.denial.code);
    expect(await fixture.rows("select subject from step_up_proof")).toEqual([{ subject: duty.subject }]);
    expect(await factors.confirm(duty, codeOf(begun.value.secret))).toMatchObject({ ok: true });
    expect(await fixture.rows("select subject from step_up_proof")).toEqual([]);
  });

  it("asks for the factor that exists, which stays in force until the new one is confirmed", async () => {
    const old = await enrol(duty);
    expect(await factors.begin(duty, undefined)).toMatchObject(denial("STEP_UP_REQUIRED"));
    expect(await factors.begin(duty, totp(wrongCode(old.secret)))).toMatchObject(denial("SECOND_FACTOR_WRONG"));
    const begun = await factors.begin(duty, totp(codeOf(old.secret)));
    if (!begun.ok) throw new Error(begun.denial.code);
    expect(await factors.stepUp(duty, halt, totp(codeOf(old.secret))), "replay").toMatchObject(
      denial("SECOND_FACTOR_WRONG"),
    );
    expect(await factors.stepUp(duty, halt, totp(codeOf(old.secret, 1)))).toMatchObject({ ok: true });
    expect(await factors.confirm(duty, wrongCode(begun.value.secret))).toMatchObject(denial("SECOND_FACTOR_WRONG"));
    expect(
      await factors.stepUp(duty, halt, totp(codeOf(old.secret))),
      "a wrong confirmation frees no step",
    ).toMatchObject(denial("SECOND_FACTOR_WRONG"));
    expect(await factors.confirm(duty, codeOf(begun.value.secret)), "same step as the old one's").toMatchObject({
      ok: true,
    });
    fixture.clock.pass(60_000);
    expect(await factors.stepUp(duty, halt, totp(codeOf(old.secret)))).toMatchObject(denial("SECOND_FACTOR_WRONG"));
    expect(await factors.stepUp(duty, halt, recovery(old.recoveryCodes[0] ?? ""))).toMatchObject(
      denial("SECOND_FACTOR_WRONG"),
    );
    expect(await factors.stepUp(duty, halt, totp(codeOf(begun.value.secret)))).toMatchObject({ ok: true });
    expect((await factors.status(duty)).recoveryCodesLeft).toBe(10);
  });

  it("can be replaced with a recovery code, which is used up", async () => {
    const { recoveryCodes } = await enrol(duty);
    expect(await factors.begin(duty, recovery(recoveryCodes[3] ?? ""))).toMatchObject({ ok: true });
    expect((await factors.status(duty)).recoveryCodesLeft).toBe(9);
    expect(await factors.begin(duty, recovery(recoveryCodes[3] ?? ""))).toMatchObject(denial("SECOND_FACTOR_WRONG"));
  });
});

describe("step-up", () => {
  it("accepts now and one step either way, and nothing further", async () => {
    const { secret } = await enrol(duty);
    for (const [steps, fits] of [
      [-2, false],
      [2, false],
      [-1, true],
      [0, true],
      [1, true],
    ] as const) {
      const answer = await factors.stepUp(duty, halt, totp(codeOf(secret, steps)));
      expect(answer, `${steps} steps away`).toMatchObject(fits ? { ok: true } : denial("SECOND_FACTOR_WRONG"));
    }
  });

  it("never accepts a step twice, nor one before it, nor after a restart", async () => {
    const { secret } = await enrol(duty);
    const code = codeOf(secret);
    const before = codeOf(secret, -1);
    expect(await factors.stepUp(duty, halt, totp(code))).toMatchObject({ ok: true });
    for (const replayed of [code, before]) {
      expect(await open(fixture.another()).stepUp(duty, halt, totp(replayed))).toMatchObject({
        ok: false,
        denial: { code: "SECOND_FACTOR_WRONG", reason: "This code was used already: wait for the next one." },
      });
    }
    fixture.clock.pass(30_000);
    expect(await factors.stepUp(duty, halt, totp(code)), "still within the window").toMatchObject(
      denial("SECOND_FACTOR_WRONG"),
    );
    expect(await factors.stepUp(duty, halt, totp(codeOf(secret)))).toMatchObject({ ok: true });
  });

  it("locks after five wrong codes, refuses the right one meanwhile, and opens again", async () => {
    const { secret } = await enrol(duty);
    for (let count = 1; count <= 5; count += 1) {
      const answer = await factors.stepUp(duty, halt, totp(wrongCode(secret)));
      expect(answer).toMatchObject(denial("SECOND_FACTOR_WRONG"));
      expect("retryAfterS" in answer && answer.retryAfterS).toBe(count === 5 ? 60 : false);
    }
    const sixth = await factors.stepUp(duty, halt, totp(wrongCode(secret)));
    expect(sixth).toMatchObject({ ...denial("SECOND_FACTOR_LOCKED"), retryAfterS: 60 });
    fixture.clock.pass(59_000);
    expect(await factors.stepUp(duty, halt, totp(codeOf(secret)))).toMatchObject({
      ...denial("SECOND_FACTOR_LOCKED"),
      retryAfterS: 1,
    });
    expect((await factors.status(duty)).lockedUntil).toBeGreaterThan(fixture.clock.now());
    fixture.clock.pass(1_000);
    expect((await factors.status(duty)).lockedUntil).toBeUndefined();
    expect(await factors.stepUp(duty, halt, totp(wrongCode(secret)))).toMatchObject({
      ...denial("SECOND_FACTOR_WRONG"),
      retryAfterS: 120,
    });
    fixture.clock.pass(120_000);
    expect(await factors.stepUp(duty, halt, totp(codeOf(secret)))).toMatchObject({ ok: true });
    expect(await factors.stepUp(duty, halt, totp(wrongCode(secret))), "success forgave").not.toHaveProperty(
      "retryAfterS",
    );
    const codes = (await fixture.events())
      .filter(({ subject }) => subject.includes("stepup"))
      .map(({ payload }) => payload["code"]);
    expect(codes).toEqual([
      ...Array.from({ length: 5 }, () => "SECOND_FACTOR_WRONG"),
      "SECOND_FACTOR_LOCKED",
      "SECOND_FACTOR_LOCKED",
      "SECOND_FACTOR_WRONG",
      undefined,
      "SECOND_FACTOR_WRONG",
    ]);
  });

  it("counts what is no code at all, whatever it is made of", async () => {
    const { secret } = await enrol(duty);
    for (const code of ["", "12345", "1234567", "١٢٣٤٥٦", "\u0000\u0000\u0000\u0000\u0000\u0000"]) {
      expect(await factors.stepUp(duty, halt, totp(code))).toMatchObject(denial("SECOND_FACTOR_WRONG"));
    }
    expect(await factors.stepUp(duty, halt, totp(codeOf(secret)))).toMatchObject(denial("SECOND_FACTOR_LOCKED"));
  });

  it("gives no free guess to whoever sends parameters that have no hash", async () => {
    const { secret } = await enrol(duty);
    const broken: NamedAction = { action: "ResumeHalt", parameters: { reason: "\ud800" } };
    for (const code of [codeOf(secret), wrongCode(secret)]) {
      await expect(factors.stepUp(duty, broken, totp(code))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(await factors.stepUp(duty, halt, totp(codeOf(secret))), "nothing was used up").toMatchObject({ ok: true });
  });

  it("takes a recovery code once, however it is written", async () => {
    const { recoveryCodes } = await enrol(duty);
    const [first = "", second = ""] = recoveryCodes;
    const written = ` ${first.toUpperCase().replaceAll("-", " ").replaceAll("0", "O").replaceAll("1", "l")} `;
    expect(await factors.stepUp(duty, halt, recovery(written))).toMatchObject({ ok: true });
    expect(await factors.stepUp(duty, halt, recovery(first))).toMatchObject(denial("SECOND_FACTOR_WRONG"));
    expect(await factors.stepUp(person("relief"), halt, recovery(second)), "somebody else's").toMatchObject(
      denial("SECOND_FACTOR_MISSING"),
    );
    expect((await factors.status(duty)).recoveryCodesLeft).toBe(9);
    expect((await fixture.events()).filter(({ payload }) => payload["change"] === "recovery_code_used")).toHaveLength(
      1,
    );
  });

  it("lets exactly one of many win who show the same code at once", async () => {
    const { secret, recoveryCodes } = await enrol(duty);
    const processes = [factors, open(fixture.another())];
    for (const shown of [totp(codeOf(secret)), recovery(recoveryCodes[0] ?? "")]) {
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_none, index) => (processes[index % 2] ?? factors).stepUp(duty, halt, shown)),
      );
      expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    }
    expect(await fixture.rows("select count(*)::int as n from step_up_proof")).toEqual([{ n: 2 }]);
  });

  it("counts every wrong code of those that come at once", async () => {
    const { secret } = await enrol(duty);
    const processes = [factors, open(fixture.another())];
    const wrong = wrongCode(secret);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_none, index) => (processes[index % 2] ?? factors).stepUp(duty, halt, totp(wrong))),
    );
    expect(answers.filter((one) => !one.ok && one.denial.code === "SECOND_FACTOR_LOCKED")).toHaveLength(1);
    expect(await fixture.rows("select failures from second_factor")).toEqual([{ failures: 5 }]);
  });

  it("refuses a secret that was moved from another person's row", async () => {
    const { secret } = await enrol(duty);
    await enrol(person("relief"));
    await fixture.rows(
      "update second_factor set secret_sealed = (select secret_sealed from second_factor where subject like '%|duty') where subject like '%|relief'",
    );
    await expect(factors.stepUp(person("relief"), halt, totp(codeOf(secret)))).rejects.toMatchObject({
      code: "INTERNAL",
    });
  });
});

it("writes no secret, code or proof in clear, to any table or event", async () => {
  const { secret, recoveryCodes } = await enrol(duty);
  const code = codeOf(secret);
  const wrong = wrongCode(secret);
  const granted = await factors.stepUp(duty, halt, totp(code));
  if (!granted.ok) throw new Error(granted.denial.code);
  await factors.stepUp(duty, halt, totp(wrong));
  await factors.stepUp(duty, halt, recovery(recoveryCodes[0] ?? ""));
  await factors.begin(duty, recovery(recoveryCodes[1] ?? ""));
  const everything = await fixture.dump();
  expect(everything).toContain("operator:duty");
  const raw = Buffer.from(Secret.fromBase32(secret).bytes);
  const reported = [
    secret,
    raw.toString("hex"),
    raw.toString("latin1"),
    raw.toString("base64url"),
    granted.value.proof,
    ...recoveryCodes,
  ];
  for (const one of [...reported, ...recoveryCodes.map((each) => each.replaceAll("-", ""))])
    expect(everything).not.toContain(one);
  // Six digits may stand in a longer figure by chance; as a word of their own they may not.
  for (const one of [code, wrong]) expect(everything).not.toMatch(new RegExp(`(?<![\\w-])${one}(?![\\w-])`));
});
