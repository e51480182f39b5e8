// Facts that are gathered while the fund trades tie to the cent all the same: every answer of the platform is of another moment, and brokers, order management
// and treasury each know of a trade a little later than the one before.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, fromUnixMs, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { factsHash } from "../../../reports/facts.ts";
import { navReport } from "../../../reports/nav-report.ts";
import { tcaReport } from "../../../reports/tca-report.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import type { Client } from "../../client/src/types.ts";
import { gatherFacts } from "./gather-facts.ts";
import { orderFact } from "./gather-further.ts";

const begun = fromUnixMs(Date.UTC(2026, 10, 18, 15, 0, 0));
const capital = decimal.parse("1000000");
const fee = "0.37";

interface Trade {
  readonly id: string;
  readonly side: "BUY" | "SELL";
  readonly price: string;
  readonly filledAt: Instant;
  /** When order management has it, and when the ledger does. */
  readonly bookedAt: Instant;
  readonly postedAt: Instant;
}

const later = (at: Instant, ms: number): Instant => plusMilliseconds(at, ms);

/** A trade every 20 ms, two purchases for each sale, known to order management after the one lag and to treasury after the other. */
const tradesOf = (omsLagMs: number, treasuryLagMs: number): readonly Trade[] =>
  Array.from({ length: 2_000 }, (_unused, index) => {
    const filledAt = later(begun, index * 20);
    const bookedAt = later(filledAt, omsLagMs);
    return {
      id: `t-${String(index).padStart(5, "0")}`,
      side: index % 3 === 2 ? "SELL" : "BUY",
      price: (100 + (index % 7) / 100).toFixed(2),
      filledAt,
      bookedAt,
      postedAt: later(bookedAt, treasuryLagMs),
    };
  });

const signed = ({ side }: Trade): decimal.Decimal => (side === "BUY" ? decimal.one : decimal.negate(decimal.one));
const cashOf = (trade: Trade): decimal.Decimal =>
  decimal.subtract(
    decimal.negate(decimal.multiply(signed(trade), decimal.parse(trade.price), "half-even")),
    decimal.parse(fee),
  );
const total = (values: readonly decimal.Decimal[]): decimal.Decimal => values.reduce(decimal.add, decimal.zero);

/** A platform whose clock goes on with every question. */
function platformAt(startMs: number, stepMs: number, trades: readonly Trade[]) {
  let now = later(begun, startMs);
  const asked =
    <Answer>(answer: (at: Instant) => Answer) =>
    async (): Promise<Answer> => {
      now = later(now, stepMs);
      return answer(now);
    };
  const page = <Row>(
    rows: readonly Row[],
    idOf: (row: Row) => string,
    { countMax = 100, after }: { countMax?: number; after?: string },
  ) => {
    const from = after === undefined ? 0 : rows.findIndex((row) => idOf(row) === after) + 1;
    return rows.slice(from, from + countMax);
  };
  const navOf = (at: Instant, day: string) => {
    const known = trades.filter(({ postedAt }) => postedAt <= at);
    const quantity = total(known.map(signed));
    const cash = decimal.add(capital, total(known.map(cashOf)));
    const value = decimal.multiply(quantity, decimal.parse("100"), "half-even");
    return {
      fund_id: "alpha",
      nav: decimal.format(decimal.add(cash, value)),
      cash: decimal.format(cash),
      positions_value: decimal.format(value),
      net_flows: "0",
      currency: "USD",
      trading_day: day,
      as_of: format(at),
      prices:
        quantity === decimal.zero
          ? []
          : [{ symbol: "AAA", quantity: decimal.format(quantity), price: "100", at: format(at) }],
    };
  };
  const fillOf = ({ id, side, price, filledAt }: Trade) => ({
    fill_id: id,
    order_id: `o-${id}`,
    fund_id: "alpha",
    strategy_id: "s",
    symbol: "AAA",
    side,
    quantity: "1",
    price,
    fee,
    currency: "USD",
    filled_at: format(filledAt),
    kind: "TRADE",
  });
  const entryOf = (trade: Trade) => ({
    entry_id: `fill:${trade.id}`,
    kind: "FILL",
    at: format(trade.filledAt),
    postings: bothSides("position:AAA", cashOf(trade)),
  });
  const quote = (at: Instant) => ({ bid: "99.9", ask: "100.1", quoted_at: format(at) });
  const orderOf = (trade: Trade, at: Instant) => ({
    order: {
      order_id: `o-${trade.id}`,
      strategy_id: "s",
      symbol: "AAA",
      side: trade.side,
      quantity: "1",
      order_type: "MARKET",
      broker: "paper",
    },
    state: trade.bookedAt <= at ? "FILLED" : "WORKING",
    filled_quantity: trade.bookedAt <= at ? "1" : "0",
    created_at: format(later(trade.filledAt, -5)),
    updated_at: format(trade.bookedAt <= at ? trade.bookedAt : later(trade.filledAt, -4)),
    quotes: { created: quote(later(trade.filledAt, -5)), routed: quote(later(trade.filledAt, -4)) },
  });
  const newestFirst = (rows: readonly Trade[]): readonly Trade[] => [...rows].reverse();
  const opening = {
    entry_id: "capital",
    kind: "CAPITAL",
    at: format(later(begun, -86_400_000)),
    postings: bothSides("capital", capital),
  };
  const client = {
    getReferenceData: asked(() => ({
      content: [{ fund_id: "alpha", mode: "PAPER", currency: "USD", calendar: "us-equities" }],
    })),
    getAuditStatus: asked(() => ({ size: 7 })),
    // The value of a second is made when it is over.
    listNavs: async (_request: object) =>
      asked((at) => {
        const second = fromUnixMs(Math.floor(at / 1_000_000) * 1_000);
        return [navOf(later(begun, -3_600_000), "2026-11-17"), navOf(second, "2026-11-18")];
      })(),
    listLedger: async (request: { countMax?: number; after?: string }) =>
      asked((at) =>
        page(
          [...newestFirst(trades.filter(({ postedAt }) => postedAt <= at)).map(entryOf), opening],
          ({ entry_id }) => entry_id,
          request,
        ),
      )(),
    listFills: async (request: { countMax?: number; after?: string }) =>
      asked((at) =>
        page(
          newestFirst(trades.filter(({ bookedAt }) => bookedAt <= at)).map(fillOf),
          ({ fill_id }) => fill_id,
          request,
        ),
      )(),
    listOrders: async (request: { countMax?: number; after?: string }) =>
      asked((at) =>
        page(
          newestFirst(trades.filter(({ filledAt }) => later(filledAt, -5) <= at)).map((trade) => orderOf(trade, at)),
          ({ order }) => order.order_id,
          request,
        ),
      )(),
    listInstruments: asked(() => [
      { symbol: "AAA", asset_class: "EQUITY", currency: "USD", multiplier: "1", sector: "technology" },
    ]),
    listBars: asked(() => [{ start: "2026-11-18T00:00:00Z", close: "100", volume: "1" }]),
  };
  return { client: client as unknown as Client, now: () => now };
}

const bothSides = (account: string, cash: decimal.Decimal) => [
  { account: "cash", currency: "USD", amount: decimal.format(cash) },
  { account, currency: "USD", amount: decimal.format(decimal.negate(cash)) },
];

const neverAsleep = (): never => {
  throw new Error("there is nothing to wait for");
};

describe("the past year of a first start", () => {
  /** Values of a past day on which something was held; its trade comes when somebody has waited so often. */
  async function gathered(comesAfter: number) {
    const { client, now } = platformAt(14_000, 1, tradesOf(0, 0).slice(0, 20));
    const past = "2025-11-19T22:00:00Z";
    let waited = 0;
    const young = {
      ...client,
      listNavs: async (request: object) => {
        const rows = await client.listNavs(request as never);
        return [{ ...rows[0], as_of: past, trading_day: "2025-11-19", positions_value: "500", prices: [] }, ...rows];
      },
      listFills: async (request: object) => {
        const rows = await client.listFills(request as never);
        return waited < comesAfter ? rows : [...rows, { ...rows[0], fill_id: "past", filled_at: past }];
      },
    } as unknown as Client;
    const said: string[] = [];
    const facts = await gatherFacts(young, {
      fundId: "alpha",
      asOf: undefined,
      now,
      benchmark: "none",
      rfAnnual: "0",
      parts: new Set(),
      say: (line) => said.push(line),
      sleep: async () => {
        waited += 1;
      },
    });
    return { waited, said, has: facts.fills.some(({ fill_id: id }) => id === "past") };
  }

  it("is waited for while its values stand there without its trades", async () => {
    const found = await gathered(3);
    expect([found.waited, found.has]).toEqual([3, true]);
    expect(found.said).toContain("Waiting for the trades of the past year, which are being put in");
  });
  it("is read as it is when the trades never come: then the difference is true", async () => {
    expect(await gathered(1_000)).toMatchObject({ waited: 19, has: false });
  });
});

describe("facts that are gathered while the fund trades", () => {
  it.each([
    [0, 0, 150],
    [400, 30, 150],
    [700, 350, 400],
    [2_500, 900, 90],
    [1_200, 5, 777],
  ])(
    "tie when order management is %i ms behind, treasury %i ms more, and an answer takes %i ms",
    async (omsLagMs, treasuryLagMs, stepMs) => {
      const trades = tradesOf(omsLagMs, treasuryLagMs);
      for (let start = 0; start < inputCount(11, 3); start += 1) {
        const startMs = 14_000 + start * 97;
        const { client, now } = platformAt(startMs, stepMs, trades);
        const facts = await gatherFacts(client, {
          fundId: "alpha",
          asOf: undefined,
          now,
          benchmark: "none",
          rfAnnual: "0",
          parts: new Set(["orders", "fill_quotes"]),
          say: () => undefined,
          sleep: neverAsleep,
        });
        const factsSha256 = factsHash(facts, (text) => createHash("sha256").update(text).digest());
        for (const report of [navReport, tcaReport]) {
          const document = report.build({ facts, factsSha256, start: "2026-11-18", end: "2026-11-18" });
          const differing = document.reconciliation.filter(({ difference }) => Number(difference) !== 0);
          expect([report.name, startMs, differing]).toEqual([report.name, startMs, []]);
        }
        expect(facts.fills.length).toBeGreaterThan(500);
      }
    },
  );
});

it("knows why order management refused an order that was never decided on", () => {
  const row = {
    order: {
      order_id: "a-1",
      strategy_id: "s",
      symbol: "XOM",
      side: "SELL",
      quantity: "28",
      order_type: "LIMIT",
      broker: "paper",
    },
    filled_quantity: "0",
    created_at: "2026-11-18T20:22:47Z",
    code: "ORDER_HALTED",
  };
  const codeOf = (state: string) => orderFact({ ...row, state } as Parameters<typeof orderFact>[0]).code;
  expect([codeOf("REJECTED"), codeOf("CANCELLED")]).toEqual(["ORDER_HALTED", null]);
});
