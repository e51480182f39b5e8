// Every invariant about halts, exits under them and losses complains about evidence that was doctored to break it, and about nothing else in it.
import { expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromMicroseconds, parse } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { paperReference } from "../../services/shared/paper-seeds.ts";
import { memoryTables } from "../../testkit/memory/tables.ts";
import type { Evidence } from "../evidence.ts";
import { fold, history } from "../history.ts";
import type { Reported } from "../reported.ts";
import { noApprovalInAHalt } from "./decisions.ts";
import { exitsAreProven, haltsLetExitsOut, haltsSpareExits } from "./exits.ts";
import {
  firmNeedsTwo,
  haltsAreSticky,
  latchReportedOnce,
  liftedByPeople,
  liftLeavesHigher,
  unknownIsHalted,
} from "./halts.ts";
import type { Invariant } from "./invariant.ts";
import { baselinesWrittenOnce, limitsAreJudged, lossesHalt } from "./losses.ts";

const at = "2026-03-02T10:00:00.000000Z";
const past = "2026-03-02T09:59:59.999999Z";
const justAfter = "2026-03-02T10:00:00.000001Z";
const secondUs = 1_000_000;
const nowUs = Date.parse("2026-03-02T10:00:00Z") * 1_000;

type Subject = { readonly name: string };
type Message = readonly [subject: Subject, payload: object, atUs?: number];

const halt = (id: string, epoch: number, scope: object = { severity: "FUND_HALT", fund_id: "alpha" }) => ({
  halt_id: id,
  epoch,
  since: at,
  reason: "drill",
  requested_by: "operator:duty",
  ...scope,
});
const firm = { severity: "FIRM_HALT", fund_id: "" };
const strategy = { severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" };
const latch = (...of: Parameters<typeof halt>): Message => [subjects.haltRequested, halt(...of)];
const attempt = (operator: string): Message => [
  subjects.operatorAttempted,
  { operator, verb: "ResumeHalt", target: "", allowed: true, reason: "", at },
];
const lift = (id: string, epoch: number, differs: object = {}): Message => [
  subjects.haltLifted,
  {
    halt_id: id,
    severity: "FUND_HALT",
    fund_id: "alpha",
    epoch,
    reason: "fine",
    baseline: "kept",
    lifted_at: at,
    requested_by: "operator:duty",
    cosigned_by: "operator:duty",
    ...differs,
  },
];
const order = (differs: object = {}) => ({
  order_id: "one",
  idempotency_key: "one",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "SELL",
  quantity: "10",
  order_type: "MARKET",
  reduce_only: true,
  ...differs,
});
const decision = (asked: object, differs: object = {}): Message => [
  subjects.decisionMade,
  {
    order: asked,
    decision: {
      approved: true,
      rejecting_gate: "",
      code: "",
      order_id: "one",
      decision_id: "d",
      fund_id: "alpha",
      envelope_version: 1,
      halt_epoch: 1,
      decided_at: at,
      classification: "REDUCE",
      checks: [],
      warnings: [],
      ...differs,
    },
  },
];
const limits = (differs: object = {}): Message => [
  subjects.envelopeUpdated,
  { fund_id: "alpha", version: 1, halt_allow_reduce_only: true, daily_loss_halt_pct: 0.02, ...differs },
];
const bought = (quantity: string, strategy_id = "alpha-momentum"): Message => [
  subjects.fillsCreated,
  {
    fill_id: "f",
    order_id: "before",
    fund_id: "alpha",
    strategy_id,
    symbol: "AAPL",
    side: "BUY",
    quantity,
    price: "1",
    kind: "TRADE",
  },
];
const baseline = (differs: object = {}): Message => [
  subjects.lossBaseline,
  {
    fund_id: "alpha",
    limit: "daily",
    period: "2026-03-02",
    version: 0,
    value: "100",
    net_flows: "0",
    valued_at: at,
    set_by: "riskengine",
    reason: "A period began.",
    at,
    ...differs,
  },
];
const nav = (value: string, second: number, differs: object = {}): Message => [
  subjects.navUpdated,
  {
    fund_id: "alpha",
    nav: value,
    currency: "USD",
    net_flows: "0",
    as_of: at.replace(":00.", `:0${second}.`),
    ...differs,
  },
];
const ofStrategies = limits({ daily_loss_halt_pct: 0.5, strategy_loss_halt_pct: 0.02 });
const ofStrategy = baseline({ limit: "strategy", strategy_id: "s", value: "0" });
/** Half of the money leaves after a loss of 1.9 %: the share that was lost stays the same. */
const halved = (left: string, lost: string): readonly Message[] => [
  nav("100", 0, { strategy_pnl: { s: "0" } }),
  nav("98.1", 1, { strategy_pnl: { s: "-1.9" } }),
  ...[2, 3, 4].map((second) => nav(left, second, { net_flows: "-50", strategy_pnl: { s: lost } })),
];
const newRisk = (second: number): Message => {
  const [subject, made] = decision(order({ reduce_only: false, side: "BUY" }), { classification: "INCREASE" });
  return [subject, made, nowUs + second * secondUs];
};
const readReported = ([{ name: subject }, payload, atUs = nowUs]: Message, position: number): Reported => ({
  id: String(position),
  subject,
  at: atUs,
  position,
  payload,
});

interface Scene {
  /** What was reported before, and what is reported now; without it the whole is looked at, at rest. */
  readonly before?: readonly Message[];
  readonly now?: Message;
  readonly stored?: readonly ReturnType<typeof halt>[];
  readonly lifted?: readonly ReturnType<typeof halt>[];
  /** What the engine has heard of alpha's value. */
  readonly heard?: string;
  readonly acknowledged?: string;
  /** Up to which of alpha's values its losses are judged, and from which day. */
  readonly judged?: { readonly second: number; readonly day: string; readonly setAt?: string };
}

function evidence({ before = [], now, stored = [], heard, acknowledged, judged }: Scene): Evidence {
  const past = history();
  before.forEach((message, index) => {
    fold(past, readReported(message, index));
  });
  const tables = memoryTables();
  for (const kind of ["funds", "calendars"] as const) {
    tables.risk.references.set(kind, [{ kind, version: 1, content: paperReference(at)[kind] } as never]);
  }
  for (const one of stored) tables.risk.halts.push(one as (typeof tables.risk.halts)[number]);
  if (heard !== undefined) tables.risk.navs.set("alpha", { fund_id: "alpha", nav: "1", currency: "USD", as_of: heard });
  for (const [key, reported] of past.baselines) {
    const kept = { ...reported, value: decimal.parse(reported.value), valuedAt: fromMicroseconds(0) };
    tables.losses.baselines.set(key, { fundId: reported.fund_id, baseline: kept as never });
  }
  if (judged !== undefined) {
    const newest = { at: parse(at.replace(":00.", `:0${judged.second}.`)) };
    const state = { newest, baselines: [{ limit: "daily", period: judged.day, setAt: parse(judged.setAt ?? at) }] };
    tables.losses.states.set("alpha", { fundId: "alpha", state: state as never });
  }
  const halts = new Map(acknowledged === undefined ? [] : [[acknowledged, { epoch: 1, turn: 1 }] as const]);
  const promises = { orders: new Set(), halts, lifted: new Set(), envelopes: new Set(), approvals: [] };
  const reported = now === undefined ? undefined : readReported(now, before.length);
  const reserved = { released: new Set() };
  const shown = { past, promises, reserved, platform: { tables }, reported, settled: reported === undefined, now: 0 };
  return shown as unknown as Evidence;
}

const reported = (id: string, epoch: number): readonly Message[] => [
  latch(id, epoch),
  ...["BLOCKED", "CANCELLED", "NOTIFIED"].map((step): Message => [subjects.haltStep, { halt_id: id, step }]),
];
const request = (haltIds: readonly string[]): Message => [
  subjects.resumeRequested,
  { request_id: "r", halt_ids: haltIds, epoch: 1, requested_by: "operator:duty" },
];
const shown = (operator: string): Message => [subjects.stepUpGranted, { operator, action: "ResumeHalt", at }];
const signed = (by: string): Message => [
  subjects.resumeEnded,
  { request_id: "r", outcome: "lifted", ended_by: by, at },
];
const lostHalt = (differs: object = {}): Message => [
  subjects.riskHaltRequested,
  {
    ...halt("loss", 1),
    requested_by: "riskengine",
    evidence: {
      limit: "daily",
      period: "2026-03-02",
      baseline_version: 0,
      baseline: "100",
      value: "97",
      loss: "3",
      share_of: "100",
      limit_pct: 0.02,
      ...differs,
    },
  },
];

/** What holds, and what was doctored so that it does not. */
const cases: readonly (readonly [invariant: Invariant, what: string, holds: Scene, breaks: Scene])[] = [
  [
    noApprovalInAHalt,
    "an approval at an epoch between latch and lift",
    {
      before: [latch("h", 1), attempt("operator:duty"), lift("h", 2)],
      now: decision(order(), { halt_epoch: 2, classification: "INCREASE" }),
    },
    {
      before: [latch("h", 1), attempt("operator:duty"), lift("h", 2)],
      now: decision(order(), { halt_epoch: 1, classification: "INCREASE" }),
    },
  ],
  [
    haltsAreSticky,
    "a halt that is gone without a lift",
    { before: [latch("h", 1)], stored: [halt("h", 1)], acknowledged: "h" },
    { before: [latch("h", 1)] },
  ],
  [
    haltsAreSticky,
    "an acknowledged halt that was never reported",
    { before: [latch("h", 1)], stored: [halt("h", 1)], acknowledged: "h" },
    { acknowledged: "h" },
  ],
  [
    haltsAreSticky,
    "a lifted halt that is in force",
    { before: [latch("h", 1), lift("h", 2)] },
    { before: [latch("h", 1), lift("h", 2)], stored: [halt("h", 1)] },
  ],
  [
    liftLeavesHigher,
    "a fund's halt that is gone after its strategy's was lifted",
    { before: [latch("s", 1, strategy), latch("h", 2), lift("s", 3, strategy)], stored: [halt("h", 2)] },
    { before: [latch("s", 1, strategy), latch("h", 2), lift("s", 3, strategy)] },
  ],
  [
    liftLeavesHigher,
    "one person's lift of two levels",
    { before: [latch("s", 1, strategy), latch("h", 2), lift("s", 3, strategy)], now: lift("h", 4) },
    { before: [latch("s", 1, strategy), latch("h", 2), lift("s", 3, strategy)], now: lift("h", 3) },
  ],
  [
    liftedByPeople,
    "a lift without anybody's resume",
    { before: [latch("h", 1), attempt("operator:duty")], now: lift("h", 2) },
    { before: [latch("h", 1), attempt("operator:duty"), nav("1", 1)], now: lift("h", 2) },
  ],
  [
    liftedByPeople,
    "a lift by a machine",
    { before: [latch("h", 1), attempt("operator:duty")], now: lift("h", 2) },
    { before: [latch("h", 1), attempt("operator:duty")], now: lift("h", 2, { requested_by: "service:riskengine" }) },
  ],
  [
    firmNeedsTwo,
    "a firm halt that one person lifted",
    {
      before: [latch("h", 1, firm), shown("operator:duty"), request(["h"]), signed("operator:relief")],
      now: lift("h", 2, { ...firm, cosigned_by: "operator:relief" }),
    },
    { before: [latch("h", 1, firm)], now: lift("h", 2, firm) },
  ],
  [
    firmNeedsTwo,
    "a signature under one's own request",
    {
      before: [latch("h", 1), shown("operator:duty"), shown("operator:relief"), request(["h"])],
      now: signed("operator:relief"),
    },
    {
      before: [latch("h", 1), shown("operator:duty"), shown("operator:duty"), request(["h"])],
      now: signed("operator:duty"),
    },
  ],
  [
    firmNeedsTwo,
    "a signature under what has changed since",
    {
      before: [latch("h", 1), shown("operator:duty"), shown("operator:relief"), request(["h"])],
      now: signed("operator:relief"),
    },
    {
      before: [latch("h", 1), shown("operator:duty"), shown("operator:relief"), request(["h"]), latch("i", 2)],
      now: signed("operator:relief"),
    },
  ],
  [
    firmNeedsTwo,
    "a request without a code",
    { before: [latch("h", 1), shown("operator:duty")], now: request(["h"]) },
    { before: [latch("h", 1)], now: request(["h"]) },
  ],
  [
    latchReportedOnce,
    "a latch that is reported twice",
    { before: [[subjects.riskHaltRequested, halt("h", 1)]], now: latch("h", 1) },
    { before: [latch("h", 1)], now: latch("h", 1) },
  ],
  [
    latchReportedOnce,
    "a latch that the manager never tells",
    { before: reported("h", 1), stored: [halt("h", 1)] },
    { before: [[subjects.riskHaltRequested, halt("h", 1)]], stored: [halt("h", 1)] },
  ],
  [
    latchReportedOnce,
    "a step that is never proven",
    { before: reported("h", 1), stored: [halt("h", 1)] },
    { before: reported("h", 1).slice(0, 3), stored: [halt("h", 1)] },
  ],
  [
    unknownIsHalted,
    "an approval by somebody who has not heard of a halt for long",
    {
      before: [[subjects.haltRequested, halt("h", 2), nowUs - secondUs / 2]],
      now: decision(order(), { classification: "INCREASE" }),
    },
    {
      before: [[subjects.haltRequested, halt("h", 2), nowUs - 2 * secondUs]],
      now: decision(order(), { classification: "INCREASE" }),
    },
  ],
  [
    haltsLetExitsOut,
    "an exit that a halt refuses",
    {
      before: [limits({ halt_allow_reduce_only: false })],
      now: decision(order(), { approved: false, rejecting_gate: "drawdown_halt", code: "FUND_HALTED" }),
    },
    {
      before: [limits()],
      now: decision(order(), { approved: false, rejecting_gate: "drawdown_halt", code: "FUND_HALTED" }),
    },
  ],
  [
    haltsSpareExits,
    "an exit that a halt cancels",
    {
      before: [limits(), [subjects.ordersCreated, order({ reduce_only: false })], decision(order())],
      now: [subjects.ordersUpdated, { order_id: "one", to: "CANCEL_PENDING", reason: "The halt h covers it." }],
    },
    {
      before: [limits(), [subjects.ordersCreated, order()], decision(order())],
      now: [subjects.ordersUpdated, { order_id: "one", to: "CANCEL_PENDING", reason: "The halt h covers it." }],
    },
  ],
  [
    exitsAreProven,
    "an exit that would flip",
    { before: [bought("10"), latch("h", 1)], now: decision(order()) },
    { before: [bought("9"), latch("h", 1)], now: decision(order()) },
  ],
  [
    exitsAreProven,
    "an exit of a halted strategy against what another one holds",
    { before: [bought("10", "alpha-momentum"), latch("h", 1, strategy)], now: decision(order()) },
    { before: [bought("10", "alpha-meanrev"), latch("h", 1, strategy)], now: decision(order()) },
  ],
  [
    exitsAreProven,
    "an exit that competes with another one",
    {
      before: [bought("10"), [subjects.ordersCreated, order({ order_id: "two" })], latch("h", 1)],
      now: decision(order()),
    },
    {
      before: [
        bought("10"),
        [subjects.ordersCreated, order({ order_id: "two" })],
        decision(order({ order_id: "two", quantity: "1" }), { valid_until: at }),
        latch("h", 1),
      ],
      now: decision(order()),
    },
  ],
  [
    exitsAreProven,
    "an exit that competes with one that was sent, however long ago",
    {
      before: [
        bought("10"),
        [subjects.ordersCreated, order({ order_id: "two" })],
        decision(order({ order_id: "two", quantity: "1" }), { valid_until: past }),
        latch("h", 1),
      ],
      now: decision(order()),
    },
    {
      before: [
        bought("10"),
        [subjects.ordersCreated, order({ order_id: "two" })],
        decision(order({ order_id: "two", quantity: "1" }), { valid_until: past }),
        [subjects.ordersUpdated, { order_id: "two", to: "ROUTED" }],
        latch("h", 1),
      ],
      now: decision(order()),
    },
  ],
  [
    lossesHalt,
    "a loss that no halt tells of",
    { before: [limits(), baseline(), lostHalt(), nav("97", 1), nav("97", 2), nav("98", 3)], heard: "9" },
    { before: [limits(), baseline(), nav("97", 1), nav("97", 2), nav("98", 3)], heard: "9" },
  ],
  [
    lossesHalt,
    "a loss above its limit after money left, per unit and not as plain money",
    { before: [limits(), baseline(), ...halved("48.1", "-1.9")], heard: "9" },
    { before: [limits(), baseline(), ...halved("47.9", "-2.1")], heard: "9" },
  ],
  [
    lossesHalt,
    "a strategy's loss above its limit after money left, as a share of what was there",
    { before: [ofStrategies, baseline(), ofStrategy, ...halved("48.1", "-1.9")], heard: "9" },
    { before: [ofStrategies, baseline(), ofStrategy, ...halved("47.9", "-2.1")], heard: "9" },
  ],
  [
    lossesHalt,
    "a loss that was not there",
    { before: [limits(), baseline()], now: lostHalt() },
    { before: [limits(), baseline()], now: lostHalt({ value: "98.5", loss: "1.5" }) },
  ],
  [
    lossesHalt,
    "figures that do not come to the loss",
    { before: [limits(), baseline()], now: lostHalt() },
    { before: [limits(), baseline()], now: lostHalt({ loss: "4" }) },
  ],
  [
    limitsAreJudged,
    "new risk while the day's loss is counted from nowhere",
    { before: [limits(), baseline(), nav("100", 1)], judged: { second: 1, day: "2026-03-02" }, now: newRisk(0) },
    { before: [limits(), baseline(), nav("100", 1)], judged: { second: 1, day: "2026-03-03" }, now: newRisk(0) },
  ],
  [
    limitsAreJudged,
    "new risk that was approved before the day's baseline was set, and published after it",
    { before: [limits(), baseline()], judged: { second: 1, day: "2026-03-02" }, now: newRisk(0) },
    {
      before: [limits(), baseline({ at: justAfter })],
      judged: { second: 1, day: "2026-03-02", setAt: justAfter },
      now: newRisk(0),
    },
  ],
  [
    limitsAreJudged,
    "new risk of a day without a baseline, and not of one whose baseline the next day's replaced before it was published",
    {
      before: [limits(), baseline(), baseline({ period: "2026-03-03", at: justAfter })],
      judged: { second: 1, day: "2026-03-03", setAt: justAfter },
      now: newRisk(0),
    },
    {
      before: [limits(), baseline({ period: "2026-03-03", at: justAfter })],
      judged: { second: 1, day: "2026-03-03", setAt: justAfter },
      now: newRisk(0),
    },
  ],
  [
    limitsAreJudged,
    "new risk while a value waits for its judgement",
    { before: [limits(), baseline(), nav("100", 1)], judged: { second: 0, day: "2026-03-02" }, now: newRisk(6) },
    { before: [limits(), baseline(), nav("100", 1)], judged: { second: 0, day: "2026-03-02" }, now: newRisk(7) },
  ],
  [
    limitsAreJudged,
    "new risk of a fund that nobody judges",
    { before: [limits()], now: decision(order()) },
    { before: [limits()], now: newRisk(0) },
  ],
  [
    baselinesWrittenOnce,
    "a baseline that is written again",
    { before: [baseline()], now: baseline({ period: "2026-03-03" }) },
    { before: [baseline()], now: baseline({ value: "90" }) },
  ],
  [
    baselinesWrittenOnce,
    "a baseline that a machine moves",
    { before: [baseline(), attempt("operator:duty")], now: baseline({ version: 1, set_by: "operator:duty" }) },
    { before: [baseline(), attempt("operator:duty")], now: baseline({ version: 1 }) },
  ],
];

it.each(cases.map(([invariant, what, holds, breaks]) => [invariant.name, what, invariant, holds, breaks] as const))(
  "%s complains about %s",
  (_name, _what, invariant, holds, breaks) => {
    expect(invariant.violated(evidence(holds))).toBeUndefined();
    expect(invariant.violated(evidence(breaks))).toBeTypeOf("string");
  },
);
