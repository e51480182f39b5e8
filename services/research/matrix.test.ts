// Where a fund's risk lies: its cells are its positions at prices that it may see, and what nobody knows is in no sum.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, minusMilliseconds, parse } from "../../contracts/src/instant.ts";
import { referenceReader } from "../reference/reference-view.ts";
import { paperReference } from "../shared/paper-seeds.ts";
import { dailyClosesReader } from "./daily-closes.ts";
import { getMatrix, type MatrixParts } from "./matrix.ts";

const now = parse("2026-11-18T12:00:00.000000Z");
const at = minusMilliseconds(now, 1_000);
const reference = paperReference("2026-11-18T11:59:00.000000Z");

interface World {
  readonly positions?: readonly object[];
  readonly prices?: Readonly<Record<string, string>>;
  readonly mode?: "PAPER" | "LIVE";
  readonly currencies?: Readonly<Record<string, string>>;
  readonly fx?: readonly object[];
  readonly nav?: string;
  readonly actions?: readonly object[];
  readonly pricedAt?: Instant;
}

const position = (strategyId: string, symbol: string, quantity: string, averagePrice: string) => ({
  fundId: "alpha",
  strategyId,
  symbol,
  quantity: decimal.parse(quantity),
  averagePrice: decimal.parse(averagePrice),
});

function partsOf({
  positions = [],
  prices = {},
  mode = "PAPER",
  currencies = {},
  fx = [],
  nav,
  actions = [],
  pricedAt = at,
}: World) {
  const asked: string[] = [];
  const changed = {
    ...reference,
    fx,
    funds: reference.funds.map((fund) => ({ ...fund, mode })),
    instruments: reference.instruments.map((one) => ({ ...one, currency: currencies[one.symbol] ?? one.currency })),
  };
  const marks = new Map(
    Object.entries(prices).map(([symbol, price]) => [symbol, { price: decimal.parse(price), at: pricedAt } as const]),
  );
  const said = [
    { symbol: "AAPL", value: 0.5, at },
    { symbol: "AAPL", value: -2, at: minusMilliseconds(at, 60_000) },
  ];
  const unit = {
    oms: { positions: async () => positions },
    research: { signals: async (strategyId: string) => (strategyId === "alpha-momentum" ? said : []) },
    corporateActions: { applied: async () => actions },
  };
  const clock = { now: () => now };
  const marketHistory = {
    closes: async (symbol: string, _interval: string, from: number, to: number) => {
      asked.push(symbol);
      const days = Math.round((to - from) / 86_400_000_000);
      const closes = Array.from({ length: days }, (_, place) => {
        const start = new Date((to / 1_000 - (days - place) * 86_400_000) as number).toISOString();
        return { start, close: String(100 + Math.sin(place * symbol.length)) };
      });
      return { known: true, closes };
    },
  };
  const ports = {
    clock,
    store: { transact: (_name: string, work: (one: typeof unit) => unknown) => work(unit) },
    riskStore: {
      navs: async () => (nav === undefined ? [] : [{ fund_id: "alpha", nav, as_of: "2026-11-18T11:59:59.000000Z" }]),
    },
    settings: { risk: { markAgeMsMax: 10_000, fxAgeMsMax: 3_600_000 } },
  };
  const parts = {
    ports,
    references: referenceReader({ changed: async () => 1, read: async () => changed } as never),
    market: { marks: (seen: string) => (seen === mode ? marks : new Map()) },
    closes: dailyClosesReader({ clock, marketHistory } as never),
  } as unknown as MatrixParts;
  return { parts, asked };
}

async function ask(world: World, days = 0) {
  const { total, correlations, ...rest } = await getMatrix({ fund_id: "alpha", days }, partsOf(world).parts);
  if (total === undefined || correlations === undefined) throw new Error("both are always answered");
  return { ...rest, total, correlations };
}

const held = [
  position("alpha-meanrev", "AAPL", "-3", "210"),
  position("alpha-momentum", "AAPL", "10", "190.1"),
  position("alpha-momentum", "XOM", "2", "100"),
  position("alpha-momentum", "SPY", "0", "0"),
];
const prices = { AAPL: "200", XOM: "110.5" };

describe("the matrix of a fund", () => {
  it("has a cell for each position that is not flat, with its value, share, profit and newest signal", async () => {
    const { cells, ...matrix } = await ask({ positions: held, prices, nav: "10000" });
    expect(matrix).toMatchObject({
      mode: "PAPER",
      currency: "USD",
      nav: "10000",
      as_of: "2026-11-18T11:59:59.000000Z",
    });
    expect(cells).toEqual([
      expect.objectContaining({
        strategy_id: "alpha-meanrev",
        symbol: "AAPL",
        market_value: "-600",
        unrealised_pnl: "30",
      }),
      {
        strategy_id: "alpha-momentum",
        symbol: "AAPL",
        quantity: "10",
        price: "200",
        priced_at: "2026-11-18T11:59:59.000000Z",
        market_value: "2000",
        share: 0.2,
        unrealised_pnl: "99",
        signal: 0.5,
        signal_at: "2026-11-18T11:59:59.000000Z",
      },
      expect.objectContaining({ symbol: "XOM", market_value: "221", share: 0.0221 }),
    ]);
    expect(cells[2]).not.toHaveProperty("signal");
  });

  it("has sums that are those of its cells, longs and shorts apart in gross", async () => {
    const { by_strategy, by_symbol, total } = await ask({ positions: held, prices, nav: "10000" });
    expect(by_strategy.map((one) => [one.strategy_id, one.market_value, one.gross, one.unrealised_pnl])).toEqual([
      ["alpha-meanrev", "-600", "600", "30"],
      ["alpha-momentum", "2221", "2221", "120"],
    ]);
    expect(by_symbol.map((one) => [one.symbol, one.quantity, one.market_value, one.gross])).toEqual([
      ["AAPL", "7", "1400", "2600"],
      ["XOM", "2", "221", "221"],
    ]);
    expect(total).toMatchObject({
      market_value: "1621",
      gross: "2821",
      share: 0.1621,
      unrealised_pnl: "150",
      without: [],
    });
    expect(total.gross_share).toBeCloseTo(1621 / 2821, 15);
    expect(total.concentration).toBeCloseTo((1400 / 1621) ** 2 + (221 / 1621) ** 2, 12);
  });

  it("says without what its sums are, where a price is missing", async () => {
    const { cells, by_symbol, total } = await ask({ positions: held, prices: { AAPL: "200" }, nav: "10000" });
    expect(cells[2]).toEqual({ strategy_id: "alpha-momentum", symbol: "XOM", quantity: "2" });
    expect(total).toMatchObject({ market_value: "1400", without: ["XOM"] });
    expect(by_symbol[1]).toEqual({ symbol: "XOM", quantity: "2", without: ["XOM"] });
  });

  it("counts no price that is too old to decide by", async () => {
    const old = await ask({ positions: held, prices, pricedAt: minusMilliseconds(now, 10_001) });
    expect(old.cells.map((one) => one.price)).toEqual([undefined, undefined, undefined]);
    expect(old.total).toEqual({ without: ["AAPL", "XOM"] });
  });

  it("has no share without a value of the fund above zero", async () => {
    for (const world of [{}, { nav: "0" }, { nav: "-5" }]) {
      const { cells, total } = await ask({ positions: held, prices, ...world });
      expect([cells[0]?.share, total.share, total.market_value]).toEqual([undefined, undefined, "1621"]);
    }
  });

  it("counts in the fund's currency, by a fresh rate or not at all", async () => {
    const currencies = { XOM: "EUR" };
    const rate = { base: "EUR", quote: "USD", rate: "1.1", as_of: "2026-11-18T11:30:00.000000Z" };
    const known = await ask({ positions: held, prices, currencies, fx: [rate] });
    expect(known.cells[2]).toMatchObject({ price: "110.5", market_value: "243.1", unrealised_pnl: "23.1" });
    const old = await ask({
      positions: held,
      prices,
      currencies,
      fx: [{ ...rate, as_of: "2026-11-18T10:30:00.000000Z" }],
    });
    expect(old.cells[2]).not.toHaveProperty("market_value");
    expect(old.total.without).toEqual(["XOM"]);
  });

  it("turns a price of before a split into one of after it, as the quantity is", async () => {
    const leg = { symbol: "XOM", new_symbol: "XOM", quantity: [2, 1], price: [1, 2] };
    const actions = [{ symbol: "XOM", legs: [leg], appliedAt: now }];
    const { cells } = await ask({ positions: held, prices, actions });
    expect(cells[2]).toMatchObject({ symbol: "XOM", price: "55.25", market_value: "110.5" });
  });

  it("is over 2 to 365 days", async () => {
    for (const days of [1, 366]) await expect(ask({}, days)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("knows no fund that there is not", async () => {
    await expect(getMatrix({ fund_id: "nonesuch", days: 0 }, partsOf({}).parts)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect(await ask({})).toMatchObject({
      cells: [],
      total: { market_value: "0", gross: "0" },
      correlations: { pairs: [] },
    });
  });
});

describe("its correlations", () => {
  const option = "SPY   270115C00600000";

  it("are of sixty days when none are asked for, and of every two symbols once", async () => {
    const { correlations } = await ask({ positions: held, prices });
    expect(correlations).toMatchObject({
      days: 60,
      symbols: ["AAPL", "XOM"],
      left_out: [],
      pairs: [{ a: "AAPL", b: "XOM", n: 60 }],
    });
    const { correlations: few } = await ask({ positions: held, prices }, 19);
    expect(few.pairs).toEqual([{ a: "AAPL", b: "XOM", n: 19, reason: "TOO_FEW" }]);
  });

  it("leave out by name what they cannot compare", async () => {
    const { correlations } = await ask({ positions: held, prices, mode: "LIVE" });
    expect(correlations).toMatchObject({ symbols: [], left_out: ["AAPL", "XOM"], pairs: [] });
    const listed = reference.instruments.find(({ asset_class }) => asset_class === "OPTION")?.symbol ?? option;
    const withOption = [...held, position("alpha-momentum", listed, "1", "5")];
    expect((await ask({ positions: withOption, prices })).correlations.left_out).toEqual([listed]);
  });

  it("ask the market once a minute, whoever looks", async () => {
    const { parts, asked } = partsOf({ positions: held, prices });
    for (let time = 0; time < 3; time += 1) await getMatrix({ fund_id: "alpha", days: 30 }, parts);
    expect(asked).toEqual(["AAPL", "XOM"]);
  });
});
