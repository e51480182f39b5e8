// The routes about limits, decisions, rejections, headroom and throttles: which procedure each asks with which message, what it tells, and what
// becomes of every kind of no.
import { describe, expect, it } from "vitest";
import type { Route } from "../../../ports/http.ts";
import { ask, type Behaviour, forwardedRoute, testParts } from "../../../testkit/gateway/parts.ts";
import { envelopeDiff, envelopeReplay, envelopeUpdate } from "./envelopes.ts";
import { decisions, rejectionsList, timelineList } from "./riskengine.ts";

const envelopeHistory = forwardedRoute("listEnvelopes");
const envelope = forwardedRoute("getEnvelope");
const headroom = forwardedRoute("getHeadroom");
const throttleRelease = forwardedRoute("releaseThrottle");

type Parts = ReturnType<typeof testParts>["parts"];

function fixture(make: (parts: Parts) => Route, behaviour: Behaviour = {}) {
  const { parts, calls } = testParts(behaviour);
  return { route: make(parts), calls };
}

const at = "2026-11-15T13:30:00.000000Z";
const params = { fund_id: "alpha" };

const limits = {
  max_position_pct: 0.07,
  daily_loss_halt_pct: 0.02,
  weekly_loss_halt_pct: 0.04,
  monthly_loss_halt_pct: 0.08,
  synthetic_stop_pct: 0.05,
  max_notional: 250_000,
  allowed_brokers: ["paper"],
  allowed_order_types: ["MARKET", "LIMIT"],
  allowed_asset_classes: ["EQUITY"],
  max_gross_exposure_pct: 1,
  max_net_exposure_pct: 0.5,
  sector_limits_pct: { TECH: 0.3 },
  shorting_enabled: true,
  max_borrow_fee_pct: 0.03,
  price_collar_pct: 0.05,
  order_rate_max_per_s: 50,
  halt_allow_reduce_only: true,
};
const reported = { fund_id: "alpha", version: 7, ...limits };
const stored = { ...reported, updated_by: "operator:duty", updated_at: at, reason: "calm", hash: "ab".repeat(32) };
/** As the codec makes it: what is absent is there and undefined. */
const message = { ...stored, strategy_loss_halt_pct: undefined, cro_veto_enabled: undefined };

describe("getEnvelope", () => {
  it("asks the engine with the caller's token, and tells the record", async () => {
    const { route, calls } = fixture(envelope, { procedures: { "RiskEngine/GetEnvelope": message } });
    expect(await ask(route, { params })).toEqual({ status: 200, body: stored, headers: { etag: '"7"' } });
    const options = { bearer: "the-callers-token", requestId: "r", timeoutMs: 10_000 };
    expect(calls).toEqual([["RiskEngine/GetEnvelope", { fund_id: "alpha" }, options]]);
  });

  it("refuses what is no fund's id", async () => {
    expect(await ask(fixture(envelope).route, { params: { fund_id: "a b" } })).toMatchObject({ status: 400 });
  });
});

describe("updateEnvelope", () => {
  const updated = { procedures: { "RiskEngine/UpdateEnvelope": message } };

  it("hands on the record, without what the engine writes itself", async () => {
    const { route, calls } = fixture(envelopeUpdate, updated);
    const body = { ...stored, version: 8, reason: "a calmer desk" };
    expect(await ask(route, { params, body })).toEqual({ status: 200, body: stored, headers: { etag: '"7"' } });
    expect(calls[0]?.[1]).toEqual({ ...reported, version: 8, reason: "a calmer desk" });
  });

  it("22.6: hands a proof on beside the record, never in it, and tells what a refused change loosens", async () => {
    const { route, calls } = fixture(envelopeUpdate, updated);
    await ask(route, { params, body: { ...reported, version: 8, step_up_proof: "psu_x" } });
    expect(calls[0]?.[1]).not.toHaveProperty("step_up_proof");
    expect(calls[0]?.[2]).toMatchObject({ stepUpProof: "psu_x" });
    const denial = { code: "STEP_UP_REQUIRED", reason: "Because.", loosens: ["max_notional"] } as const;
    const refused = await ask(fixture(envelopeUpdate, { denial }).route, { params, body: { ...reported, version: 8 } });
    expect(refused).toEqual({
      status: 403,
      body: { code: "STEP_UP_REQUIRED", detail: "Because.", loosens: ["max_notional"] },
    });
  });

  it("leaves ranges and missing limits to the engine, which names every mistake", async () => {
    const { route, calls } = fixture(envelopeUpdate, updated);
    const { max_position_pct: _, ...rest } = limits;
    await ask(route, { params, body: { ...rest, version: 8, daily_loss_halt_pct: 77 } });
    expect(calls[0]?.[1]).toMatchObject({ daily_loss_halt_pct: 77, fund_id: "alpha" });
  });

  it.each([
    ["no version", { version: undefined }],
    ["a version that is no count", { version: 1.5 }],
    ["a limit as text", { max_position_pct: "0.07" }],
    ["a rate that is no whole number", { order_rate_max_per_s: 1.5 }],
    ["a list that is missing, which would read as empty", { allowed_brokers: undefined }],
    ["sectors that are missing, which would read as no limit", { sector_limits_pct: undefined }],
    ["a limit that nobody knows", { max_positon_pct: 0.07 }],
  ])("refuses %s", async (_name, wrong) => {
    const { route, calls } = fixture(envelopeUpdate, updated);
    expect(await ask(route, { params, body: { ...reported, version: 8, ...wrong } })).toMatchObject({ status: 400 });
    expect(calls).toEqual([]);
  });

  it("refuses one fund's limits under another's path", async () => {
    const { route, calls } = fixture(envelopeUpdate, updated);
    const asked = ask(route, { params: { fund_id: "beta" }, body: { ...reported, version: 8 } });
    await expect(asked).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("beta") });
    expect(calls).toEqual([]);
  });

  it.each([
    ["LOOSENING_DURING_HALT", 409],
    ["ENVELOPE_VERSION_CONFLICT", 409],
    ["ENVELOPE_INVALID", 400],
  ] as const)("tells %s with its status", async (code, status) => {
    const { route } = fixture(envelopeUpdate, { denial: { code, reason: "Because." } });
    const answer = await ask(route, { params, body: { ...reported, version: 8 } });
    expect(answer).toEqual({ status, body: { code, detail: "Because." } });
  });
});

describe("history, diff and replay", () => {
  it("lists versions as an array", async () => {
    const { route, calls } = fixture(envelopeHistory, {
      procedures: { "RiskDesk/ListEnvelopes": { envelopes: [message] } },
    });
    expect(await ask(route, { params, query: { count_max: "5" } })).toEqual({ status: 200, body: [stored] });
    expect(calls[0]?.slice(0, 2)).toEqual(["RiskDesk/ListEnvelopes", { fund_id: "alpha", count_max: 6 }]);
  });

  it("compares versions, or with a proposal", async () => {
    const changes = [{ field: "max_position_pct", before: "0.07", after: "0.05", effect: "TIGHTENS" }];
    const diff = { fund_id: "alpha", from_version: 6, to_version: 7, changes, loosens: false };
    const { route, calls } = fixture(envelopeDiff, { procedures: { "RiskDesk/DiffEnvelopes": diff } });
    expect(await ask(route, { params, body: { from_version: 6, to_version: 7 } })).toEqual({ status: 200, body: diff });
    await ask(route, { params, body: { proposed: { ...limits, max_position_pct: 0.05 } } });
    expect(calls.map((call) => call[1])).toEqual([
      { fund_id: "alpha", from_version: 6, to_version: 7, proposed: undefined },
      {
        fund_id: "alpha",
        from_version: undefined,
        to_version: undefined,
        proposed: { ...reported, version: 0, max_position_pct: 0.05 },
      },
    ]);
    const both = await ask(route, { params, body: { to_version: 7, proposed: limits } });
    expect(both).toMatchObject({ status: 400, body: { detail: expect.stringContaining("at most one") } });
  });

  it("replays a period against a proposal", async () => {
    const change = {
      order_id: "o-1",
      decision_id: "d-1",
      symbol: "AAPL",
      side: "BUY",
      quantity: "10",
      decided_at: at,
      approved_before: true,
      approved_after: false,
      code_before: "",
      code_after: "POSITION_LIMIT_EXCEEDED",
      reason_after: "Too much.",
    };
    const counted = { replayed: 10, skipped: 2, changed: 1, newly_approved: 0, newly_denied: 1 };
    const replay = { fund_id: "alpha", ...counted, changes: [change] };
    const { route, calls } = fixture(envelopeReplay, { procedures: { "RiskDesk/ReplayEnvelope": replay } });
    const body = { proposed: limits, from: at, count_max: 100 };
    expect(await ask(route, { params, body })).toEqual({ status: 200, body: replay });
    expect(calls[0]?.[1]).toEqual({ proposed: { ...reported, version: 0 }, from: at, to: undefined, count_max: 100 });
    expect(calls[0]?.[2]).toMatchObject({ timeoutMs: 25_000 });
    await expect(ask(route, { params, body: { proposed: { ...reported, fund_id: "beta" } } })).rejects.toThrow("beta");
  });
});

const rejection = {
  order_id: "o-1",
  decision_id: "d-1",
  idempotency_key: "k",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "10",
  gate: "static",
  code: "NOTIONAL_ABOVE_MAX",
  reason: "Too large.",
  envelope_version: 7,
  halt_epoch: 3,
  actor: "bot",
  decided_at: at,
  source: "riskengine",
  figures: [{ name: "notional", value: "300000", age_ms: 12.5 }],
};

describe("listRejections", () => {
  it("is an array, and the next page is in the Link header", async () => {
    const page = { rejections: [rejection, { ...rejection, decision_id: "d-2" }], more: true };
    const { route, calls } = fixture(rejectionsList, { procedures: { "RiskDesk/ListRejections": page } });
    const answer = await ask(route, { query: { fund_id: "alpha", hours: "0.5", count_max: "2", after: "d-0" } });
    expect(answer.body).toEqual(page.rejections);
    expect(calls[0]?.[1]).toEqual({ fund_id: "alpha", hours: 0.5, count_max: 2, after_decision_id: "d-0" });
    const link = '</v1/riskengine/rejections?fund_id=alpha&hours=0.5&count_max=2&after=d-2>; rel="next"';
    expect(answer.headers).toEqual({ link });
  });

  it("has no next page at the end, and asks for the service's own bounds when none is given", async () => {
    const page = { rejections: [rejection], more: false };
    const { route, calls } = fixture(rejectionsList, { procedures: { "RiskDesk/ListRejections": page } });
    expect((await ask(route)).headers).toBeUndefined();
    expect(calls[0]?.[1]).toEqual({ fund_id: undefined, hours: 0, count_max: 0, after_decision_id: undefined });
  });

  it.each([{ hours: "0" }, { hours: "-1" }, { hours: "many" }, { count_max: "1.5" }, { fond_id: "alpha" }])(
    "refuses %o",
    async (query) => {
      expect(await ask(fixture(rejectionsList).route, { query })).toMatchObject({ status: 400 });
    },
  );
});

describe("getDecisions", () => {
  const order = {
    idempotency_key: "k",
    order_id: "o-1",
    fund_id: "alpha",
    strategy_id: "s",
    symbol: "not a symbol",
    side: "?",
    quantity: "lots",
    order_type: "LIMIT",
    tif: "DAY",
    broker: "paper",
    asset_class: "",
    actor: "",
  };
  const decision = {
    approved: false,
    rejecting_gate: "schema",
    code: "SCHEMA_DECIMAL_INVALID",
    reason: "No.",
    order_id: "o-1",
    decision_id: "d-1",
    fund_id: "alpha",
    halt_epoch: 0,
    decided_at: at,
    warnings: [],
    checks: [{ gate: "schema", result: "FAILED", figures: [{ name: "quantity", value: "lots" }], microseconds: 4 }],
  };

  it("tells the order as it was asked, also where it is no order, and nothing of the engine's own form", async () => {
    const records = [{ order: { ...order, notional: Number.NaN }, decision, inputs: new Uint8Array([1, 2]) }];
    const { route, calls } = fixture(decisions, { procedures: { "RiskDesk/GetDecisions": { records } } });
    const answer = await ask(route, { params: { order_id: "o 1?" } });
    expect(answer).toEqual({ status: 200, body: [{ order, decision }] });
    expect(calls[0]?.[1]).toEqual({ order_id: "o 1?" });
  });

  it("is NOT_FOUND for an order that nobody asked about", async () => {
    const { route } = fixture(decisions, { procedures: { "RiskDesk/GetDecisions": { records: [] } } });
    await expect(ask(route, { params: { order_id: "o-9" } })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("getHeadroom and releaseThrottle", () => {
  it("asks the engine how much more", async () => {
    const answer = {
      fund_id: "alpha",
      symbol: "AAPL",
      side: "BUY",
      quantity: "120",
      notional: "24000",
      binding: "max_position_pct",
      price: { name: "ask", value: "200", age_ms: 300 },
      envelope_version: 7,
      halt_epoch: 0,
      as_of: at,
      limits: [{ limit: "max_position_pct", used: "676000", allowed: "700000", quantity: "120" }],
    };
    const { route, calls } = fixture(headroom, { procedures: { "RiskEngine/GetHeadroom": answer } });
    expect(await ask(route, { query: { fund_id: "alpha", symbol: "AAPL" } })).toEqual({ status: 200, body: answer });
    expect(calls[0]?.[1]).toEqual({ fund_id: "alpha", symbol: "AAPL", side: undefined });
    expect(await ask(route, { query: { fund_id: "alpha", symbol: "AAPL", side: "HOLD" } })).toMatchObject({
      status: 400,
    });
  });

  it("leaves a missing reason to the engine", async () => {
    const status = { strategy_id: "alpha-momentum", fund_id: "alpha", tripped: false };
    const { route, calls } = fixture(throttleRelease, { procedures: { "RiskEngine/ReleaseThrottle": status } });
    const asked = { params: { strategy_id: "alpha-momentum" }, body: {} };
    expect(await ask(route, asked)).toEqual({ status: 200, body: status });
    expect(calls[0]?.[1]).toEqual({ strategy_id: "alpha-momentum", reason: "" });
    const refused = fixture(throttleRelease, { denial: { code: "THROTTLE_NOT_TRIPPED", reason: "It has not." } }).route;
    expect(await ask(refused, asked)).toMatchObject({ status: 409, body: { code: "THROTTLE_NOT_TRIPPED" } });
  });
});

it("a service that is down is a fault, which becomes 503 under its name", async () => {
  await expect(ask(fixture(envelope).route, { params })).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
});

describe("listTimeline", () => {
  const events = Array.from({ length: 130 }, (_, index) => ({
    event_id: `e-${index}`,
    at,
    happened_at: at,
    kind: "fill",
    symbol: "AAPL",
    strategy_id: undefined,
    order_id: undefined,
    code: undefined,
    summary: `fill ${index}`,
    sequence: index,
    data: { quantity: "1" },
  }));

  interface Asked {
    readonly after_event_id?: string;
    readonly count_max: number;
  }

  function timeline(count = events.length) {
    const asked: Asked[] = [];
    const call = async (_service: string, _method: string, message: object) => {
      const { after_event_id: after, count_max } = message as Asked;
      asked.push({ count_max, ...(after !== undefined && { after_event_id: after }) });
      const first = after === undefined ? 0 : events.findIndex(({ event_id }) => event_id === after) + 1;
      return { ok: true, value: { events: events.slice(0, count).slice(first, first + count_max) } } as const;
    };
    return { route: timelineList({ services: { call } }), asked };
  }

  it("is asked for in pieces, each behind the last of the one before", async () => {
    const { route, asked } = timeline();
    const answer = await ask(route, { query: { fund_id: "alpha", count_max: "120" } });
    expect(asked.map(({ count_max, after_event_id: after }) => [count_max, after])).toEqual([
      [50, undefined],
      [50, "e-49"],
      [21, "e-99"],
    ]);
    const rows = answer.body as readonly { readonly event_id: string }[];
    expect(rows.map(({ event_id }) => event_id)).toEqual(events.slice(0, 120).map(({ event_id }) => event_id));
    expect(answer.headers).toEqual({
      link: expect.stringMatching(/^<\/v1\/replay\/timeline\?.*after=e-119>; rel="next"$/),
    });
  });

  it.each([0, 50, 100, 101])("has no next page when there are %i in all, and ends with them", async (count) => {
    const { route } = timeline(count);
    const answer = await ask(route, { query: { fund_id: "alpha", count_max: "200" } });
    expect(answer.body).toHaveLength(count);
    expect(answer.headers).toBeUndefined();
  });

  it("goes on behind the event that the caller has", async () => {
    const { route, asked } = timeline();
    await ask(route, { query: { fund_id: "alpha", count_max: "10", after: "e-5" } });
    expect(asked).toEqual([{ count_max: 11, after_event_id: "e-5" }]);
  });
});
