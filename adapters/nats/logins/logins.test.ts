// Whose an event from NATS is: that of the login below whose prefix it came, or of the token that names the login, whatever it says of itself.
import { headers } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { isReservedSource, loginOfSource, ofLogin, sourceOfLogin } from "../../../contracts/src/foreign-events.ts";
import { fromMicroseconds, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import { testLookup } from "../../../testkit/nats-fixture.ts";
import { exampleFill, exampleMark } from "../../../testkit/record-examples.ts";
import { belowLogins } from "../filter.ts";
import { conflatedName, type Decoded, decode, ownName } from "../wire.ts";
import { createLogins } from "./logins.ts";

const at = fromMicroseconds(1_000_000);
const fills = subjects.fillsCreated.name;
const marks = subjects.marketMarks.name;

/** As it arrives under a name, with whatever headers. */
function arrived(name: string, payload: unknown, said: Readonly<Record<string, string>> = {}): Decoded {
  const made = headers();
  for (const [header, value] of Object.entries(said)) made.set(header, value);
  const data = new TextEncoder().encode(JSON.stringify(payload));
  return decode({ subject: name, data, headers: made, fallbackId: () => "nats:1", receivedAt: () => at }, testLookup);
}

function eventOf(decoded: Decoded): BusEvent {
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.event;
}

/** Pairings that a test changes, and a clock that it moves. */
function fixture(paired: Readonly<Record<string, string>> = {}) {
  const state = { paired, now: at, asked: 0, away: false, revokedAt: undefined as Instant | undefined };
  const logins = createLogins({
    clock: { now: () => state.now },
    read: async () => {
      state.asked += 1;
      if (state.away) throw new Error("the database is away");
      const end = state.revokedAt === undefined ? {} : { revokedAt: state.revokedAt };
      return new Map(Object.entries(state.paired).map(([login, source]) => [login, { source, ...end }]));
    },
  });
  return { state, logins };
}

describe("the name under which it came", () => {
  test("is the login's for what programs outside may publish, and nobody's for anything else", () => {
    expect(ofLogin(`foreign.desk-1.${fills}`)).toEqual({ login: "desk-1", subject: fills });
    for (const name of [
      fills,
      `foreign.${fills}`,
      `foreign.a b.${fills}`,
      `foreign.desk.${subjects.haltRequested.name}`,
    ])
      expect(ofLogin(name), name).toBeUndefined();
    const halt = arrived(`foreign.desk.${subjects.haltRequested.name}`, {});
    expect(halt).toMatchObject({ ok: false, kind: "unknown subject" });
    expect(belowLogins([fills, subjects.haltRequested.name])).toEqual([`foreign.*.${fills}`]);
  });

  test("says whose it is: no header counts, and the id is the login's own", () => {
    const said = {
      "Nats-Msg-Id": "e-1",
      "Portcullis-Source": "oms",
      "Portcullis-Position": "7",
      "Portcullis-Key": "k",
      "Portcullis-At": "1",
    };
    expect(eventOf(arrived(`foreign.desk.${fills}`, exampleFill, said))).toMatchObject({
      id: "desk:e-1",
      subject: fills,
      source: "foreign",
      login: "desk",
      at,
      key: exampleFill.order_id,
      claimed: { source: "oms" },
    });
    const long = { "Nats-Msg-Id": "x".repeat(199) };
    expect(eventOf(arrived(`foreign.desk.${fills}`, exampleFill, long)).id).toBe("nats:1");
    // On today's subjects a header cannot say what only a prefix says.
    const forged = arrived(fills, exampleFill, { "Portcullis-Source": "foreign.desk" });
    expect(eventOf(forged)).toMatchObject({ source: "foreign" });
    expect(eventOf(forged)).not.toHaveProperty("login");
  });

  test("no token is called like a login, and today's three are called as they were", () => {
    expect(["foreign-oms", "desk"].map(sourceOfLogin)).toEqual(["foreign-oms", "foreign.desk"]);
    expect(["foreign-oms", "foreign.desk", "desk", "foreign.a.b"].map(loginOfSource)).toEqual([
      "foreign-oms",
      "desk",
      undefined,
      undefined,
    ]);
    for (const name of ["paper", "foreign", "foreign.x", "foreign-prices"]) expect(isReservedSource(name)).toBe(true);
    expect(isReservedSource("foreign-desk")).toBe(false);
  });
});

describe("for whom a login speaks", () => {
  const today = eventOf(arrived(fills, exampleFill, { "Nats-Msg-Id": "e-1" }));
  const below = eventOf(arrived(`foreign.desk.${fills}`, exampleFill, { "Nats-Msg-Id": "e-1" }));

  test("nobody but itself below its prefix, and as before without one, until the first is named", async () => {
    const { state, logins } = fixture();
    expect(await logins.spoken(today)).toEqual(today);
    expect(await logins.spoken(below)).toMatchObject({ source: "foreign.desk", login: "desk" });
    expect(logins.note()).toMatch(/named by no token: desk, foreign-oms; what they say is believed .* as before/);
    state.paired = { desk: "house" };
    expect(await logins.spoken(below)).toMatchObject({ source: "foreign.desk" });
    state.now = plusMilliseconds(state.now, 1_000);
    expect(await logins.spoken(below)).toMatchObject({ source: "house", login: "desk" });
    expect(await logins.spoken(today)).toMatchObject({ source: "foreign-oms", login: "foreign-oms" });
    expect(logins.note()).toMatch(/named by no token: foreign-oms; they speak for themselves alone/);
    expect(state.asked).toBe(2);
  });

  test("the token that names one of today's three; what is proved ours is left alone", async () => {
    const { logins } = fixture({ "foreign-oms": "house" });
    expect(await logins.spoken(today)).toMatchObject({ source: "house", login: "foreign-oms" });
    const ours = { ...today, source: "oms" };
    expect(await logins.spoken(ours)).toBe(ours);
    expect(logins.note()).toBeUndefined();
  });

  test("a token that was revoked: what came before is its own, what comes since is marked, and no price is heard", async () => {
    const { state, logins } = fixture({ desk: "house" });
    state.revokedAt = plusMilliseconds(at, 1);
    expect(await logins.spoken(below)).toEqual({ ...below, source: "house" });
    expect(logins.note()).toBeUndefined();
    const later = { ...below, at: state.revokedAt };
    expect(await logins.spoken(later)).toEqual({ ...later, source: "house", isRevoked: true });
    expect(logins.note()).toMatch(/token that each speaks for is revoked: desk; nothing of it counts/);
    const name = conflatedName(`foreign.desk.${marks}`);
    const price = eventOf(arrived(name, exampleMark));
    expect(logins.heard(price, name)).toBeDefined();
    state.now = plusMilliseconds(state.revokedAt, 1);
    // However it is dated.
    expect(logins.heard(price, name)).toBeUndefined();
  });

  test("nobody while it cannot be read: the event waits, and a price does not count", async () => {
    const { state, logins } = fixture();
    state.away = true;
    await expect(logins.spoken(today)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    const name = `foreign.desk.${marks}`;
    expect(logins.heard(eventOf(arrived(conflatedName(name), exampleMark)), conflatedName(name))).toBeUndefined();
  });
});

describe("whose a price is", () => {
  const ours = { "Portcullis-Source": "operations" };
  const priced = async (paired: Readonly<Record<string, string>>, name: string, source: string, said = {}) => {
    const { logins } = fixture(paired);
    await logins.refresh();
    const heard = logins.heard(eventOf(arrived(name, { ...exampleMark, source }, said)), name);
    return (heard?.payload as { source: string } | undefined)?.source;
  };
  const feed = conflatedName(`foreign.feed.${marks}`);
  const shared = conflatedName(marks);

  test.each([
    ["its login's, whatever it says", {}, feed, "paper", {}, "foreign.feed"],
    ["its token's, whatever it says", { feed: "house" }, feed, "paper", ours, "house"],
    ["as before under the old name", {}, shared, "their-feed", {}, "their-feed"],
    ["the old login's under the old name, once one is named", { desk: "house" }, shared, "paper", {}, "foreign-prices"],
    ["that of the token which names it", { "foreign-prices": "house" }, shared, "paper", {}, "house"],
    ["ours under the old name, before", {}, shared, "paper", ours, "paper"],
    ["nobody's, once one is named: anybody there may say so", { desk: "house" }, shared, "paper", ours, undefined],
    ["ours where only we may publish", { desk: "house" }, ownName(marks), "paper", ours, "paper"],
  ])("%s", async (_what, paired, name, source, said, expected) => {
    expect(await priced(paired, name, source, said)).toBe(expected);
  });
});
