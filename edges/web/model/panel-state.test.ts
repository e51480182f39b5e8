// The one state of a panel: old never looks new, loading never looks empty, and a refusal says so.
import { describe, expect, test } from "vitest";
import { failureOf, oldMs, type PanelFacts, panelState, type ReadFacts, whyStale } from "./panel-state.ts";

const fresh: ReadFacts = {
  hasData: true,
  updatedAtMs: 100_000,
  everyMs: 2_000,
  goodSinceMs: 0,
  complaint: undefined,
  failure: undefined,
};
const facts: PanelFacts = {
  reads: [fresh],
  link: "live",
  liveSinceMs: 90_000,
  nowMs: 101_000,
  isEmpty: false,
  isPartial: false,
};
const failure = { status: 503, code: "SERVICE_UNAVAILABLE", detail: "away", requestId: "r-1" };

describe("a panel's state", () => {
  test("ready, empty and partial are of now", () => {
    expect(panelState(facts)).toBe("ready");
    expect(panelState({ ...facts, isEmpty: true })).toBe("empty");
    expect(panelState({ ...facts, isPartial: true })).toBe("partial");
  });

  test("without an answer it is loading, or an error, never empty", () => {
    const unread = { ...fresh, hasData: false, updatedAtMs: 0 };
    expect(panelState({ ...facts, isEmpty: true, reads: [unread] })).toBe("loading");
    expect(panelState({ ...facts, isEmpty: true, reads: [fresh, unread] })).toBe("loading");
    expect(panelState({ ...facts, isEmpty: true, reads: [{ ...unread, failure }] })).toBe("error");
    expect(panelState({ ...facts, reads: [{ ...unread, failure: { ...failure, status: 403 } }] })).toBe("forbidden");
  });

  test("what may be old is stale, for any of six reasons", () => {
    expect(panelState({ ...facts, liveSinceMs: fresh.updatedAtMs + 1 })).toBe("stale");
    for (const link of ["stale", "reconnecting", "offline", "expired"] as const) {
      expect(panelState({ ...facts, link })).toBe("stale");
      expect(panelState({ ...facts, link, isEmpty: true })).toBe("stale");
    }
    expect(panelState({ ...facts, reads: [{ ...fresh, failure }] })).toBe("stale");
    expect(panelState({ ...facts, reads: [{ ...fresh, goodSinceMs: fresh.updatedAtMs + 1 }] })).toBe("stale");
    expect(panelState({ ...facts, reads: [{ ...fresh, goodSinceMs: fresh.updatedAtMs }] })).toBe("ready");
    const edge = fresh.updatedAtMs + oldMs(fresh.everyMs);
    expect(panelState({ ...facts, nowMs: edge })).toBe("ready");
    expect(panelState({ ...facts, nowMs: edge + 1 })).toBe("stale");
  });

  test("why it is stale names the process that is silent, else what the server said", () => {
    expect(whyStale([fresh])).toBeUndefined();
    expect(whyStale([fresh, { ...fresh, failure }])).toBe("SERVICE_UNAVAILABLE: away");
    expect(whyStale([{ ...fresh, failure, complaint: "oms: it cannot be reached" }])).toBe("oms: it cannot be reached");
  });

  test("a failure keeps the server's code and request id", () => {
    const thrown = Object.assign(new Error("No."), {
      name: "ApiError",
      status: 403,
      code: "X",
      problem: { request_id: "q" },
    });
    expect(failureOf(thrown)).toEqual({ status: 403, code: "X", detail: "No.", requestId: "q" });
    expect(failureOf(undefined)).toBeUndefined();
    expect(failureOf(Object.assign(new Error("gone"), { name: "UnreachableError" }))?.code).toBe("UNREACHABLE");
  });
});
