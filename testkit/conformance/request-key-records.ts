// The suite that every store passes with requests under idempotency keys: ports/request-keys.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { KeyedRequest, RequestKey } from "../../ports/request-keys.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import { rejection } from "./waiting.ts";

export interface RequestKeyFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const at = (second: number) => fromMicroseconds(1_700_000_000_000_000 + second * 1_000_000);
const bytes = (...given: readonly number[]) => Uint8Array.from(given);

function request(second: number, more: Partial<KeyedRequest> = {}): KeyedRequest {
  return { bodyHash: "ab", holder: "one", begunAt: at(second), state: "begun", answer: bytes(), ...more };
}

export function requestKeyConformance(name: string, open: () => Promise<RequestKeyFixture>): void {
  const withStore = async (
    run: (doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>) => Promise<void>,
  ) => {
    const { store, close } = await open();
    try {
      await run((work) => store.transact("conformance.keys", work));
    } finally {
      await close();
    }
  };
  const key = (text: string, more: Partial<RequestKey> = {}): RequestKey => ({
    caller: `${name} caller`,
    place: "Oms/SubmitOrder /v1/oms/orders",
    key: text,
    ...more,
  });

  it(`request keys, ${name}: come back byte for byte, apart by caller, place and key, and a failed unit leaves nothing`, () =>
    withStore(async (doing) => {
      const [mine, anothers, elsewhere] = [key("k"), key("k", { caller: "another\u0000" }), key("k", { place: "p" })];
      const kept = request(2, { state: "kept", answer: bytes(0, 255, 1, 0), holder: "two" });
      await doing((unit) => unit.requestKeys.put(mine, request(1)));
      await doing((unit) => unit.requestKeys.put(anothers, request(3, { state: "unkept", answer: bytes(7) })));
      expect(await doing((unit) => unit.requestKeys.lock(mine))).toEqual(request(1));
      expect(await doing((unit) => unit.requestKeys.lock(elsewhere))).toBeUndefined();
      await doing((unit) => unit.requestKeys.put(mine, kept));
      const failing = doing(async (unit) => {
        await unit.requestKeys.remove(mine);
        expect(await unit.requestKeys.lock(mine)).toBeUndefined();
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      expect(await doing((unit) => unit.requestKeys.lock(mine))).toEqual(kept);
      expect(await doing((unit) => unit.requestKeys.lock(anothers))).toMatchObject({ state: "unkept" });
      await doing((unit) => unit.requestKeys.remove(mine));
      expect(await doing((unit) => unit.requestKeys.lock(mine))).toBeUndefined();
    }));

  it(`request keys, ${name}: of two that begin at the same time one finds the other's`, () =>
    withStore(async (doing) => {
      const begin = (holder: string) =>
        doing(async ({ requestKeys }) => {
          const before = await requestKeys.lock(key("race"));
          if (before === undefined) await requestKeys.put(key("race"), request(1, { holder }));
          return before?.holder ?? holder;
        });
      const holders = await Promise.all(["a", "b", "c", "d"].map(begin));
      expect(new Set(holders).size).toBe(1);
    }));

  it(`request keys, ${name}: are counted by caller, and the oldest are trimmed, some at a time`, () =>
    withStore(async (doing) => {
      const caller = `${name} counted`;
      for (const n of [1, 2, 3, 4]) {
        await doing((unit) => unit.requestKeys.put(key(`k${n}`, { caller }), request(-n)));
      }
      const many = (count: number) => doing((unit) => unit.requestKeys.hasMany(caller, count));
      expect([await many(1), await many(4), await many(5)]).toEqual([true, true, false]);
      await doing((unit) => unit.requestKeys.trim(at(-2), 1));
      expect(await doing((unit) => unit.requestKeys.lock(key("k4", { caller })))).toBeUndefined();
      expect(await many(3)).toBe(true);
      await doing((unit) => unit.requestKeys.trim(at(-2), 10));
      expect([await many(2), await many(3)]).toEqual([true, false]);
    }));
}
