// The routes of funds, instruments and reference data.
import { describe, expect, it } from "vitest";
import type { Route } from "../../../ports/http.ts";
import type { Identity } from "../../../ports/identity.ts";
import { ask, type Behaviour, duty, forwardedRoute, machine, testParts } from "../../../testkit/gateway/parts.ts";
import { fundsList, referenceData, referenceDataSet } from "./treasury.ts";

const instrumentsList = forwardedRoute("listInstruments");

type Parts = ReturnType<typeof testParts>["parts"];

function fixture(make: (parts: Parts) => Route, behaviour: Behaviour = {}) {
  const { parts, calls } = testParts(behaviour);
  return { route: make(parts), calls };
}

const at = "2026-11-15T13:30:00.000000Z";
const alpha = { fund_id: "alpha", name: "Alpha", mode: "PAPER", currency: "USD", halted: true, severity: "FUND_HALT" };

describe("lists", () => {
  it("tells the funds, and no value of one that was never valued", async () => {
    const funds = [
      { ...alpha, nav: "10000000", nav_at: at, day_pnl: undefined, gross_exposure_pct: 0.8 },
      { ...alpha, fund_id: "beta", nav: "0", nav_at: "1970-01-01T00:00:00.000000Z" },
      { ...alpha, fund_id: "gamma", nav: "", nav_at: "" },
    ];
    const { route } = fixture(fundsList, { procedures: { "Treasury/ListFunds": { funds } } });
    expect((await ask(route)).body).toEqual([
      { ...alpha, nav: "10000000", nav_at: at, gross_exposure_pct: 0.8 },
      { ...alpha, fund_id: "beta" },
      { ...alpha, fund_id: "gamma" },
    ]);
  });

  it("tells the instruments", async () => {
    const instrument = {
      symbol: "AAPL",
      name: "Apple",
      asset_class: "EQUITY",
      currency: "USD",
      tick_size: "0.01",
      lot_size: "1",
      multiplier: "1",
      sector: "TECH",
      calendar: "always",
    };
    const answer = { instruments: [{ ...instrument, strike: undefined }] };
    const { route } = fixture(instrumentsList, { procedures: { "Treasury/ListInstruments": answer } });
    expect((await ask(route)).body).toEqual([instrument]);
  });
});

describe("reference data", () => {
  const restricted = [{ symbol: "XOM", reason: "earnings" }];
  const document = { kind: "restricted", version: 2, reason: "Q3", set_by: "operator:duty", set_at: at, hash: "ab" };
  const stored = { ...document, content_json: JSON.stringify(restricted) };
  const params = { kind: "restricted" };

  it("tells a kind with its content opened", async () => {
    const { route, calls } = fixture(referenceData, { procedures: { "Treasury/GetReferenceData": stored } });
    expect(await ask(route, { params })).toEqual({
      status: 200,
      body: { ...document, content: restricted },
      headers: { etag: '"2"' },
    });
    expect(calls[0]?.[1]).toEqual({ kind: "restricted" });
    expect(await ask(route, { params: { kind: "gossip" } })).toMatchObject({ status: 400 });
  });

  describe("with what cannot be seen", () => {
    const before = { ...stored, content_json: JSON.stringify([{ symbol: "XOM", reason: "old\u200b" }]) };
    const procedures = { "Treasury/GetReferenceData": before, "Treasury/SetReferenceData": stored };
    const content = [
      { symbol: "XOM", reason: "old\u200b" },
      { symbol: "CVX", reason: "new\u202e" },
    ];
    const sentBy = async (identity: Identity, more: object = {}) => {
      const { route, calls } = fixture(referenceDataSet, { procedures });
      await ask(route, { params, body: { version: 2, content, reason: "Q3", ...more }, identity });
      const message = calls.find(([name]) => String(name).endsWith("SetReferenceData"))?.[1] as {
        content_json: string;
      };
      return JSON.parse(message.content_json) as readonly { reason: string }[];
    };

    it("marks what a person sends new, and leaves what was there", async () => {
      expect((await sentBy(duty)).map(({ reason }) => reason)).toEqual(["old\u200b", "new⟨U+202E⟩"]);
    });

    it("refuses it of a person whose change loosens", async () => {
      await expect(sentBy(duty, { step_up_proof: "p" })).rejects.toThrow(
        "body.content[1].reason: expected text in which every character can be seen: U+202E is its character 4.",
      );
    });

    it("leaves what a machine sends", async () => {
      expect((await sentBy(machine)).map(({ reason }) => reason)).toEqual(["old\u200b", "new\u202e"]);
    });
  });

  it("replaces a kind, its content closed again", async () => {
    const { route, calls } = fixture(referenceDataSet, { procedures: { "Treasury/SetReferenceData": stored } });
    const body = { version: 2, content: restricted, reason: "Q3" };
    expect(await ask(route, { params, body })).toEqual({
      status: 200,
      body: { ...document, content: restricted },
      headers: { etag: '"2"' },
    });
    const content_json = JSON.stringify(restricted);
    expect(calls[0]?.[1]).toEqual({ kind: "restricted", version: 2, content_json, reason: "Q3" });
  });

  it("refuses content that is no list of records", async () => {
    const { route, calls } = fixture(referenceDataSet);
    for (const content of [{}, "x", [1]]) {
      expect(await ask(route, { params, body: { version: 2, content } })).toMatchObject({ status: 400 });
    }
    expect(calls).toEqual([]);
  });

  it("tells a conflict as one", async () => {
    const { route } = fixture(referenceDataSet, {
      denial: { code: "REFERENCE_VERSION_CONFLICT", reason: "It is at 5." },
    });
    const answer = await ask(route, { params, body: { version: 2, content: [] } });
    expect(answer).toEqual({ status: 409, body: { code: "REFERENCE_VERSION_CONFLICT", detail: "It is at 5." } });
  });
});
