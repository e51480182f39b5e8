// The suite that every store passes with since when things stand: ports/first-seen.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import { rejection } from "./waiting.ts";

export interface FirstSeenFixture {
  readonly store: Store;
  close(): Promise<void>;
}

export function firstSeenConformance(name: string, open: () => Promise<FirstSeenFixture>): void {
  it(`23.5: first seen, ${name}: what is known keeps its moment, kinds are apart, a failed unit leaves nothing`, async () => {
    const { store, close } = await open();
    const at = (second: number) => fromMicroseconds(1_700_000_000_000_000 + second * 1_000_000);
    const doing = <T>(work: (unit: UnitOfWork) => Promise<T>) => store.transact("conformance.seen", work);
    const all = async (kind: string) => [...(await doing((unit) => unit.firstSeen.all(kind)))];
    try {
      expect(await all("a")).toEqual([]);
      const odd = "alpha\u0000 \u{1f512} %";
      await doing((unit) =>
        unit.firstSeen.put(
          "a",
          new Map([
            ["z", at(2)],
            [odd, at(1)],
          ]),
        ),
      );
      await doing((unit) =>
        unit.firstSeen.put(
          "a",
          new Map([
            ["z", at(9)],
            ["y", at(3)],
          ]),
        ),
      );
      await doing((unit) => unit.firstSeen.put("b", new Map([["z", at(4)]])));
      expect(await all("a")).toEqual([
        [odd, at(1)],
        ["y", at(3)],
        ["z", at(2)],
      ]);
      const failing = doing(async (unit) => {
        await unit.firstSeen.put("a", new Map([["x", at(5)]]));
        await unit.firstSeen.remove("a", ["z"]);
        expect([...(await unit.firstSeen.all("a")).keys()]).toEqual([odd, "x", "y"]);
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      await doing((unit) => unit.firstSeen.remove("a", ["z", odd, "never"]));
      await doing((unit) => unit.firstSeen.put("a", new Map([["z", at(7)]])));
      expect(await all("a")).toEqual([
        ["y", at(3)],
        ["z", at(7)],
      ]);
      expect(await all("b")).toEqual([["z", at(4)]]);
    } finally {
      await close();
    }
  });
}
