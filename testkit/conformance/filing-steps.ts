// The suite that every store passes with steps of orders for a regulator: ports/filing-steps.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { KeptStep } from "../../ports/filing-steps.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";

export interface FilingStepsFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const at = (microseconds: number) => fromMicroseconds(1_794_744_000_000_000 + microseconds);

function stepOf(orderId: string, id: string, when: number, differs: Partial<KeptStep> = {}): KeptStep {
  return { fundId: "alpha", orderId, source: "oms", step: { kind: "filled", id, at: at(when) }, ...differs };
}

export function filingStepConformance(name: string, open: () => Promise<FilingStepsFixture>): void {
  const withStore = async (
    run: (doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>) => Promise<void>,
  ) => {
    const { store, close } = await open();
    try {
      await run((work) => store.transact("conformance.filing-steps", work));
    } finally {
      await close();
    }
  };

  it(`filing steps, ${name}: 1, 2: each is kept once, and they come in the order of their times`, () =>
    withStore(async (doing) => {
      const [late, early] = [stepOf("o", "a", 9), stepOf("o", "b", 1)];
      const part = stepOf("p", "c", 5, { parentOrderId: "o" });
      await doing((unit) => unit.filingSteps.keep(late));
      await doing((unit) => unit.filingSteps.keep(early));
      await doing((unit) => unit.filingSteps.keep({ ...late, source: "other" }));
      await doing((unit) => unit.filingSteps.keep(part));
      expect(await doing((unit) => unit.filingSteps.ofOrder("alpha", "o", 10))).toEqual([early, late]);
      expect(await doing((unit) => unit.filingSteps.ofOrder("alpha", "o", 1))).toEqual([early]);
      expect(await doing((unit) => unit.filingSteps.ofOrder("beta", "o", 10))).toEqual([]);
      expect(await doing((unit) => unit.filingSteps.ofOrder("alpha", "p", 10))).toEqual([part]);
      expect(await doing((unit) => unit.filingSteps.partsOf("alpha", "o", 10))).toEqual(["p"]);
    }));

  it(`filing steps, ${name}: 3: the newest switch of a fund counts`, () =>
    withStore(async (doing) => {
      const on = { regime: "CAT" as const, fundId: "alpha", isEnabled: true, at: at(1) };
      const [off, other] = [
        { ...on, isEnabled: false, at: at(2) },
        { ...on, fundId: "beta", at: at(0) },
      ];
      for (const one of [off, other, on]) await doing((unit) => unit.filingSteps.switchTo(one));
      expect(await doing((unit) => unit.filingSteps.switches())).toEqual([off, other]);
      expect(await doing((unit) => unit.filingSteps.switchesOf("CAT", "alpha", 9))).toEqual([on, off]);
      expect(await doing((unit) => unit.filingSteps.switchesOf("CAT", "alpha", 1))).toEqual([off]);
      expect(await doing((unit) => unit.filingSteps.switchesOf("CAT", "gamma", 9))).toEqual([]);
    }));

  it(`filing steps, ${name}: 3: settings are kept since when they were in force`, () =>
    withStore(async (doing) => {
      const cat = { fdid: "F", accountHolderType: "A", deptType: "A", destinations: {} };
      const [first, second, other] = [
        { fundId: "alpha", at: at(1), settings: { cat } },
        { fundId: "alpha", at: at(2), settings: { cat: { ...cat, imid: "ABCD" } } },
        { fundId: "beta", at: at(3), settings: {} },
      ];
      for (const one of [second, first, other]) await doing((unit) => unit.filingSteps.keepSettings(one));
      expect(await doing((unit) => unit.filingSteps.settingsOf("alpha", 9))).toEqual([first, second]);
      expect(await doing((unit) => unit.filingSteps.settingsOf("alpha", 1))).toEqual([second]);
    }));
}
