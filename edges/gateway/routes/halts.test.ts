// The routes about losses, flattening, drills and restarts: which procedure each asks with which message, who may, what it tells, and what becomes of
// every kind of no.
import { describe, expect, it } from "vitest";
import { type Caller, mayCall, type Operation, type Role, roles } from "../../../contracts/src/authority.ts";
import type { DenialCode } from "../../../contracts/src/codes.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Health } from "../../../ports/health.ts";
import type { Route } from "../../../ports/http.ts";
import { virtualTime } from "../../../testkit/ctl/fakes.ts";
import { ask, type Behaviour, duty, forwardedRoute, testParts } from "../../../testkit/gateway/parts.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { servicesRestart } from "./services.ts";

const drillRun = forwardedRoute("runDrill");
const drillsList = forwardedRoute("listDrills");
const flattenBegin = forwardedRoute("flattenPaper");
const flatten = forwardedRoute("getFlatten");
const lossesList = forwardedRoute("listLosses");
const ordersCancelAll = forwardedRoute("cancelAllOrders");

type Parts = ReturnType<typeof testParts>["parts"];

function fixture(make: (parts: Parts) => Route, behaviour: Behaviour = {}) {
  const { parts, calls } = testParts(behaviour);
  return { route: make(parts), calls };
}

const at = "2026-11-15T13:30:00.000000Z";
const line = {
  fund_id: "beta",
  strategy_id: "beta-trend",
  symbol: "BTC-USD",
  quantity: "2",
  state: "OWED",
  attempts: 1,
  complaint: "the market is closed",
  order_id: "flatten-1-1",
  at,
};
const order = {
  fund_id: "beta",
  strategy_id: "beta-trend",
  symbol: "ETH-USD",
  order_id: "o-1",
  side: "BUY",
  quantity: "3",
  filled_quantity: "0",
  state: "CANCEL_PENDING",
  complaint: "the broker is silent",
  at,
};
const reported = {
  flatten_id: "flatten-1",
  requested_by: "operator:duty",
  reason: "",
  requested_at: at,
  audit_id: "e-1",
  lines: [line],
  orders: [order],
  funds: [
    {
      fund_id: "beta",
      state: "NOT_FLAT",
      left: [{ symbol: "BTC-USD", quantity: "2" }],
      open_orders: 1,
      next_step: "x",
    },
  ],
};
const loss = {
  fund_id: "alpha",
  limit: "daily",
  period: "2026-11-15",
  baseline: "100",
  value: "99",
  loss: "1",
  loss_pct: 0.01,
  limit_pct: 0.02,
  state: "JUDGED",
  baseline_at: at,
  as_of: at,
};
const drill = {
  drill_id: "drill-1",
  requested_by: "operator:duty",
  reason: "monthly",
  at,
  latched_ms: 1.5,
  blocked_ms: 2,
  cancelled_ms: 30,
  notified_ms: 40,
  passed: true,
  complaint: "",
  halt_id: "drill-1",
};

it.each([
  [flattenBegin, ["operator"]],
  [flatten, ["viewer", "operator", "risk_officer", "admin"]],
  [drillRun, ["operator", "risk_officer"]],
  [drillsList, ["viewer", "operator", "risk_officer", "admin"]],
  [lossesList, ["viewer", "operator", "risk_officer", "admin"]],
  [ordersCancelAll, ["operator"]],
  [servicesRestart as unknown as (parts: Parts) => Route, ["operator"]],
] as const)("%o is open to exactly these people, and to nobody without a login", (make, expected) => {
  const { operation } = make(testParts().parts);
  const people: readonly Role[] = roles.filter((role) => role !== "service");
  const may = (caller: Caller | undefined): boolean => mayCall(operation as Operation, caller);
  expect(people.filter((role) => may({ roles: [role] }))).toEqual(expected);
  expect([may({ roles: [] }), may(undefined)]).toEqual([false, false]);
  if (!(expected as readonly string[]).includes("viewer")) expect(may({ roles: ["service"] })).toBe(false);
});

describe("losses", () => {
  it("asks for one fund or for all, and tells them as they are", async () => {
    const { route, calls } = fixture(lossesList, { procedures: { "RiskEngine/ListLosses": { losses: [loss] } } });
    expect(await ask(route, { query: { fund_id: "alpha" } })).toEqual({ status: 200, body: [loss] });
    await ask(route, {});
    expect(calls.map(([, message]) => message)).toEqual([{ fund_id: "alpha" }, { fund_id: undefined }]);
    expect(await ask(route, { query: { fund_id: "a b" } })).toMatchObject({ status: 400 });
    expect(await ask(route, { query: { fund: "alpha" } })).toMatchObject({ status: 400 });
  });

  it("is 503 while the engine does not answer", async () => {
    await expect(ask(fixture(lossesList).route, {})).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });
});

describe("flattening", () => {
  const procedures = { "HaltDesk/FlattenPaper": reported, "HaltDesk/GetFlatten": reported };

  it("hands the typed word and the reason on as they came, and tells positions, orders and the audit id", async () => {
    const { route, calls } = fixture(flattenBegin, { procedures });
    const body = { fund_id: "beta", confirmation: "FLATTEN", reason: "week's end" };
    expect(await ask(route, { body })).toEqual({ status: 201, body: reported });
    // Whether a word is missing or wrong is the service's to say: the attempt is on record then.
    await ask(route, { body: {} });
    expect(calls.map(([name, message]) => [name, message])).toEqual([
      ["HaltDesk/FlattenPaper", body],
      ["HaltDesk/FlattenPaper", { fund_id: undefined, confirmation: "", reason: "" }],
    ]);
  });

  it.each([
    ["CONFIRMATION_WRONG", 409],
    ["FUND_NOT_PAPER", 409],
    ["RESUME_NOT_OPERATOR", 403],
  ] as const)("%s is %i with its code", async (code, status) => {
    const { route } = fixture(flattenBegin, { denial: { code: code as DenialCode, reason: "Because." } });
    const answer = await ask(route, { body: { confirmation: "flatten" } });
    expect(answer).toMatchObject({ status, body: { code, detail: "Because." } });
  });

  it.each([
    ["a fund that is none", { fund_id: "a b", confirmation: "FLATTEN" }],
    ["a word that is no text", { confirmation: true }],
    ["what nobody asked for", { confirmation: "FLATTEN", funds: ["beta"] }],
  ])("refuses %s before anybody is asked", async (_name, body) => {
    const { route, calls } = fixture(flattenBegin, { procedures });
    expect(await ask(route, { body })).toMatchObject({ status: 400 });
    expect(calls).toEqual([]);
  });

  it("shows one by its id, and the newest without", async () => {
    const { route, calls } = fixture(flatten, { procedures });
    expect(await ask(route, { query: { flatten_id: "flatten-1" } })).toEqual({ status: 200, body: reported });
    await ask(route, {});
    expect(calls.map(([, message]) => message)).toEqual([{ flatten_id: "flatten-1" }, { flatten_id: undefined }]);
  });
});

describe("drills", () => {
  it("runs one with its reason and more patience than others, and lists what was measured", async () => {
    const procedures = { "HaltDesk/RunDrill": drill, "HaltDesk/ListDrills": { drills: [drill] } };
    const { route, calls } = fixture(drillRun, { procedures });
    expect(await ask(route, { body: { reason: "monthly" } })).toMatchObject({
      status: 201,
      body: { passed: true, blocked_ms: 2 },
    });
    expect(calls[0]).toMatchObject(["HaltDesk/RunDrill", { reason: "monthly" }, { timeoutMs: 25_000 }]);
    const list = fixture(drillsList, { procedures });
    expect(await ask(list.route, { query: { count_max: "5" } })).toMatchObject({
      status: 200,
      body: [{ drill_id: "drill-1" }],
    });
    expect(list.calls[0]?.[1]).toEqual({ count_max: 6 });
    expect(await ask(list.route, { query: { count_max: "-1" } })).toMatchObject({ status: 400 });
    expect(await ask(route, { body: { confirmation: "HALT" } })).toMatchObject({ status: 400 });
  });
});

describe("cancelling everything", () => {
  it("hands the word on, and tells each order and the audit id of the request", async () => {
    const status = {
      order: {
        idempotency_key: "k",
        order_id: "o-1",
        fund_id: "beta",
        strategy_id: "beta-trend",
        symbol: "BTC-USD",
        side: "BUY",
        quantity: "1",
        order_type: "MARKET",
        tif: "DAY",
        broker: "paper",
        asset_class: "CRYPTO",
        actor: "t",
      },
      state: "CANCELLED",
      filled_quantity: "0",
      remaining_quantity: "0",
      created_at: at,
      updated_at: at,
      submitted_by: "operator:duty",
    };
    const { route, calls } = fixture(ordersCancelAll, {
      procedures: { "Oms/CancelAll": { orders: [status], audit_id: "e-2" } },
    });
    const body = { confirmation: "CANCEL", fund_id: "beta" };
    expect(await ask(route, { body })).toMatchObject({
      status: 200,
      body: { audit_id: "e-2", orders: [{ state: "CANCELLED" }] },
    });
    expect(calls[0]?.[1]).toEqual({ ...body, reason: "" });
  });
});

describe("restarting the services", () => {
  const names = ["riskengine", "operations", "oms", "treasury", "research"];
  const well: Health = { status: "ok" };
  const done = names.map((name, index) => ({ name, pid: 100 + index, tookMs: 900.4 }));

  function restarting(how: "well" | "slowly" | "not at all", health: Readonly<Record<string, Health>>) {
    // A patience that ends only after whatever can be answered was.
    const timers = {
      ...virtualTime(Date.parse(at)).timers,
      sleep: () => new Promise<void>((over) => setImmediate(over)),
    };
    const asked: unknown[] = [];
    const route = servicesRestart({
      log: quietLog,
      timers,
      expectedServices: names,
      directory: { all: async () => health } as never,
      restarts: {
        async restart(by, reason, tell) {
          asked.push([by, reason]);
          if (how === "not at all") throw new Fault("UNIMPLEMENTED", "One process.", { retry: "never" });
          tell("e-3");
          if (how === "slowly") await new Promise<never>(() => undefined);
          return { auditId: "e-3", parts: done };
        },
      },
    });
    return { route, asked };
  }
  const all = Object.fromEntries(names.map((name) => [name, well]));

  it("tells of each when all are healthy again, in the name of who asked", async () => {
    const { route, asked } = restarting("well", all);
    const answer = await ask(route, { body: { reason: "new settings" } });
    expect(answer).toMatchObject({ status: 200, body: { restarted: true, audit_id: "e-3" } });
    const services = names.map((service, index) => ({ service, healthy: true, pid: 100 + index, took_ms: 900 }));
    expect(answer.body).toMatchObject({ services });
    expect(asked).toEqual([[duty.actor, "new settings"]]);
  });

  it("says which are healthy and which are not when they are not all back in time, with the audit id", async () => {
    const ill: Health = { status: "failing", complaint: "the database is away" };
    const rest = Object.entries({ ...all, oms: ill }).filter(([name]) => name !== "research");
    const { route } = restarting("slowly", Object.fromEntries(rest));
    const { body } = (await ask(route, { body: {} })) as { body: { services: object[] } };
    expect(body).toMatchObject({ restarted: false, audit_id: "e-3" });
    expect(body.services).toEqual([
      { service: "riskengine", healthy: true },
      { service: "operations", healthy: true },
      { service: "oms", healthy: false, complaint: "the database is away" },
      { service: "treasury", healthy: true },
      { service: "research", healthy: false, complaint: "it does not report" },
    ]);
  });

  it("and when they were restarted and one stays ill", async () => {
    const { route } = restarting("well", { ...all, treasury: { status: "failing" } });
    const { body } = (await ask(route, { body: {} })) as { body: { services: object[] } };
    expect(body).toMatchObject({ restarted: true });
    expect(body.services[3]).toEqual({
      service: "treasury",
      healthy: false,
      complaint: "it does not say why",
      pid: 103,
      took_ms: 900,
    });
  });

  it("passes on that this platform cannot, and refuses what it does not know", async () => {
    await expect(ask(restarting("not at all", all).route, { body: {} })).rejects.toMatchObject({
      code: "UNIMPLEMENTED",
    });
    expect(await ask(restarting("well", all).route, { body: { now: true } })).toMatchObject({ status: 400 });
  });
});
