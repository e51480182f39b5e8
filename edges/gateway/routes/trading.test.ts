// The routes of orders, positions, trades, accounts, strategies, prices and the risk engine's workers: what is asked of which service, what of the answer
// is reported, and what never gets that far.
import { describe, expect, it } from "vitest";
import type { Route } from "../../../ports/http.ts";
import { ask, type Behaviour, forwardedRoute, testParts } from "../../../testkit/gateway/parts.ts";
import { barsList, quotesList } from "./market.ts";
import { orderSubmit } from "./orders.ts";
import { stopsList } from "./riskengine.ts";

const backtest = forwardedRoute("getBacktest");
const books = forwardedRoute("getBooks");
const corporateActionBook = forwardedRoute("bookCorporateAction");
const differencesList = forwardedRoute("listDifferences");
const fillsList = forwardedRoute("listFills");
const flatProve = forwardedRoute("proveFlat");
const flowBook = forwardedRoute("bookFlow");
const ledgerList = forwardedRoute("listLedger");
const navsList = forwardedRoute("listNavs");
const newsList = forwardedRoute("listNews");
const orderAmend = forwardedRoute("amendOrder");
const orderCancel = forwardedRoute("cancelOrder");
const order = forwardedRoute("getOrder");
const ordersCancelAll = forwardedRoute("cancelAllOrders");
const ordersList = forwardedRoute("listOrders");
const paperFaultsSet = forwardedRoute("setPaperWeather");
const paperFaults = forwardedRoute("getPaperWeather");
const positionsList = forwardedRoute("getPositions");
const reconcile = forwardedRoute("reconcile");
const signalsList = forwardedRoute("listSignals");
const stopEnd = forwardedRoute("endStop");
const strategiesList = forwardedRoute("listStrategies");
const strategySet = forwardedRoute("setStrategy");

type Parts = ReturnType<typeof testParts>["parts"];

function fixture(make: (parts: Parts) => Route, behaviour: Behaviour = {}) {
  const { parts, calls } = testParts(behaviour);
  return { route: make(parts), calls };
}

const at = "2026-11-15T13:30:00.000000Z";
const terms = {
  idempotency_key: "k-1",
  order_id: "o-1",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "10",
  order_type: "MARKET",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
};
const asked = { ...terms, actor: "operator:duty" };
const status = {
  order: asked,
  state: "ROUTED",
  filled_quantity: "0",
  remaining_quantity: "10",
  average_price: undefined,
  updated_at: at,
  created_at: at,
  broker_order_id: "b-1",
  submitted_by: "operator:duty",
};
const { average_price: _, ...reported } = status;

describe("orders", () => {
  it("are handed in under the caller's name unless another is given, and reported as far as they came", async () => {
    const { route, calls } = fixture(orderSubmit, { procedures: { "Oms/SubmitOrder": status } });
    expect(await ask(route, { body: terms })).toEqual({ status: 200, body: reported });
    expect(calls[0]?.slice(0, 2)).toEqual(["Oms/SubmitOrder", asked]);
    expect(calls[0]?.[2]).toMatchObject({ bearer: "the-callers-token" });
    await ask(route, { body: { ...terms, actor: "desk 4", dry_run: true } });
    expect(calls[1]?.[1]).toEqual({ ...terms, actor: "desk 4", dry_run: true });
    // Without a name one is made where orders are kept.
    const { order_id: _name, ...unnamed } = terms;
    expect(await ask(route, { body: unnamed })).toMatchObject({ status: 200 });
    expect(calls[2]?.[1]).toMatchObject({ order_id: "" });
  });

  it.each([
    ["a misspelt term", { reduceonly: true }],
    ["a side that is none", { side: "LONG" }],
    ["a quantity below zero", { quantity: "-10" }],
    ["a quantity as a number", { quantity: 10 }],
    ["no key", { idempotency_key: undefined }],
    ["a newline in a name", { actor: "duty\nroot" }],
  ])("with %s reach nobody", async (_what, wrong) => {
    const { route, calls } = fixture(orderSubmit, { procedures: { "Oms/SubmitOrder": status } });
    expect(await ask(route, { body: { ...terms, ...wrong } })).toMatchObject({ status: 400 });
    expect(calls).toEqual([]);
  });

  it("that are refused at the door are reported with the code of it", async () => {
    const { route } = fixture(orderSubmit, { denial: { code: "ORDER_HALTED", reason: "alpha is halted." } });
    expect(await ask(route, { body: terms })).toEqual({
      status: 409,
      body: { code: "ORDER_HALTED", detail: "alpha is halted." },
    });
  });

  it("are reported one by one, also when their terms are nonsense", async () => {
    const nonsense = {
      ...status,
      state: "REJECTED",
      code: "SCHEMA_DECIMAL_INVALID",
      order: { ...asked, quantity: "x" },
    };
    const { route, calls } = fixture(order, { procedures: { "Oms/GetOrder": nonsense } });
    expect(await ask(route, { params: { order_id: "o-1" } })).toMatchObject({
      status: 200,
      body: { state: "REJECTED" },
    });
    expect(calls[0]?.[1]).toEqual({ order_id: "o-1" });
  });

  it("are cancelled and amended with a reason, or without one when the service takes that", async () => {
    const cancelling = fixture(orderCancel, {
      procedures: { "Oms/CancelOrder": { ...status, state: "CANCEL_PENDING" } },
    });
    const params = { order_id: "o-1" };
    expect(await ask(cancelling.route, { params, body: {} })).toMatchObject({ body: { state: "CANCEL_PENDING" } });
    expect(cancelling.calls[0]?.[1]).toEqual({ order_id: "o-1", reason: "" });
    const amending = fixture(orderAmend, { procedures: { "Oms/AmendOrder": status } });
    await ask(amending.route, { params, body: { idempotency_key: "k-2", quantity: "5", reason: "less" } });
    expect(amending.calls[0]?.[1]).toEqual({ order_id: "o-1", idempotency_key: "k-2", quantity: "5", reason: "less" });
    const all = fixture(ordersCancelAll, { procedures: { "Oms/CancelAll": { orders: [status] } } });
    expect((await ask(all.route, { body: { confirmation: "CANCEL", reason: "drill" } })).body).toEqual({
      orders: [reported],
    });
    expect(all.calls[0]?.[1]).toEqual({ confirmation: "CANCEL", reason: "drill" });
    expect(await ask(all.route, { body: { reason: "drill" } })).toMatchObject({ status: 400 });
  });

  it("are listed page by page, and a page that is exactly full is the last one", async () => {
    const orders = ["o-1", "o-2", "o-3"].map((order_id) => ({ ...status, order: { ...asked, order_id } }));
    const { route, calls } = fixture(ordersList, { procedures: { "Oms/ListOrders": { orders } } });
    const page = await ask(route, { query: { fund_id: "alpha", open: "true", count_max: "2" } });
    expect(page.body).toMatchObject([{ order: { order_id: "o-1" } }, { order: { order_id: "o-2" } }]);
    expect(page.headers).toEqual({
      link: '</v1/oms/orders?fund_id=alpha&open=true&count_max=2&after=o-2>; rel="next"',
    });
    expect(calls[0]?.[1]).toEqual({ fund_id: "alpha", open_only: true, count_max: 3, after_order_id: undefined });
    const full = await ask(route, { query: { count_max: "3", after: "o-0" } });
    expect(full).toEqual({ status: 200, body: expect.any(Array) });
    expect(calls[1]?.[1]).toMatchObject({ open_only: false, count_max: 4, after_order_id: "o-0" });
    for (const query of [{ open: "yes" }, { count_max: "0" }, { count_max: "501" }, { fund: "alpha" }]) {
      expect(await ask(route, { query })).toMatchObject({ status: 400 });
    }
    const denied = fixture(ordersList, { denial: { code: "FUND_NOT_PAPER", reason: "No." } });
    expect(await ask(denied.route)).toMatchObject({ status: 409, body: { code: "FUND_NOT_PAPER" } });
  });
});

describe("what the funds hold and traded", () => {
  const position = {
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    quantity: "-10",
    average_price: "187.5",
    currency: "USD",
    as_of: at,
  };

  it("is reported, and without a fresh price no value is made up", async () => {
    const positions = [
      { ...position, mark_price: undefined },
      { ...position, symbol: "GONE", currency: "" },
    ];
    const { currency: _currency, ...gone } = { ...position, symbol: "GONE" };
    const { route, calls } = fixture(positionsList, { procedures: { "Oms/ListPositions": { positions } } });
    expect((await ask(route, { query: { fund_id: "alpha" } })).body).toEqual([position, gone]);
    expect(calls[0]?.[1]).toEqual({ fund_id: "alpha" });
    await ask(route);
    expect(calls[1]?.[1]).toEqual({});
  });

  it("is listed trade by trade", async () => {
    const fill = {
      fill_id: "f-1",
      order_id: "o-1",
      fund_id: "alpha",
      strategy_id: "s",
      symbol: "AAPL",
      side: "BUY",
      quantity: "1",
      price: "2",
      filled_at: at,
      kind: "TRADE",
    };
    const fills = [fill, { ...fill, fill_id: "f-2", kind: "ADJUSTMENT", fee: "-0.1" }];
    const { route, calls } = fixture(fillsList, { procedures: { "Oms/ListFills": { fills } } });
    const page = await ask(route, { query: { order_id: "o-1", count_max: "1" } });
    expect(page).toEqual({
      status: 200,
      body: [fill],
      headers: { link: '</v1/oms/fills?order_id=o-1&count_max=1&after=f-1>; rel="next"' },
    });
    expect(calls[0]?.[1]).toMatchObject({ order_id: "o-1", count_max: 2 });
  });
});

describe("accounts", () => {
  it("are valued over time", async () => {
    const nav = {
      fund_id: "alpha",
      nav: "3",
      cash: "1",
      positions_value: "2",
      net_flows: "1",
      currency: "USD",
      oldest_price_age_ms: 12,
      as_of: at,
      prices: [{ symbol: "AAPL", quantity: "1", price: "2", at }],
    };
    const { route, calls } = fixture(navsList, { procedures: { "Treasury/ListNavs": { navs: [nav] } } });
    expect((await ask(route, { query: { fund_id: "alpha", every: "day", from: at } })).body).toEqual([nav]);
    expect(calls[0]?.[1]).toEqual({ fund_id: "alpha", every: "day", from: at, count_max: 0 });
    expect(await ask(route, { query: { fund_id: "alpha", every: "week" } })).toMatchObject({ status: 400 });
    expect(await ask(route, { query: {} })).toMatchObject({ status: 400 });
  });

  it("have a ledger, and money may be put in and taken out", async () => {
    const entry = {
      entry_id: "e-1",
      fund_id: "alpha",
      kind: "FLOW",
      reason: "seed",
      booked_by: "operator:duty",
      at,
      postings: [
        { account: "cash", currency: "USD", amount: "100" },
        { account: "capital", currency: "USD", amount: "-100" },
      ],
      already_booked: false,
    };
    const listed = fixture(ledgerList, { procedures: { "Treasury/ListLedger": { entries: [entry] } } });
    expect((await ask(listed.route, { query: { fund_id: "alpha" } })).body).toEqual([entry]);
    expect(listed.calls[0]?.[1]).toMatchObject({ fund_id: "alpha", count_max: 101 });
    const booked = fixture(flowBook, { procedures: { "Treasury/BookFlow": entry } });
    const body = { fund_id: "alpha", idempotency_key: "k", currency: "USD", amount: "-100.5", reason: "out" };
    expect((await ask(booked.route, { body })).body).toEqual(entry);
    expect(booked.calls[0]?.[1]).toEqual({ ...body, step_up_proof: "" });
    expect(await ask(booked.route, { body: { ...body, amount: 100 } })).toMatchObject({ status: 400 });
    const answered = { entries: [entry], already_booked: false, state: "DONE", note: "" };
    const action = { action_id: "q4", kind: "CASH_DIVIDEND", symbol: "AAPL", ...answered };
    const paid = fixture(corporateActionBook, { procedures: { "Treasury/BookCorporateAction": action } });
    const dividend = { action_id: "q4", kind: "CASH_DIVIDEND", symbol: "AAPL", amount_per_share: "0.26" };
    const asked = { ...dividend, ex_date: "2026-11-16", reason: "dividend" };
    expect((await ask(paid.route, { body: asked })).body).toEqual(action);
    expect(paid.calls[0]?.[1]).toEqual({ ...asked, ratio: "", new_symbol: "" });
    const split = { action_id: "s", kind: "SPLIT", symbol: "AAPL", ratio: "4:1", reason: "split" };
    await ask(paid.route, { body: split });
    expect(paid.calls[1]?.[1]).toEqual({ ...split, amount_per_share: "", ex_date: "", new_symbol: "" });
    expect(await ask(paid.route, { body: { ...asked, kind: "SPIN_OFF" } })).toMatchObject({ status: 400 });
  });
});

describe("strategies", () => {
  const strategy = {
    strategy_id: "s",
    fund_id: "alpha",
    status: "live",
    allocation_pct: 0.4,
    sentence: "It follows.",
    base_status: "live",
    base_allocation_pct: 0.4,
    restriction_ids: [],
  };
  const params = { strategy_id: "s" };

  it("are reported and changed", async () => {
    const strategies = [{ ...strategy, live_ic_mean: Number.NaN }];
    const listed = fixture(strategiesList, { procedures: { "Research/ListStrategies": { strategies } } });
    expect((await ask(listed.route)).body).toEqual([strategy]);
    const changed = fixture(strategySet, { procedures: { "Research/SetStrategy": strategy } });
    await ask(changed.route, { params, body: { status: "shadow", reason: "drift" } });
    expect(changed.calls[0]?.[1]).toEqual({ strategy_id: "s", status: "shadow", reason: "drift" });
    for (const body of [{ reason: "nothing" }, { status: "paused" }, { allocation_pct: 40 }]) {
      expect(await ask(changed.route, { params, body })).toMatchObject({ status: 400 });
    }
  });

  it("have a backtest and signals", async () => {
    const figures = {
      annual_return: 0.1,
      annual_volatility: 0.2,
      sharpe: Number.POSITIVE_INFINITY,
      max_drawdown: 0.05,
    };
    const days = [
      {
        day: "2026-11-13",
        return: 0.001,
        information_coefficient: undefined,
        signals: [{ symbol: "AAPL", value: 0.5 }],
      },
    ];
    const tested = { strategy_id: "s", from: "2025-11-14", to: "2026-11-13", days, ...figures };
    const { route } = fixture(backtest, { procedures: { "Research/GetBacktest": tested } });
    const { sharpe: _sharpe, ...finite } = figures;
    expect((await ask(route, { params })).body).toEqual({
      strategy_id: "s",
      from: "2025-11-14",
      to: "2026-11-13",
      days: [{ day: "2026-11-13", return: 0.001, signals: [{ symbol: "AAPL", value: 0.5 }] }],
      ...finite,
    });
    const signal = { strategy_id: "s", symbol: "AAPL", value: 1.5, at, horizon_s: 3_600 };
    const signals = fixture(signalsList, { procedures: { "Research/ListSignals": { signals: [signal] } } });
    expect((await ask(signals.route, { params, query: { count_max: "5" } })).body).toEqual([signal]);
    expect(signals.calls[0]?.[1]).toEqual({ strategy_id: "s", count_max: 6 });
  });
});

describe("prices", () => {
  it("are reported for the symbols that were named", async () => {
    const quote = { symbol: "AAPL", bid: "1", ask: "2", quoted_at: at };
    const { route, calls } = fixture(quotesList, { procedures: { "MarketDesk/ListQuotes": { quotes: [quote] } } });
    expect((await ask(route, { query: { symbols: "AAPL,BTC-USD" } })).body).toEqual([
      { ...quote, age_s: 0, stale: false },
    ]);
    expect(calls[0]?.[1]).toEqual({ symbols: ["AAPL", "BTC-USD"] });
    await ask(route);
    expect(calls[1]?.[1]).toEqual({ symbols: [] });
    expect(await ask(route, { query: { symbols: "AAPL,,MSFT" } })).toMatchObject({ status: 400 });
  });

  it("are reported as bars from a date or a time on", async () => {
    const prices = { open: "1", high: "2", low: "1", close: "2", volume: "9" };
    const bar = { symbol: "AAPL", interval: "1h", start: at, ...prices, closed: true };
    const { route, calls } = fixture(barsList, { procedures: { "MarketDesk/ListBars": { bars: [bar] } } });
    const params = { symbol: "AAPL" };
    expect((await ask(route, { params, query: { interval: "1h", start: "2026-11-14" } })).body).toEqual([bar]);
    expect(calls[0]?.[1]).toEqual({ symbol: "AAPL", interval: "1h", start: "2026-11-14", count_max: 500 });
    await ask(route, { params, query: { start: at } });
    expect(calls[1]?.[1]).toMatchObject({ interval: "1d", start: at });
    for (const query of [{ interval: "1M" }, { start: "yesterday" }, { count_max: "5000" }]) {
      expect(await ask(route, { params, query })).toMatchObject({ status: 400 });
    }
  });

  it("come with news", async () => {
    const item = { news_id: "n-1", story_id: "s-1", symbol: "AAPL", headline: "Up", source: "sim", at };
    const { route, calls } = fixture(newsList, { procedures: { "MarketDesk/ListNews": { items: [item] } } });
    expect((await ask(route, { query: { hours: "0.5" } })).body).toEqual([item]);
    expect(calls[0]?.[1]).toEqual({ hours: 0.5, count_max: 101 });
  });

  it("and the broker may be made to suffer; what is not named is fair", async () => {
    const fair = { halted_symbols: [], news: [], informed: [] };
    const faults = { ...fair, gaps: [{ symbol: "AAPL", pct: -0.12, from: at }], reason: "drill", at };
    const shown = fixture(paperFaults, { procedures: { "Oms/GetPaperWeather": faults } });
    expect((await ask(shown.route)).body).toEqual(faults);
    const set = fixture(paperFaultsSet, { procedures: { "Oms/SetPaperWeather": faults } });
    await ask(set.route, { body: { broker_silent_until: at, reason: "drill" } });
    expect(set.calls[0]?.[1]).toEqual({ ...fair, broker_silent_until: at, gaps: [], reason: "drill" });
    expect(await ask(set.route, { body: { gaps: [{ symbol: "AAPL", pct: -1 }] } })).toMatchObject({ status: 400 });
    expect(await ask(set.route, { body: { report_loss_pct: 5 } })).toMatchObject({ status: 400 });
  });
});

describe("the risk engine's workers", () => {
  const resting = {
    fund_id: "alpha",
    strategy_id: "s",
    symbol: "AAPL",
    quantity: "10",
    basis_price: "200",
    trigger_price: "190",
    state: "RESTING",
    attempts: 0,
  };

  it("tell the stops, and that nobody watches them", async () => {
    const stops = [{ ...resting, stop_id: "" }];
    const { route, calls } = fixture(stopsList, { procedures: { "RiskWorkers/ListStops": { enabled: false, stops } } });
    const answer = await ask(route, { query: { owed: "false" } });
    expect(answer.body).toEqual([resting]);
    expect(answer.headers).toMatchObject({ "portcullis-stops-enabled": "false" });
    expect(calls[0]?.[1]).toEqual({ fund_id: undefined, owed_only: false, count_max: 0 });
    const ended = { ...resting, stop_id: "st-1", state: "ENDED" };
    const many = { enabled: true, stops: [ended, { ...ended, stop_id: "st-2" }] };
    const paging = fixture(stopsList, { procedures: { "RiskWorkers/ListStops": many } });
    const page = await ask(paging.route, { query: { ended_hours: 24, count_max: 1 } });
    expect([page.body, page.headers]).toEqual([
      [ended],
      {
        link: '</v1/riskengine/stops?count_max=1&ended_hours=24&after=st-1>; rel="next"',
        "portcullis-stops-enabled": "true",
      },
    ]);
    expect(paging.calls[0]?.[1]).toMatchObject({ ended_hours: 24, count_max: 2 });
    const ending = fixture(stopEnd, { procedures: { "RiskWorkers/EndStop": ended } });
    expect((await ask(ending.route, { params: { stop_id: "st-1" }, body: { reason: "sold" } })).body).toEqual(ended);
  });

  const difference = {
    difference_id: "d-1",
    fund_id: "alpha",
    account: "alpha",
    broker: "paper",
    symbol: "AAPL",
    our_quantity: "10",
    broker_quantity: "0",
    class: "LOST_FILL",
    status: "SUSPECTED",
    evidence: "One report.",
    first_seen_at: at,
    at,
  };

  it("compare with the broker, and never take no answer for flat", async () => {
    const compared = { compared: [], unanswered: ["alpha: it is silent"], symbols: 0, differences: [difference], at };
    const { route, calls } = fixture(reconcile, { procedures: { "RiskWorkers/Reconcile": compared } });
    expect((await ask(route, { body: { fund_id: "alpha" } })).body).toEqual(compared);
    expect(calls[0]?.[1]).toEqual({ fund_id: "alpha" });
    const listed = fixture(differencesList, {
      procedures: { "RiskWorkers/ListDifferences": { differences: [difference] } },
    });
    expect((await ask(listed.route, { query: { open: "true" } })).body).toEqual([difference]);
    expect(listed.calls[0]?.[1]).toEqual({ open_only: true, count_max: 101 });
    const proof = {
      proof_id: "p",
      fund_id: "alpha",
      account: "alpha",
      broker: "paper",
      flat: false,
      left: [],
      asked_at: at,
      open_orders: 1,
      asked_by: "operator:duty",
      reason: "r",
      asked: ["open orders", "positions"],
    };
    const proved = fixture(flatProve, { procedures: { "RiskWorkers/ProveFlat": { ...proof, broker_as_of: "" } } });
    expect((await ask(proved.route, { body: { fund_id: "alpha" } })).body).toEqual(proof);
  });

  it("hold the books against each other", async () => {
    const check = { name: "fills", sentence: "Positions are the sum of fills.", agrees: true, compared: 15 };
    const checks = [
      { ...check, difference: "", checked_at: at, not_compared: "" },
      { ...check, agrees: false, difference: "AAPL", checked_at: "", not_compared: "alpha is old." },
    ];
    const { route } = fixture(books, { procedures: { "RiskWorkers/GetBooks": { checks } } });
    expect((await ask(route)).body).toEqual([
      { ...check, checked_at: at },
      { ...check, agrees: false, difference: "AAPL", not_compared: "alpha is old." },
    ]);
  });
});
