// A clock that is set back: what the engine knows ages from the step on, newer marks and values take its place, and no new risk is taken on dates
// that nobody knows.
import { describe, expect, it } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { format } from "../../contracts/src/instant.ts";
import { engineFixture, fillOf, markAll, moment, orderOf, valueAll } from "../../testkit/risk/engine-fixture.ts";
import type { Engine } from "../engine/engine.ts";

const hourMs = 3_600_000;
let count = 0;

function endOf(engine: Engine, atMs: number, more: Partial<Order> = {}): string {
  const { outcome, code } = engine.check(orderOf(`o-${++count}`, { quantity: "1", ...more }), moment(atMs));
  return outcome === "approved" ? outcome : (code ?? "");
}

function hold(engine: Engine, symbol: string): void {
  const held = orderOf(`held-${++count}`, { symbol, quantity: "10" });
  engine.applyFill(fillOf(held, "10"));
}

describe("23.10: a clock that is set back by an hour", () => {
  it("takes no new risk until it has caught up with the last decision, and lets exits pass", () => {
    const engine = engineFixture();
    hold(engine, "AAPL");
    expect(endOf(engine, 0)).toBe("approved");
    // Nothing is heard any more: the prices must not stay young for an hour.
    expect(endOf(engine, -hourMs)).toBe("REFERENCE_PRICE_STALE");
    markAll(engine, moment(-hourMs));
    valueAll(engine, moment(-hourMs));
    expect(endOf(engine, -hourMs + 1)).toBe("REFERENCE_PRICE_STALE");
    expect(endOf(engine, -hourMs + 2, { side: "SELL", reduce_only: true })).toBe("approved");
    markAll(engine, moment(-1_000));
    valueAll(engine, moment(-1_000));
    expect(endOf(engine, -1_000)).toBe("approved");
  });

  it("goes on at once where nothing was decided since, with the prices and values that come after the step", () => {
    const engine = engineFixture();
    engine.noteClock(moment(0));
    engine.noteClock(moment(-hourMs));
    markAll(engine, moment(-hourMs + 1));
    valueAll(engine, moment(-hourMs + 1), "1");
    expect(endOf(engine, -hourMs + 1)).toBe("POSITION_LIMIT_EXCEEDED");
    valueAll(engine, moment(-hourMs + 2));
    expect(endOf(engine, -hourMs + 2)).toBe("approved");
  });

  it("does not make a price young for an hour: without another one it is too old after its time", () => {
    const engine = engineFixture();
    engine.noteClock(moment(0));
    engine.noteClock(moment(-hourMs));
    expect(endOf(engine, -hourMs + 10_000)).toBe("approved");
    expect(endOf(engine, -hourMs + 10_001)).toBe("REFERENCE_PRICE_STALE");
    markAll(engine, moment(-hourMs + 60_000));
    expect(endOf(engine, -hourMs + 60_000)).toBe("approved");
    expect(endOf(engine, -hourMs + 60_001)).toBe("NAV_STALE");
  });

  it("does not hide a held name that fell silent after the step, also when the old time comes round again", () => {
    const engine = engineFixture();
    hold(engine, "XOM");
    engine.noteClock(moment(0));
    expect(endOf(engine, 1, { dry_run: true })).toBe("approved");
    engine.noteClock(moment(-hourMs));
    markAll(engine, moment(-hourMs + 1));
    engine.setMark({ symbol: "AAPL", price: "200", source: "test", at: format(moment(0)) });
    valueAll(engine, moment(0));
    expect(endOf(engine, 1)).toBe("MARK_STALE");
  });

  it("is no step when it is less than clocks may differ", () => {
    const engine = engineFixture();
    expect(endOf(engine, 0)).toBe("approved");
    expect(endOf(engine, -5_000)).toBe("approved");
  });
});
