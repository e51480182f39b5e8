// What may be followed and by whom, and which events concern a fund.
import { describe, expect, it } from "vitest";
import { concernsFund, followedSubjects, followedSubjectsMax } from "./followed-events.ts";
import { matchesAny, subjects } from "./subjects.ts";

const session = subjects.sessionOpened.name;

describe("what is followed", () => {
  it("is everything but people's sessions, unless an admin asks", () => {
    expect(matchesAny(followedSubjects([], false), subjects.haltRequested.name)).toBe(true);
    expect(matchesAny(followedSubjects([], false), subjects.serviceStarted.name)).toBe(true);
    expect(matchesAny(followedSubjects([], false), session)).toBe(false);
    expect(matchesAny(followedSubjects(["svc.v1.*.session.opened"], false), session)).toBe(false);
    expect(matchesAny(followedSubjects([], true), session)).toBe(true);
  });

  it.each(["svc.v1.identity.>", "svc.v1.identity.session.opened", "svc.v1.identity.*.*"])(
    "refuses %s by name",
    (pattern) => {
      expect(() => followedSubjects([pattern], false)).toThrow(/admins only/);
      expect(followedSubjects([pattern], true)).toEqual([pattern]);
    },
  );

  it.each(["", "svc..v1", "svc.>.v1", "svc v1"])("refuses %j, which is no pattern", (pattern) => {
    expect(() => followedSubjects([pattern], true)).toThrow(/not a subject pattern/);
  });

  it("has a bound", () => {
    const many = Array.from({ length: followedSubjectsMax + 1 }, (_, n) => `svc.v1.a.b${n}`);
    expect(() => followedSubjects(many, true)).toThrow(/At most 32/);
    expect(followedSubjects(many.slice(1), true)).toHaveLength(followedSubjectsMax);
  });
});

it.each([
  [{ fund_id: "alpha" }, true],
  [{ fund_id: "beta" }, false],
  [{ fund_id: "" }, true],
  [{ order: { fund_id: "beta" } }, false],
  [{ order: { fund_id: "alpha" } }, true],
  [{ data: { fund_id: "beta" } }, false],
  [{ code: "EVENT_REFUSED", facts: { fund_id: "beta" } }, false],
  [{ symbol: "AAPL" }, true],
  [undefined, true],
])("%j concerns alpha: %s", (payload, concerns) => {
  expect(concernsFund(subjects.decisionMade.name, payload, "alpha")).toBe(concerns);
});

it("leaves out gates, which name no fund", () => {
  expect(concernsFund(subjects.gatePassed.name, { order_id: "o" }, "alpha")).toBe(false);
});
