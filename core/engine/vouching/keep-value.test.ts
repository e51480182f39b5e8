// What is kept beside a value, and what a restart makes of it. Numbers in the names are the invariants of keep-value.ts.
import { describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { RiskBlock } from "../../../contracts/src/records/block.ts";
import type { JudgedNav, NavUpdated } from "../../../contracts/src/records/fund.ts";
import {
  engineFixture,
  engineOptions,
  envelopeRecord,
  fillOf,
  hold,
  markOf,
  moment,
  orderOf,
  reference,
} from "../../../testkit/risk/engine-fixture.ts";
import { compileEnvelope } from "../../envelope/envelope.ts";
import { createEngine, type Engine } from "../engine.ts";

const options = { priceJumpMax: decimal.parse("0.25") };

const navOf = (nav: number, second: number, differs: Partial<NavUpdated> = {}): NavUpdated => ({
  fund_id: "alpha",
  nav: String(nav),
  currency: "USD",
  as_of: format(moment(second * 1_000)),
  ...differs,
});

/** Hears it as the shell does; gives how it was judged and what is kept. */
function hear(engine: Engine, nav: NavUpdated, isOwn = false) {
  const judged = engine.values.judge(nav, isOwn);
  const kept = engine.values.kept(nav, judged, isOwn);
  engine.values.take(nav, judged, isOwn);
  // As the store gives it back.
  return { judged, kept: JSON.parse(JSON.stringify(kept)) as JudgedNav };
}

/** Holds 2,000 AAPL at 200, and is worth a million. */
function holding(): Engine {
  const engine = engineFixture({}, options);
  engine.noteClock(moment(0));
  hold(engine, "alpha", "AAPL", "2000");
  return engine;
}

/** The same books, without prices; what the journal has of them besides is done by `again`. */
function restarted(kept: JudgedNav, again: (engine: Engine) => void = () => undefined): Engine {
  const engine = createEngine({ ...engineOptions, ...options });
  engine.setReference(reference);
  engine.setEnvelope(compileEnvelope(envelopeRecord("alpha")));
  engine.setHalts({ known: true, epoch: 1, active: [] });
  engine.noteClock(moment(10_000));
  hold(engine, "alpha", "AAPL", "2000");
  again(engine);
  engine.values.remember(kept);
  return engine;
}

function say(engine: Engine, second: number, changes: Readonly<Record<string, string>> = {}): void {
  engine.noteClock(moment(second * 1_000));
  for (const [symbol, price] of Object.entries({ AAPL: "200", XOM: "100", ...changes }))
    engine.setMark(markOf(symbol, price, moment(second * 1_000)));
}

/** How much of XOM the fund may buy: a fifth of what it counts as worth. */
const roomAt = (engine: Engine, second: number): number =>
  Number(engine.headroom({ fundId: "alpha", symbol: "XOM", side: "BUY" } as never, moment(second * 1_000)).quantity);

const sale = { ...fillOf(orderOf("lie", { side: "SELL", symbol: "MSFT" }), "1000"), price: "1400" };
const block: RiskBlock = {
  block_id: "b-1",
  cause: "FILL_OUTSIDE_COLLAR",
  fund_id: "alpha",
  symbol: "MSFT",
  reason: "nobody paid that",
  at: format(moment(1_000)),
  fill: { ...sale, is_exit: false },
};
function lie(engine: Engine): void {
  engine.applyFill(sale);
  engine.acceptance.open(block);
}

describe("1: a value that nobody vouches for", () => {
  it.each([[true], [false]])("counts after a restart at its lower end, as before it (our treasury's: %s)", (isOwn) => {
    const engine = holding();
    hear(engine, navOf(1_000_000, 1), isOwn);
    lie(engine);
    // Sold at 1,400 what is worth 400: a million that never was.
    const { judged, kept } = hear(engine, navOf(2_000_000, 2), isOwn);
    expect(judged.standing).toBe("EXPLAINED");
    say(engine, 2);
    const before = roomAt(engine, 2);
    const next = restarted(kept, lie);
    say(next, 10, { MSFT: "400" });
    expect(roomAt(next, 10)).toBe(before);
    expect(before).toBeGreaterThan(1_500);
    expect(before).toBeLessThan(2_000);
  });
});

describe("2: what a value is explained by", () => {
  it("goes on where it was: steps below the bound do not begin anew", () => {
    const engine = holding();
    hear(engine, navOf(1_000_000, 1));
    const { judged, kept } = hear(engine, navOf(1_040_000, 2));
    expect(judged.standing).toBe("VOUCHED");
    const next = restarted(kept);
    say(next, 10);
    expect(next.values.judge(navOf(1_080_000, 11), false).standing).toBe("UNEXPLAINED");
    expect(next.values.judge(navOf(1_040_000, 11), false).standing).toBe("VOUCHED");
  });

  it("is at the engine's own prices, whatever the value says itself", () => {
    const engine = holding();
    const prices = { AAPL: { quantity: "2000", price: "0.01", at: format(moment(1_000)) } };
    const { kept } = hear(engine, navOf(1_000_000, 1, { prices }));
    const next = restarted(kept);
    say(next, 10);
    expect(next.values.judge(navOf(1_400_000, 11), false).standing).toBe("UNEXPLAINED");
    expect(next.values.judge(navOf(1_000_000, 11), false).standing).toBe("VOUCHED");
  });

  it("has what an open fill made once, and nothing of it when that is taken back", () => {
    const engine = holding();
    hear(engine, navOf(1_000_000, 1));
    lie(engine);
    const { kept } = hear(engine, navOf(2_000_000, 2));
    const next = restarted(kept, lie);
    say(next, 10, { MSFT: "400" });
    expect(next.values.judge(navOf(2_000_000, 11), false).standing).toBe("EXPLAINED");
    expect(next.values.judge(navOf(1_000_000, 11), false).standing).toBe("EXPLAINED");
    expect(next.values.judge(navOf(2_200_000, 11), false).standing).toBe("UNEXPLAINED");
  });
});

describe("3: a price", () => {
  it.each([[true], [false]])("that jumped before the restart has jumped after it (our treasury's: %s)", (isOwn) => {
    const engine = holding();
    say(engine, 1);
    hear(engine, navOf(1_000_000, 1), isOwn);
    say(engine, 2, { AAPL: "1000" });
    const { judged, kept } = hear(engine, navOf(2_600_000, 3), isOwn);
    expect(judged.standing).toBe("EXPLAINED");
    const next = restarted(kept);
    say(next, 10, { AAPL: "1000" });
    const after = next.values.judge(navOf(2_600_000, 11), isOwn);
    expect([after.standing, decimal.format(after.counts)]).toEqual(["EXPLAINED", "1000000"]);
  });

  it("that moved no further than prices move is believed", () => {
    const engine = holding();
    say(engine, 1);
    const { kept } = hear(engine, navOf(1_000_000, 1), true);
    const next = restarted(kept);
    say(next, 10, { AAPL: "210" });
    expect(next.values.judge(navOf(1_020_000, 11), true).standing).toBe("VOUCHED");
  });
});

describe("4: what is vouched for after a restart", () => {
  it("is what was kept before judgements were, and what a person accepted since", () => {
    const { judged: _judged, ...earlier } = hear(holding(), navOf(1_000_000, 1)).kept;
    const upgraded = restarted(earlier);
    say(upgraded, 10);
    expect(upgraded.values.judge(navOf(1_000_000, 11), false).standing).toBe("VOUCHED");
    const engine = holding();
    hear(engine, navOf(1_000_000, 1));
    const { judged, kept } = hear(engine, navOf(3_000_000, 2));
    expect(judged.standing).toBe("UNEXPLAINED");
    const value = engine.values.shown(navOf(3_000_000, 2), judged);
    const asked = { block_id: "b-2", cause: "VALUE_UNEXPLAINED", fund_id: "alpha" } as const;
    const accepted = restarted(kept, (next) => {
      next.acceptance.open({ ...asked, reason: "more", at: format(moment(2_000)), value });
      next.acceptance.end({ ...asked, ended_by: "duty", reason: "true", at: format(moment(3_000)) });
    });
    say(accepted, 10);
    expect(accepted.values.judge(navOf(3_000_000, 11), false).standing).toBe("VOUCHED");
  });
});
