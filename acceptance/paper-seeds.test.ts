// The seeds are what the platform promises to begin with: valid records, the named funds and symbols, and room under every limit.
import { describe, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import { riskEnvelope } from "../contracts/src/records/envelope.ts";
import { referenceContents, referenceKind } from "../contracts/src/records/reference.ts";
import { envelopeMessage, readEnvelope } from "../core/envelope/envelope.ts";
import { referenceMistakes } from "../services/reference/reference-rules.ts";
import {
  paperCapital,
  paperEnvelopes,
  paperListings,
  paperPositions,
  paperReference,
} from "../services/shared/paper-seeds.ts";

const reference = paperReference("2026-11-15T12:00:00.000000Z");
const price = (symbol: string): decimal.Decimal =>
  decimal.parse(paperListings.find((listing) => listing.symbol === symbol)?.price ?? "");
const instrumentOf = (symbol: string) => reference.instruments.find((instrument) => instrument.symbol === symbol);

/** What a position is worth at the first prices, as a share of its fund's capital. */
function shareOf({ fundId, symbol, quantity }: (typeof paperPositions)[number]): number {
  const capital = Number(paperCapital.find((fund) => fund.fundId === fundId)?.amount);
  const multiplier = Number(instrumentOf(symbol)?.multiplier);
  return (Number(quantity) * multiplier * decimal.toNumber(price(symbol))) / capital;
}

describe("the paper platform's seeds", () => {
  it("are valid reference data of every kind", () => {
    for (const kind of referenceKind.options) {
      expect(referenceContents[kind].parse(reference[kind])).toEqual(reference[kind]);
    }
    expect(referenceMistakes(reference)).toEqual([]);
  });

  it("have the promised funds, strategies and symbols", () => {
    expect(reference.funds.map(({ fund_id, strategies, mode }) => [fund_id, mode, strategies])).toEqual([
      ["alpha", "PAPER", ["alpha-momentum", "alpha-meanrev"]],
      ["beta", "PAPER", ["beta-trend"]],
      ["gamma", "PAPER", ["gamma-income"]],
    ]);
    const symbols = (kind: string) =>
      reference.instruments.filter(({ asset_class }) => asset_class === kind).map(({ symbol }) => symbol);
    expect(symbols("EQUITY")).toEqual(["AAPL", "MSFT", "GOOGL", "AMZN", "NVDA", "JPM", "XOM", "SPY"]);
    expect(symbols("CRYPTO")).toEqual(["BTC-USD", "ETH-USD", "SOL-USD"]);
    expect(symbols("OPTION")).toContain("SPY 281215C00650000");
    expect(paperListings.map(({ symbol }) => symbol)).toEqual(reference.instruments.map(({ symbol }) => symbol));
  });

  it("have envelopes that anybody could set, alpha's as promised", () => {
    for (const envelope of paperEnvelopes) {
      expect(riskEnvelope.parse(envelope)).toEqual(envelope);
      expect(readEnvelope(envelopeMessage(envelope))).toEqual({ record: envelope });
    }
    expect(paperEnvelopes.map(({ fund_id }) => fund_id)).toEqual(["alpha", "beta", "gamma"]);
    expect(paperEnvelopes[0]).toMatchObject({ max_position_pct: 0.07, max_notional: 250_000, shorting_enabled: true });
    expect(paperEnvelopes[0]?.allowed_brokers).toEqual(["paper"]);
  });

  it("hold positions of at most 3 % of the fund, on the lot, in what the fund may trade", () => {
    expect(paperPositions).toHaveLength(15);
    for (const position of paperPositions) {
      const instrument = instrumentOf(position.symbol);
      const envelope = paperEnvelopes.find(({ fund_id }) => fund_id === position.fundId);
      expect(shareOf(position), position.symbol).toBeGreaterThan(0);
      expect(shareOf(position), position.symbol).toBeLessThanOrEqual(0.03);
      expect(envelope?.allowed_asset_classes).toContain(instrument?.asset_class);
      const lot = decimal.parse(instrument?.lot_size ?? "");
      expect(decimal.isMultipleOf(decimal.parse(position.quantity), lot)).toBe(true);
      const strategies = reference.funds.find(({ fund_id }) => fund_id === position.fundId)?.strategies;
      expect(strategies).toContain(position.strategyId);
    }
  });

  it("leave at least a fifth of every exposure limit free, a small order included", () => {
    for (const envelope of paperEnvelopes) {
      const own = paperPositions.filter(({ fundId }) => fundId === envelope.fund_id);
      const gross = own.reduce((sum, position) => sum + shareOf(position), 0);
      expect(gross).toBeLessThan(0.8 * Math.min(envelope.max_gross_exposure_pct, envelope.max_net_exposure_pct));
      for (const [sector, limit] of Object.entries(envelope.sector_limits_pct)) {
        const inSector = own.filter(({ symbol }) => instrumentOf(symbol)?.sector === sector);
        expect(inSector.length, sector).toBeGreaterThan(0);
        expect(inSector.reduce((sum, position) => sum + shareOf(position), 0)).toBeLessThan(0.8 * limit);
      }
    }
  });

  it("have something to borrow of whatever may have to be delivered: shares, also for written calls", () => {
    const lent = new Set(reference.borrow.map(({ symbol }) => symbol));
    for (const { symbol, asset_class } of reference.instruments)
      expect(lent.has(symbol)).toBe(asset_class === "EQUITY");
    for (const { fee_pct } of reference.borrow) expect(Number(fee_pct)).toBeLessThan(0.03);
  });
});
