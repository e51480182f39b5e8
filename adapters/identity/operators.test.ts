// The embedded provider's people: right, wrong and unknown look alike from outside, and guessing is slow.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handClock, type IdentityFixture, openIdentityFixture, putOperator } from "../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import type { People } from "./embedded/options.ts";
import { createOperators } from "./operators.ts";
import { createPasswordHashing, type PasswordHashing } from "./password-hashing.ts";
import { createWrongPasswords } from "./wrong-passwords.ts";

const password = "correct horse battery staple";
const remoteAddress = "192.0.2.7";

let database: TestDatabase;
let fixture: IdentityFixture;
let operators: People;
const verified: string[] = [];

beforeAll(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
  const real = createPasswordHashing(systemTimers());
  const hashing: PasswordHashing = {
    hash: real.hash,
    verify(hash, shown) {
      verified.push(hash);
      return real.verify(hash, shown);
    },
  };
  operators = createOperators({
    store: fixture.store,
    clock: fixture.clock,
    timers: systemTimers(),
    random: systemRandom(),
    hashing,
    sealing: fixture.sealing,
  });
  await putOperator(fixture, { name: "ada", passwordHash: await real.hash(password), roles: ["operator", "admin"] });
});

afterAll(async () => {
  await fixture.close();
  await database.drop();
});

const refusals = async () =>
  (await fixture.events()).filter(({ subject }) => subject === "svc.v1.identity.session.refused");

describe("operators", () => {
  it("knows the right password and tells what the person may do", async () => {
    const answer = await operators.authenticate("ada", password, remoteAddress);
    expect(answer).toEqual({ ok: true, name: "ada", roles: ["operator", "admin"] });
    expect(await operators.find("ada")).toEqual({ name: "ada", roles: ["operator", "admin"] });
    expect(await operators.find("eve")).toBeUndefined();
    expect(await operators.find("\u0000")).toBeUndefined();
  });

  it("1: verifies a hash of equal cost for a name that nobody has", async () => {
    const before = await refusals();
    const costs = [];
    for (const name of ["ada", "nobody", "ada ", "\u0000", "x".repeat(5_000)]) {
      verified.length = 0;
      const answer = await operators.authenticate(name, "wrong", remoteAddress);
      expect(answer).toEqual({ ok: false, code: "UNAUTHENTICATED" });
      expect(verified).toHaveLength(1);
      costs.push(verified[0]?.split("$").slice(0, 4).join("$"));
    }
    expect(new Set(costs)).toEqual(new Set(["$argon2id$v=19$m=19456,t=2,p=1"]));
    const reported = (await refusals()).slice(before.length).map(({ payload }) => payload);
    const [known, ...unknown] = reported.map(({ principal }) => principal);
    expect(known).toBe("operator:ada");
    expect(new Set(unknown).size, "a pseudonym for each").toBe(4);
    for (const principal of unknown) expect(principal).toMatch(/^operator:unknown-[0-9a-f]{12}$/);
    expect(reported[0]).toMatchObject({ method: "password", code: "UNAUTHENTICATED", remote_address: remoteAddress });
  });

  it("refuses empty and endless passwords, and addresses that records cannot carry do no harm", async () => {
    for (const wrong of ["", "x".repeat(1_025), `${password}\u0000`, password.toUpperCase()]) {
      const answer = await operators.authenticate("ada", wrong, "a\nb");
      expect(answer).toEqual({ ok: false, code: "UNAUTHENTICATED" });
    }
    expect((await refusals()).at(-1)?.payload["remote_address"]).toBe("a?b");
  });

  it("2: refuses after ten wrong ones in a minute, that name from that address only", async () => {
    const from = "198.51.100.1";
    const before = (await refusals()).length;
    const many = await Promise.all(Array.from({ length: 15 }, () => operators.authenticate("ada", "wrong", from)));
    expect(many.filter((one) => !one.ok && one.code === "UNAUTHENTICATED")).toHaveLength(10);
    expect(await operators.authenticate("ada", password, from)).toEqual({
      ok: false,
      code: "RESOURCE_EXHAUSTED",
      retryAfterS: 60,
    });
    expect(await operators.authenticate("ada", password, remoteAddress)).toMatchObject({ ok: true });
    expect((await refusals()).length - before).toBe(10);
    fixture.clock.pass(59_999);
    expect(await operators.authenticate("ada", password, from)).toMatchObject({ retryAfterS: 1 });
    fixture.clock.pass(1);
    expect(await operators.authenticate("ada", password, from)).toMatchObject({ ok: true });
  });

  it("3: records twenty a minute of names that nobody has, then how many more, and every one of a real person", async () => {
    fixture.clock.pass(60_000);
    const before = (await refusals()).length;
    for (let count = 0; count < 30; count += 1) {
      const answer = await operators.authenticate(`invented-${count}`, "wrong", `203.0.113.${count}`);
      expect(answer).toEqual({ ok: false, code: "UNAUTHENTICATED" });
    }
    for (let count = 0; count < 5; count += 1) await operators.authenticate("ada", "wrong", `198.51.100.${count}`);
    const reported = (await refusals()).slice(before).map(({ payload }) => payload);
    expect(reported.filter(({ principal }) => String(principal).startsWith("operator:unknown-"))).toHaveLength(20);
    expect(reported.filter(({ principal }) => principal === "operator:ada")).toHaveLength(5);
    fixture.clock.pass(60_000);
    await operators.authenticate("invented-again", "wrong", remoteAddress);
    expect((await refusals()).at(-1)?.payload).toMatchObject({ reason: expect.stringMatching(/^10 more /) });
    // Counted once.
    await operators.authenticate("invented-once-more", "wrong", remoteAddress);
    expect((await refusals()).at(-1)?.payload).not.toHaveProperty("reason");
  });

  it("4: writes the same pseudonym for the same name, and the name nowhere", async () => {
    fixture.clock.pass(60_000);
    for (let count = 0; count < 2; count += 1)
      await operators.authenticate("hunter2-typed-as-a-name", "x", remoteAddress);
    const [first, second] = (await refusals()).slice(-2).map(({ payload }) => payload["principal"]);
    expect(first).toBe(`operator:unknown-${fixture.sealing.pseudonym("hunter2-typed-as-a-name")}`);
    expect(second).toBe(first);
    expect(await fixture.dump()).not.toContain("hunter2");
  });

  it("keeps no password in clear", async () => {
    const everything = await fixture.dump();
    expect(everything).toContain("$argon2id$");
    expect(everything).not.toContain(password);
  });
});

describe("limits", () => {
  it("runs a few hashes at a time and refuses who would wait too long", async () => {
    const hashing = createPasswordHashing(systemTimers(), {
      runningMax: 1,
      waitingMax: 2,
      waitingPerAddressMax: 2,
      restMs: 0,
    });
    const ends = await Promise.allSettled(Array.from({ length: 5 }, () => hashing.hash(password)));
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"]);
    expect(ends[4]).toMatchObject({ reason: { code: "RESOURCE_EXHAUSTED" } });
    await expect(hashing.hash(password), "the places are free again").resolves.toMatch(/^\$argon2id/);
  });

  it("keeps the place of a try from outside for a while after its answer, so that a flood leaves time to others", async () => {
    const rests: (() => void)[] = [];
    const after = (_ms: number, then: () => void) => {
      rests.push(then);
      return () => undefined;
    };
    const hashing = createPasswordHashing(
      { after },
      { runningMax: 1, waitingMax: 8, waitingPerAddressMax: 8, restMs: 90 },
    );
    const right = await hashing.hash(password);
    expect(await hashing.verify(right, password, "x")).toBe(true);
    let isAnswered = false;
    const second = hashing.verify(right, password, "x").finally(() => {
      isAnswered = true;
    });
    // Two checks with a place of their own, which begin later: the second one would have ended before them.
    const other = createPasswordHashing(systemTimers(), {
      runningMax: 1,
      waitingMax: 8,
      waitingPerAddressMax: 8,
      restMs: 0,
    });
    for (let count = 0; count < 2; count += 1) expect(await other.verify(right, password, `y${count}`)).toBe(true);
    expect(isAnswered).toBe(false);
    rests.shift()?.();
    expect(await second).toBe(true);
  });

  it("remembers a bounded number of names, the newest", () => {
    const clock = handClock();
    const wrong = createWrongPasswords(clock, { triesMax: 1, windowMs: 1_000, entriesMax: 3 });
    for (const name of ["a", "b", "c", "d"]) expect(wrong.begin(name, "x")).toBeUndefined();
    expect(wrong.begin("d", "x")).toBe(1);
    expect(wrong.begin("a", "x"), "made room for d").toBeUndefined();
    expect(wrong.begin("a", "x")).toBe(1);
    wrong.forget("a", "x");
    expect(wrong.begin("a", "x")).toBeUndefined();
    clock.pass(1_000);
    expect(wrong.begin("d", "x")).toBeUndefined();
  });
});
