// What a dry run says of limits and headroom, held beside an engine to which the change is really made. Numbers in the names are the invariants of preview.ts.
import { describe, expect, it } from "vitest";
import type { PreviewedFund } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { ReferenceContents, ReferenceKind } from "../../../contracts/src/records/reference.ts";
import {
  engineFixture,
  envelopeRecord,
  hold,
  moment,
  orderOf,
  reference,
  stand,
} from "../../../testkit/risk/engine-fixture.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import { compileEnvelope } from "../../envelope/envelope.ts";
import type { Engine } from "../engine.ts";
import { exposureUse, inOrder, unusedLimits } from "../limit-use.ts";
import { type Previewed, type Proposal, previewed, previewFund, previewRooms } from "./preview.ts";
import { type Touched, type TouchedFund, touchedBy, wholeFund } from "./touched.ts";

const at = moment(1_000);

function usesOf(engine: Engine, fundId: string): ReadonlyMap<string, unknown> {
  const symbols = engine.lines().flatMap(({ fund_id, symbol }) => (fund_id === fundId ? [symbol] : []));
  const rows = engine.read((state) =>
    inOrder([...unusedLimits(state, fundId, at), ...exposureUse(state, fundId, symbols, at)]),
  );
  return new Map(rows.map((row) => [`${row.limit} ${row.scope}`, row]));
}

function preview(engine: Engine, proposal: Proposal, touched: (engine: Engine) => Touched): readonly PreviewedFund[] {
  const { funds } = touched(engine);
  const ids = funds.map(({ fundId }) => fundId);
  const both = engine.read((state) => previewed(state, ids, reference, proposal));
  return funds.map((fund) => told(both, fund, at));
}

function told(both: Previewed, fund: TouchedFund, now: Instant): PreviewedFund {
  const headroom = fund.symbols.flatMap((symbol) => previewRooms(both, fund.fundId, symbol, now));
  return { ...previewFund(both, fund, now), headroom };
}

const ofKind =
  (kind: ReferenceKind, after: ReferenceContents) =>
  (engine: Engine): Touched =>
    engine.read((state) => touchedBy(state, { kind, before: reference, after }));
const ofAlpha = (engine: Engine): Touched => ({
  funds: [engine.read((state) => wholeFund(state, "alpha"))],
  more: false,
});

function room(funds: readonly PreviewedFund[], fundId: string, symbol: string, side = "BUY") {
  return funds
    .find((one) => one.fund_id === fundId)
    ?.headroom.find((one) => one.symbol === symbol && one.side === side);
}

/** Positions and open orders on both sides. */
function busy(seed: number): Engine {
  const random = prng(seed);
  const engine = engineFixture({ strict_sides: false });
  const symbols = ["AAPL", "MSFT", "XOM", "SAP", "SPY"];
  for (const symbol of symbols) if (random.below(3) > 0) hold(engine, "alpha", symbol, String(1 + random.below(200)));
  for (let n = 0; n < 6; n += 1) {
    const side = random.below(2) === 0 ? "BUY" : "SELL_SHORT";
    const symbol = symbols[random.below(symbols.length)] ?? "AAPL";
    engine.check(orderOf(`o-${n}`, { symbol, side, quantity: String(1 + random.below(60)) }), moment(n));
  }
  return engine;
}

const withSector = (symbol: string, sector: string): ReferenceContents => ({
  ...reference,
  instruments: reference.instruments.map((one) => (one.symbol === symbol ? { ...one, sector } : one)),
});
const restricting = (symbol: string): ReferenceContents => ({
  ...reference,
  restricted: [{ symbol, reason: "earnings" }],
});

describe("a dry run", () => {
  it.each(Array.from({ length: 2 }, (_unused, n) => 91_000 + n))(
    "1 and 4: seed %i: of a change of nothing says what is, twice, and the engine goes on as before",
    (seed) => {
      const [engine, twin] = [busy(seed), busy(seed)];
      const [alpha] = preview(engine, { contents: reference, envelope: undefined }, ofAlpha);
      const uses = usesOf(twin, "alpha");
      for (const { before, after } of alpha?.limits ?? []) {
        expect(after).toEqual(before);
        expect(before).toEqual(uses.get(`${before?.limit} ${before?.scope}`));
      }
      expect(alpha?.limits.length).toBe(uses.size);
      for (const { symbol, side, before, after } of alpha?.headroom ?? []) {
        expect(after).toEqual(before);
        const { quantity, notional, binding } = twin.headroom({ fundId: "alpha", symbol, side }, at);
        expect(before, `${side} ${symbol}`).toEqual({ quantity, notional, binding });
      }
      expect(engine.snapshot()).toEqual(twin.snapshot());
      expect(engine.facts()).toEqual(twin.facts());
    },
  );

  it.each(Array.from({ length: 2 }, (_unused, n) => 92_000 + n))(
    "2: seed %i: says what the engine says once the change is made",
    (seed) => {
      const random = prng(seed);
      const envelope = compileEnvelope(
        envelopeRecord("alpha", {
          version: 2,
          strict_sides: false,
          max_position_pct: (1 + random.below(30)) / 100,
          max_gross_exposure_pct: (1 + random.below(200)) / 100,
          sector_limits_pct: { energy: 0.1 },
        }),
      );
      const rates = [{ base: "EUR", quote: "USD", rate: `1.${10 + random.below(3)}`, as_of: format(moment(500)) }];
      const contents = random.below(2) === 0 ? withSector("XOM", "technology") : { ...reference, fx: rates };
      const engine = busy(seed);
      const [alpha] = preview(engine, { contents, envelope }, ofAlpha);
      engine.setReference(contents);
      engine.setEnvelope(envelope);
      const uses = usesOf(engine, "alpha");
      for (const { after } of alpha?.limits ?? [])
        if (after !== undefined) expect(after).toEqual(uses.get(`${after.limit} ${after.scope}`));
      for (const { symbol, side, after } of alpha?.headroom ?? []) {
        const { quantity, notional, binding } = engine.headroom({ fundId: "alpha", symbol, side }, at);
        expect(after, `${side} ${symbol}`).toEqual({ quantity, notional, binding });
      }
    },
  );

  it("3: counts as if no halt, block or old price stood, and the restricted list stops it all the same", () => {
    const open = engineFixture();
    const proposal = { contents: restricting("AAPL"), envelope: undefined };
    const expected = room(preview(open, proposal, ofKind("restricted", proposal.contents)), "alpha", "AAPL");
    expect(expected?.before?.quantity).not.toBe("0");
    expect(expected?.after).toEqual({ quantity: "0", notional: "0", binding: "SYMBOL_RESTRICTED" });
    const halted = engineFixture();
    halted.setHalts({ known: false, epoch: 1, active: [] });
    stand(halted, { code: "DISK_LOW", reason: "full" });
    const held = { block_id: "b-1", cause: "FILLS_HELD", fund_id: "alpha", reason: "held" } as const;
    halted.acceptance.open({ ...held, at: format(moment(0)) });
    const late = plusMilliseconds(at, 3_600_000);
    const { funds } = ofKind("restricted", proposal.contents)(halted);
    const both = halted.read((state) =>
      previewed(
        state,
        funds.map(({ fundId }) => fundId),
        reference,
        proposal,
      ),
    );
    const later = funds.map((fund) => told(both, fund, late));
    expect(room(later, "alpha", "AAPL")).toEqual(expected);
  });

  it("3: counts money where what it does not hold has no price", () => {
    const engine = engineFixture();
    const next = { ...reference.instruments[0], symbol: "NEW", name: "New", sector: "energy" };
    const contents = { ...reference, instruments: [...reference.instruments, next] } as ReferenceContents;
    const funds = preview(engine, { contents, envelope: undefined }, ofKind("instruments", contents));
    const { before, after } = room(funds, "alpha", "NEW") ?? {};
    expect(before).toMatchObject({ binding: "SCHEMA_SYMBOL_UNKNOWN" });
    expect(after).not.toHaveProperty("quantity");
    expect(Number(after?.notional)).toBeGreaterThan(100_000);
  });

  it("2: says of a fund's first limits what the engine says once they are made", () => {
    const fresh = { ...reference.funds[0], fund_id: "fresh" };
    const contents = { ...reference, funds: [...reference.funds, fresh] } as ReferenceContents;
    const engine = engineFixture();
    engine.setReference(contents);
    engine.setNav({ fund_id: "fresh", nav: "1000000", currency: "USD", as_of: format(moment(0)) });
    const envelope = compileEnvelope(envelopeRecord("fresh"));
    const touched = engine.read((state) => wholeFund(state, "fresh"));
    const both = engine.read((state) => previewed(state, ["fresh"], contents, { contents, envelope }));
    const alone = told(both, touched, at);
    const { before, after } = room([alone], "fresh", "AAPL") ?? {};
    expect(before).toEqual({ quantity: "0", notional: "0", binding: "ENVELOPE_MISSING" });
    engine.setEnvelope(envelope);
    const { quantity, notional, binding } = engine.headroom({ fundId: "fresh", symbol: "AAPL", side: "BUY" }, at);
    expect(after).toEqual({ quantity, notional, binding });
    expect(Number(quantity)).toBeGreaterThan(0);
    expect(alone.limits.filter((limit) => limit.before === undefined).length).toBeGreaterThan(0);
  });

  it("names those first that hold what changes, and at most twenty funds", () => {
    const engine = engineFixture();
    hold(engine, "beta", "XOM", "10");
    const { funds } = ofKind("instruments", withSector("XOM", "oil"))(engine);
    expect(funds[0]).toMatchObject({ fundId: "beta", symbols: ["XOM"] });
    expect(funds).toHaveLength(3);
    const rates = { ...reference, fx: [{ base: "EUR", quote: "GBP", rate: "0.8", as_of: format(moment(0)) }] };
    expect(ofKind("fx", rates)(engine).funds.map(({ fundId }) => fundId)).toEqual(["alpha", "beta", "gamma"]);
    for (let n = 0; n < 30; n += 1) engine.setEnvelope(compileEnvelope(envelopeRecord(`fund-${n}`)));
    const many = Array.from({ length: 30 }, (_unused, n) => ({ ...reference.funds[0], fund_id: `fund-${n}` }));
    const after = { ...reference, funds: [...reference.funds, ...many] } as ReferenceContents;
    const touched = ofKind("funds", after)(engine);
    expect([touched.funds.length, touched.more]).toEqual([20, true]);
  });
});
