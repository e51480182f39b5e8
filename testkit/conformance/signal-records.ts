// The suite that every store passes with the alerts of a charting platform: ports/signal-records.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { StoredSignal } from "../../ports/signal-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import { rejection } from "./waiting.ts";

export interface SignalFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const at = (second: number) => fromMicroseconds(1_700_000_000_000_000 + second * 1_000_000);

export function exampleSignal(signalId: string, receipt: number, more: Partial<StoredSignal> = {}): StoredSignal {
  return {
    signalId,
    receipt,
    source: "tradingview",
    status: "ACCEPTED",
    httpStatus: 202,
    receivedAt: at(receipt),
    answerMs: 12.5,
    remoteAddress: "52.89.214.238",
    fundId: "alpha",
    alertAt: at(receipt - 1),
    strategyId: "alpha-momentum",
    symbolSent: "NASDAQ:AAPL",
    symbol: "AAPL",
    side: "BUY",
    quantity: "10",
    idempotencyKey: `key of ${signalId}`,
    warnings: ["NO_ALERT_TIME"],
    body: { symbol: "NASDAQ:AAPL", thesis: "zero \u0000 and half \ud800", deep: [{ n: 1 }] },
    accepted: {
      orderId: `tv-${signalId}`,
      order: {
        order_id: `tv-${signalId}`,
        idempotency_key: `tv-of-${signalId}`,
        fund_id: "alpha",
        strategy_id: "alpha-momentum",
        symbol: "AAPL",
        side: "BUY",
        quantity: "10",
        order_type: "MARKET",
        tif: "DAY",
        asset_class: "EQUITY",
        actor: "webhook:tradingview",
      },
      bodyHash: "ab",
      keyUntil: at(receipt + 300),
    },
    ...more,
  };
}

export function signalConformance(name: string, open: () => Promise<SignalFixture>): void {
  const withStore = async (
    run: (doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>) => Promise<void>,
  ) => {
    const { store, close } = await open();
    try {
      await run((work) => store.transact("conformance.signals", work));
    } finally {
      await close();
    }
  };

  it(`signals, ${name}: come back as they were, are changed, and a failed unit leaves nothing`, () =>
    withStore(async (doing) => {
      const [one, stranger] = [
        exampleSignal("s-1", 1),
        exampleSignal("s-2", 1, { status: "REFUSED", httpStatus: 401 }),
      ];
      const { fundId: _fundId, accepted: _accepted, body: _body, ...refused } = stranger;
      await doing((unit) => unit.signals.insertSignal(one));
      await doing((unit) => unit.signals.insertSignal(refused));
      expect(await doing((unit) => unit.signals.signal("s-1"))).toEqual(one);
      expect(await doing((unit) => unit.signals.signal("s-2"))).toEqual(refused);
      expect(await doing((unit) => unit.signals.signal("s-3"))).toBeUndefined();
      const again = doing((unit) => unit.signals.insertSignal(one));
      expect(await rejection(again, "an id that is taken")).toMatchObject({ code: "STORE_CONFLICT" });
      const failed: StoredSignal = { ...one, status: "FAILED", code: "WEBHOOK_ALERT_TOO_OLD", detail: "It is old." };
      const failing = doing(async (unit) => {
        await unit.signals.updateSignal(failed);
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      expect(await doing((unit) => unit.signals.waitingSignals("alpha"))).toEqual([one]);
      await doing((unit) => unit.signals.updateSignal(failed));
      expect(await doing((unit) => unit.signals.lockSignal("s-1"))).toEqual(failed);
      expect(await doing((unit) => unit.signals.waitingSignals("alpha"))).toEqual([]);
    }));

  it(`signals, ${name}: are numbered by fund without gaps, also when many come at once`, () =>
    withStore(async (doing) => {
      const take = async (fundId: string) => doing((unit) => unit.signals.takeReceipt(fundId));
      const taken = await Promise.all(["alpha", "beta", "alpha", "", "alpha"].map(take));
      expect(taken.filter((_, n) => n % 2 === 0).sort()).toEqual([1, 2, 3]);
      expect([taken[1], taken[3]]).toEqual([1, 1]);
      const failing = doing(async (unit) => {
        expect(await unit.signals.takeReceipt("alpha")).toBe(4);
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      expect(await take("alpha")).toBe(4);
    }));

  it(`signals, ${name}: a key is held by fund and until its time, and by nobody who was refused`, () =>
    withStore(async (doing) => {
      const key = { idempotencyKey: "the\u0000key" };
      const refused = exampleSignal("s-9", 9, { ...key, status: "REFUSED" });
      const { accepted: _accepted, ...taken } = refused;
      await doing((unit) => unit.signals.insertSignal(exampleSignal("s-1", 1, key)));
      await doing((unit) => unit.signals.insertSignal(taken));
      const holder = async (fundId: string, second: number, text = key.idempotencyKey) =>
        (await doing((unit) => unit.signals.keyHolder(fundId, text, at(second))))?.signalId;
      expect(await holder("alpha", 301)).toBe("s-1");
      expect(await holder("alpha", 302)).toBeUndefined();
      expect(await holder("beta", 10)).toBeUndefined();
      expect(await holder("alpha", 10, "another")).toBeUndefined();
      await doing((unit) => unit.signals.insertSignal(exampleSignal("s-10", 10, key)));
      expect(await holder("alpha", 10)).toBe("s-10");
    }));

  it(`signals, ${name}: wait in order of receipt, and a strategy's newest is found`, () =>
    withStore(async (doing) => {
      const put = (signal: StoredSignal) => doing((unit) => unit.signals.insertSignal(signal));
      await put(exampleSignal("c", 10, { receivedAt: at(1) }));
      await put(exampleSignal("b", 9, { receivedAt: at(3) }));
      await put(exampleSignal("a", 2, { fundId: "beta", receivedAt: at(2), strategyId: "beta-one" }));
      await put(exampleSignal("d", 8, { receivedAt: at(2), status: "SUBMITTED" }));
      const { fundId: _fundId, ...stranger } = exampleSignal("e", 1, { receivedAt: at(9), status: "REFUSED" });
      await put(stranger);
      const waiting = async (fundId: string) =>
        (await doing((unit) => unit.signals.waitingSignals(fundId))).map(({ signalId }) => signalId);
      expect(await waiting("alpha")).toEqual(["b", "c"]);
      expect(await waiting("beta")).toEqual(["a"]);
      expect(await doing((unit) => unit.signals.waitingLanes())).toEqual([
        { fundId: "alpha", symbol: "AAPL" },
        { fundId: "beta", symbol: "AAPL" },
      ]);
      const next = async (fundId: string, symbol: string) =>
        (await doing((unit) => unit.signals.nextSignal({ fundId, symbol })))?.signalId;
      expect([await next("alpha", "AAPL"), await next("alpha", "MSFT")]).toEqual(["b", undefined]);
      const newest = async (strategyId: string) =>
        (await doing((unit) => unit.signals.newestSignal(strategyId)))?.signalId;
      expect(await newest("alpha-momentum")).toBe("b");
      expect(await newest("nobody")).toBeUndefined();
    }));

  it(`signals, ${name}: are forgotten when they are old, oldest first, unless they wait or their key is taken`, () =>
    withStore(async (doing) => {
      const put = (signal: StoredSignal) => doing((unit) => unit.signals.insertSignal(signal));
      const ended = { status: "SUBMITTED" } as const;
      await put(exampleSignal("waits", 1));
      await put(exampleSignal("holds", 2, { ...ended, receivedAt: at(2) }));
      await put(exampleSignal("young", 3, { ...ended, receivedAt: at(500) }));
      const { accepted, ...refused } = exampleSignal("refused", 4, { status: "REFUSED", receivedAt: at(4) });
      await put(refused);
      const freed = accepted === undefined ? {} : { accepted: { ...accepted, keyUntil: at(200) } };
      await put(exampleSignal("failed", 5, { status: "FAILED", receivedAt: at(3), ...freed }));
      const { fundId: _fundId, accepted: _accepted, ...stranger } = exampleSignal("stranger", 6, { status: "REFUSED" });
      await put(stranger);
      const trim = (second: number, countMax: number) =>
        doing((unit) => unit.signals.trimSignals(at(second), countMax));
      const kept = async () => {
        const ids = ["waits", "holds", "young", "refused", "failed", "stranger"];
        const found = await doing(async (unit) => Promise.all(ids.map((id) => unit.signals.signal(id))));
        return found.flatMap((signal) => (signal === undefined ? [] : [signal.signalId]));
      };
      expect(await trim(250, 1)).toBe(1);
      expect(await kept()).toEqual(["waits", "holds", "young", "refused", "stranger"]);
      expect(await trim(250, 10)).toBe(2);
      expect(await kept()).toEqual(["waits", "holds", "young"]);
      expect(await trim(302, 10)).toBe(0);
      expect(await trim(303, 10)).toBe(1);
      expect(await kept()).toEqual(["waits", "young"]);
    }));
}
