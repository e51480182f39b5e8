// The feed in virtual time against a store that answers, fails or hangs as it is told; then its reader on a real database.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import { noMetrics } from "../../../testkit/no-telemetry.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { feedOnDatabase, fixtureKey, pushedClock } from "../../../testkit/verifier-fixtures.ts";
import { scheduler } from "../../../testkit/virtual/scheduler.ts";
import { createIdentityFeed } from "./identity-feed.ts";
import { createSnapshotReader, type IdentitySnapshot, snapshotLimits } from "./identity-snapshot.ts";

const empty: Omit<IdentitySnapshot, "epoch" | "readAt"> = {
  issuer: undefined,
  keys: new Map(),
  revokedTokens: new Set(),
  revokedSessions: new Set(),
  revokedSubjects: new Map(),
  serviceTokens: new Map(),
};

const seed = 7;

/** A feed whose store takes 20 ms, counts how often it is asked, and is gone or overflows when it is told to. */
function simulated() {
  const time = scheduler({ seed });
  const state = { epoch: 0, reads: 0, isGone: false, tookMs: 20, complaint: undefined as string | undefined };
  const feed = createIdentityFeed({
    ...time,
    log: quietLog,
    metrics: noMetrics,
    read: async () => {
      state.reads += 1;
      const { epoch, complaint } = state;
      await time.timers.sleep(state.tookMs);
      if (state.isGone) throw new Fault("STORE_UNAVAILABLE", "planned", { retry: "later" });
      return {
        ...empty,
        epoch: `${epoch}`,
        readAt: time.clock.now(),
        ...(complaint === undefined ? {} : { complaint }),
      };
    },
  });
  const end = () => time.finish("the close", feed.close());
  return { time, state, feed, end };
}

const codeOf = (run: () => unknown): string => {
  try {
    run();
    return "none";
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.code : String(thrown);
  }
};

describe(`identity feed (seed ${seed})`, () => {
  it("1: knows a change a second later, and at once where it was made", async () => {
    const { time, state, feed, end } = simulated();
    expect([codeOf(() => feed.current()), feed.health().status]).toEqual(["IDENTITY_UNAVAILABLE", "starting"]);
    await time.run({ untilMs: 1_100 });
    expect([feed.current().epoch, feed.health()]).toEqual(["0", { status: "ok" }]);
    state.epoch = 1;
    await time.run({ untilMs: 2_200 });
    expect(feed.current().epoch).toBe("1");
    state.epoch = 2;
    await time.finish("the refresh", feed.refresh());
    expect(feed.current().epoch).toBe("2");
    await end();
  });

  it("1: a refresh begins after it was asked for, also while another read is under way", async () => {
    const { time, state, feed, end } = simulated();
    const first = feed.refresh();
    await time.run({ untilMs: 5 });
    state.epoch = 9;
    const after = [feed.refresh(), feed.refresh(), feed.refresh()];
    await time.finish("the first", first);
    expect(feed.current().epoch).toBe("0");
    await time.finish("the others", Promise.all(after));
    expect([feed.current().epoch, state.reads]).toEqual(["9", 2]);
    await end();
  });

  it("2: is worth nothing ten seconds after the store last answered, and all again when it does", async () => {
    const { time, state, feed, end } = simulated();
    await time.run({ untilMs: 1_100 });
    state.isGone = true;
    // The last read that was answered began at 1,000 ms.
    await time.run({ untilMs: 10_999 });
    expect(codeOf(() => feed.current())).toBe("none");
    await time.run({ untilMs: 11_001 });
    expect([codeOf(() => feed.current()), feed.health().status]).toEqual(["IDENTITY_UNAVAILABLE", "failing"]);
    state.isGone = false;
    await time.run({ untilMs: 12_500 });
    expect(feed.health()).toEqual({ status: "ok" });
    await end();
  });

  it("2: believes nobody when there is more than it can hold", async () => {
    const { time, state, feed, end } = simulated();
    state.complaint = "there is too much: remove some";
    await time.run({ untilMs: 1_100 });
    expect(codeOf(() => feed.current())).toBe("IDENTITY_UNAVAILABLE");
    expect(feed.health()).toEqual({ status: "failing", complaint: state.complaint });
    await end();
  });

  it("3: a flood of unknown tokens asks the store five times a second, and each caller sees a fresh answer", async () => {
    const { time, state, feed, end } = simulated();
    await time.run({ untilMs: 1_100 });
    const readsBefore = state.reads;
    let waitedMsMax = 0;
    let answered = 0;
    const callers: Promise<void>[] = [];
    for (let n = 0; n < 3_000; n += 1) {
      await time.run({ untilMs: 1_100 + n });
      const [askedAt, epoch] = [time.elapsedMs(), n];
      state.epoch = epoch;
      callers.push(
        feed.refreshOnDemand().then(() => {
          answered += 1;
          waitedMsMax = Math.max(waitedMsMax, time.elapsedMs() - askedAt);
          expect(Number(feed.current().epoch)).toBeGreaterThanOrEqual(epoch);
        }),
      );
    }
    await time.finish("every caller", Promise.all(callers));
    expect(answered).toBe(3_000);
    expect(waitedMsMax).toBeLessThan(300);
    // Three seconds: five on demand and one of the poll in each, and one at either end.
    expect(state.reads - readsBefore).toBeLessThanOrEqual(20);
    expect(state.reads - readsBefore).toBeGreaterThanOrEqual(15);
    await end();
  });

  it("2: whoever comes when what is known is old waits for one look, and not long for a store that is silent", async () => {
    const { time, state, feed, end } = simulated();
    await time.run({ untilMs: 1_100 });
    // The process stood still: the clock went on, and nothing was asked.
    time.stepClock(60_000);
    expect(codeOf(() => feed.current())).toBe("IDENTITY_UNAVAILABLE");
    await time.finish("a look", feed.refreshWithin(500));
    expect(codeOf(() => feed.current())).toBe("none");
    time.stepClock(60_000);
    state.tookMs = 30_000;
    const askedAt = time.elapsedMs();
    await time.finish("a look that is not answered", feed.refreshWithin(500));
    expect(time.elapsedMs() - askedAt).toBe(500);
    expect(codeOf(() => feed.current())).toBe("IDENTITY_UNAVAILABLE");
    await end();
  });

  it("ends: nothing is asked after close", async () => {
    const { time, state, feed, end } = simulated();
    await time.run({ untilMs: 1_005 });
    await end();
    const { reads } = state;
    await time.run({ untilMs: 60_000 });
    expect([state.reads, time.pending()]).toEqual([reads, 0]);
    expect(feed).toBeDefined();
  });
});

describe("identity snapshot on PostgreSQL", () => {
  const clock = pushedClock();
  let fixture: Awaited<ReturnType<typeof feedOnDatabase>>;
  beforeAll(async () => {
    fixture = await feedOnDatabase(clock);
  });
  afterAll(() => fixture.close());
  const reader = (limits = snapshotLimits) => createSnapshotReader({ ...fixture.common, store: fixture.store, limits });
  const revoke = (kind: string, id: string, untilMs: number) =>
    fixture.owner.query(
      "insert into identity_revocation (kind, id, revoked_us, until_us, actor) values ($1, $2, 1, $3, 'test')",
      [kind, id, clock.now() + untilMs * 1_000],
    );

  it("is the same object while nothing changed, and another one after a change or a minute", async () => {
    const read = reader();
    const first = await read(undefined);
    expect(await read(first)).toBe(first);
    await revoke("token", "t1", 3_600_000);
    const second = await read(first);
    expect(second.revokedTokens.has("t1")).toBe(true);
    expect(second.epoch).not.toBe(first.epoch);
    clock.push(61_000);
    const third = await read(second);
    expect([third === second, third.epoch]).toEqual([false, second.epoch]);
  });

  it("leaves out what ran out, and keys that are none of ours", async () => {
    await revoke("session", "over", -120_000);
    await revoke("session", "in force", 120_000);
    const good = await fixtureKey("ES256");
    const rows = [
      [good.kid, good.publicJwk],
      ["other-curve", (await fixtureKey("ES384")).publicJwk],
      ["other-type", (await fixtureKey("EdDSA")).publicJwk],
      ["symmetric", { kty: "oct", k: "c2VjcmV0" }],
      ["off-the-curve", { ...good.publicJwk, x: good.publicJwk.y, y: good.publicJwk.x }],
    ] as const;
    for (const [kid, jwk] of rows) {
      await fixture.owner.query("insert into identity_key (kid, public_jwk, created_us) values ($1, $2, 1)", [
        kid,
        jwk,
      ]);
    }
    const snapshot = await reader()(undefined);
    expect([...snapshot.revokedSessions]).toEqual(["in force"]);
    expect([...snapshot.keys.keys()]).toEqual([good.kid]);
  });

  it("complains when there is more than its limits", async () => {
    const few = { ...snapshotLimits, revocationsMax: 1 };
    expect((await reader(few)(undefined)).complaint).toContain("more than 1 revocations");
    const insert = `insert into service_token (id, name, secret_hash, operations, created_by, created_us, expires_us)
                    select 'id' || n, 'n', 'hash' || n, '{}', 'test', 1, $1 from generate_series(1, 3) n`;
    await fixture.owner.query(insert, [clock.now() + 1_000_000]);
    expect((await reader({ ...snapshotLimits, serviceTokensMax: 3 })(undefined)).complaint).toBeUndefined();
    expect((await reader({ ...snapshotLimits, serviceTokensMax: 2 })(undefined)).complaint).toContain("service tokens");
  });
});
