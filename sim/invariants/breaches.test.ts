// Each of these invariants holds where it should, and complains about evidence that was doctored.
import { describe, expect, it } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Evidence } from "../evidence.ts";
import { fold, history } from "../history.ts";
import type { Reported } from "../reported.ts";
import { breachesAreActedOn, withdrawalsKeepLimits } from "./breaches.ts";

const secondUs = 1_000_000;
const startUs = Date.parse("2026-03-02T10:00:00Z") * 1_000;
const at = (second: number): string => new Date((startUs + second * secondUs) / 1_000).toISOString();

type Message = readonly [subject: { readonly name: string }, payload: object, second?: number];

const limits: Message = [
  subjects.envelopeUpdated,
  { fund_id: "alpha", version: 1, daily_loss_halt_pct: 0.02, max_position_pct: 0.2, max_gross_exposure_pct: 0.5 },
];
const baseline: Message = [
  subjects.lossBaseline,
  {
    fund_id: "alpha",
    limit: "daily",
    period: "2026-03-02",
    version: 0,
    value: "100",
    net_flows: "0",
    valued_at: at(0),
    set_by: "riskengine",
    reason: "A period began.",
    at: at(0),
  },
];
const nav = (second: number, value: string, flows = "0", quantity = "1"): Message => [
  subjects.navUpdated,
  {
    fund_id: "alpha",
    nav: value,
    currency: "USD",
    net_flows: flows,
    as_of: at(second),
    prices: { AAPL: { quantity, price: "10", at: at(second) } },
  },
];
const halt = (differs: object = {}): Message => [
  subjects.riskHaltRequested,
  {
    halt_id: "h",
    severity: "FUND_HALT",
    fund_id: "alpha",
    epoch: 1,
    requested_by: "riskengine",
    evidence: { limit: "daily", period: "2026-03-02" },
    ...differs,
  },
];
const bought = (quantity: string): Message => [
  subjects.fillsCreated,
  {
    fill_id: "f",
    order_id: "o",
    fund_id: "alpha",
    strategy_id: "s",
    symbol: "AAPL",
    side: "BUY",
    quantity,
    price: "10",
    kind: "TRADE",
  },
];
const flow = (amount: string): Message => [subjects.ledgerBooked, { fund_id: "alpha", kind: "FLOW", amount }];
const newRisk = (second: number, classification = "INCREASE"): Message => [
  subjects.decisionMade,
  {
    order: { order_id: "one", fund_id: "alpha", strategy_id: "s", symbol: "AAPL", side: "BUY", quantity: "1" },
    decision: { approved: true, order_id: "one", classification },
  },
  second,
];

const reportedOf = ([{ name: subject }, payload, second = 0]: Message, position: number): Reported => ({
  id: String(position),
  subject,
  at: startUs + second * secondUs,
  position,
  payload,
});

function evidence(before: readonly Message[], now: Message): Evidence {
  const past = history();
  before.forEach((message, index) => {
    fold(past, reportedOf(message, index));
  });
  const outside = { bidAsk: () => ({ bid: 10, ask: 10 }) };
  return {
    past,
    platform: { outside },
    reported: reportedOf(now, before.length),
    settled: false,
  } as unknown as Evidence;
}

describe("breaches_are_acted_on", () => {
  const lost = [nav(1, "97"), nav(2, "97"), nav(4, "97"), nav(6, "97.9")];
  const complaint = (navs: readonly Message[], now: Message) =>
    breachesAreActedOn.violated(evidence([limits, nav(0, "100"), baseline, ...navs], now));

  it("complains about new risk 5 s after a loss that nothing acted on, and not before", () => {
    expect(complaint(lost, newRisk(6.1))).toContain("lost more than daily allows");
    expect(complaint(lost, newRisk(5.9))).toBeUndefined();
    expect(complaint(lost, newRisk(6.1, "REDUCE"))).toBeUndefined();
  });

  it("is content with a halt, lifted or not, and with a value that says otherwise", () => {
    expect(complaint([...lost, halt()], newRisk(6.1))).toBeUndefined();
    expect(complaint([nav(1, "97"), nav(3, "99"), nav(6, "97")], newRisk(6.1))).toBeUndefined();
  });

  it("is not deceived by a deposit, and blames no withdrawal", () => {
    expect(complaint([nav(1, "97"), nav(2, "1097", "1000"), nav(6, "1097", "1000")], newRisk(6.1))).toBeDefined();
    expect(complaint([nav(1, "99"), nav(2, "49", "-50"), nav(6, "49", "-50")], newRisk(6.1))).toBeUndefined();
  });
});

describe("withdrawals_keep_limits", () => {
  const complaint = (before: readonly Message[], now: Message) =>
    withdrawalsKeepLimits.violated(evidence([limits, bought("2"), nav(0, "100", "0", "2"), ...before], now));

  it("holds for what leaves the limits met, and for deposits", () => {
    expect(complaint([], flow("-1"))).toBeUndefined();
    expect(complaint([], flow("1000"))).toBeUndefined();
    expect(
      complaint([bought("3")], [subjects.ledgerBooked, { ...(flow("-99")[1] as object), kind: "BORROW_FEE" }]),
    ).toBeUndefined();
  });

  it("complains when a position is too large a share of what is left, when nothing is, and of two together", () => {
    expect(complaint([], flow("-10"))).toContain("AAPL is 0.22");
    expect(complaint([], flow("-100"))).toContain("0 is left");
    expect(complaint([flow("-1"), flow("-1")], flow("-9"))).toContain("AAPL is");
    expect(complaint([flow("100")], flow("-10"))).toBeUndefined();
  });

  it("complains under a halt of the fund or the firm, and not of a strategy", () => {
    expect(complaint([halt()], flow("-1"))).toContain("under the halt h");
    expect(complaint([halt({ severity: "FIRM_HALT", fund_id: "" })], flow("-1"))).toContain("under the halt h");
    expect(complaint([halt({ severity: "STRATEGY_HALT", strategy_id: "s" })], flow("-1"))).toBeUndefined();
  });
});
