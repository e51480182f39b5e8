// Exits of the platform against a client that asks for the same position again and again and sends nothing.
import { describe, expect, it } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import {
  engineFixture,
  engineOptions,
  hold,
  moment,
  orderOf,
  transitionOf,
} from "../../testkit/risk/engine-fixture.ts";
import { decisionMessage, inputsOf } from "../engine/decision.ts";
import type { Engine } from "../engine/engine.ts";
import { unpackViews } from "../engine/fast/view-bytes.ts";
import type { Asker } from "./waiting-exits.ts";

const platform: Asker = { actor: "service:oms", isPlatform: true };
const stranger: Asker = { actor: "service:stranger", isPlatform: false };
const exitOf = (id: string, more: Partial<Order> = {}): Order =>
  orderOf(id, { side: "SELL", quantity: "100", reduce_only: true, ...more });

/** As the shell does it twice a second: everything said of orders was heard. */
const sweep = (engine: Engine, ms: number): void => {
  engine.sweepUnsent(moment(ms), 0, 1_000);
};

/** Who is approved when, over so many milliseconds, with a stranger that asks every 50 ms and a platform that asks at these moments. */
function siege(engine: Engine, untilMs: number, exits: readonly number[], asked: (n: number) => Order) {
  const approved: { readonly by: string; readonly ms: number }[] = [];
  const codes: string[] = [];
  for (let ms = 0; ms <= untilMs; ms += 50) {
    if (ms % 500 === 0) sweep(engine, ms);
    const { outcome } = engine.check(asked(ms), moment(ms), stranger);
    if (outcome === "approved") approved.push({ by: "stranger", ms });
    if (!exits.includes(ms)) continue;
    const exit = engine.check(exitOf(`stop-${ms}`), moment(ms), platform);
    codes.push(exit.code);
    if (exit.outcome === "approved") approved.push({ by: "platform", ms });
  }
  return { approved, codes };
}

describe("S2: an exit of the platform and approvals that nobody sends", () => {
  it.each([
    ["new orders", (ms: number) => exitOf(`s-${ms}`)],
    ["one order, amended for ever", (ms: number) => exitOf("s", { idempotency_key: `s-${ms}`, actor: `s-${ms}` })],
    ["orders without the mark", (ms: number) => exitOf(`s-${ms}`, { reduce_only: undefined })],
    ["many small ones", (ms: number) => exitOf(`s-${ms}`, { quantity: "5" })],
  ])("passes as soon as what was there before it has run out, against %s (invariant 2)", (_what, asked) => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "100");
    const attempts = [1_000, 2_000, 4_000, 6_500, 8_000];
    const { approved, codes } = siege(engine, 8_000, attempts, asked);
    const exits = approved.filter(({ by }) => by === "platform").map(({ ms }) => ms);
    expect(codes[0]).toBe("SCHEMA_REDUCE_ONLY_UNPROVEN");
    expect(exits).toEqual([6_500]);
    // Invariant 1: from the exit's first question on nobody else was approved, and what was approved before could not be sent any more.
    const last = approved.filter(({ by }) => by === "stranger").at(-1)?.ms ?? 0;
    expect(last).toBeLessThanOrEqual(1_000);
    expect(last + engineOptions.approvalValidMs).toBeLessThan(6_500);
  });

  it("takes nothing from an approval that is sent within its time (invariant 1)", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "100");
    expect(engine.check(exitOf("s"), moment(0), stranger).outcome).toBe("approved");
    expect(engine.check(exitOf("stop-1"), moment(10), platform).outcome).toBe("denied");
    engine.applyTransition(transitionOf(exitOf("s"), "WORKING", { remaining_quantity: "100" }));
    sweep(engine, 20_000);
    const again = engine.check(exitOf("stop-2"), moment(20_000), platform);
    expect(again.code).toBe("SCHEMA_REDUCE_ONLY_UNPROVEN");
    expect(again.reason).toContain('what it needs is held by 100 of order "s" asked for by service:stranger (sent).');
  });

  it("says who holds what it needs, until when, and that it goes first; the other is told which exit waits", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "100");
    engine.check(exitOf("s"), moment(0), stranger);
    const { reason } = engine.check(exitOf("stop-1"), moment(10), platform);
    const until = instant.format(instant.plusMilliseconds(moment(0), engineOptions.approvalValidMs));
    expect(reason).toContain(
      `100 of order "s" asked for by service:stranger (not shown to be sent, valid until ${until})`,
    );
    expect(reason).toMatch(/it goes before everybody else .*\.$/);
    const other = engine.check(
      exitOf("t", { quantity: "1", order_id: "s", idempotency_key: "t" }),
      moment(20),
      stranger,
    );
    expect([other.gate, other.code]).toEqual(["short_side", "EXIT_HAS_PRIORITY"]);
    expect(decisionMessage(other, "d").reason).toContain('exit "stop-1" waits');
    expect(unpackViews(inputsOf(other))[0].view.exitWaits).toBe("stop-1");
    expect(engine.approval("s")).toMatchObject({ asked_by: "service:stranger" });
  });

  it("stands in nobody's way on the other side, in other symbols and funds, or once the position is gone (invariant 3)", () => {
    const engine = engineFixture();
    for (const symbol of ["AAPL", "MSFT"]) hold(engine, "alpha", symbol, "100");
    engine.check(exitOf("s"), moment(0), stranger);
    expect(engine.check(exitOf("stop-1"), moment(10), platform).outcome).toBe("denied");
    expect(engine.check(orderOf("buy", { quantity: "1" }), moment(20), stranger).code).toBe("");
    expect(engine.check(exitOf("m", { symbol: "MSFT" }), moment(20), stranger).code).toBe("");
    expect(
      engine.check(orderOf("b", { fund_id: "beta", strategy_id: "coins", quantity: "1" }), moment(20), stranger).code,
    ).toBe("");
    hold(engine, "alpha", "AAPL", "-100");
    expect(engine.check(orderOf("short", { side: "SELL_SHORT", quantity: "1" }), moment(30), stranger).code).toBe("");
  });

  it("is forgotten when nobody asks for it any more, when it passed, and when the check is taken back (invariant 3)", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "100");
    engine.check(exitOf("s", { quantity: "60" }), moment(0), stranger);
    const denied = engine.check(exitOf("stop-1"), moment(10), platform);
    const isOpen = (ms: number): string =>
      engine.check(exitOf(`p-${ms}`, { quantity: "1", dry_run: true }), moment(ms), stranger).code;
    expect(isOpen(20)).toBe("EXIT_HAS_PRIORITY");
    engine.withdraw(denied);
    expect(isOpen(30)).toBe("");
    engine.check(exitOf("stop-2"), moment(40), platform);
    const passed = engine.check(exitOf("stop-3", { quantity: "20" }), moment(50), platform);
    expect([passed.code, isOpen(60)]).toEqual(["", ""]);
    engine.withdraw(passed);
    expect(isOpen(70)).toBe("EXIT_HAS_PRIORITY");
    expect(isOpen(89_000)).toBe("EXIT_HAS_PRIORITY");
    expect(isOpen(91_000)).toBe("");
  });
});
