// Values every paper fund once a second and publishes it, when every price in it is fresh. The numbering of a fund's values goes on
// from the newest one that the risk engine kept: it may repeat a number after a restart or a lost answer, it never skips one.
import { subjects } from "../../contracts/src/subjects.ts";
import type { ServicePorts } from "../service.ts";
import type { ReferenceView } from "./reference-view.ts";
import { type Holding, navRecord, type Price, type Valuation, valueFund } from "./valuation.ts";

/** A value made of older prices than this is not told. */
export const priceAgeMsMax = 10_000;

export type ValuePorts = Pick<ServicePorts, "clock" | "log" | "store" | "riskStore" | "settings">;

export interface Valuer {
  /** Values and publishes once. */
  publish(view: ReferenceView, prices: ReadonlyMap<string, Price>): Promise<void>;
  /** The newest value of a fund that was published from here. */
  newest(fundId: string): Valuation | undefined;
}

export async function createValuer(ports: ValuePorts): Promise<Valuer> {
  const sequences = new Map<string, number>();
  for (const { fund_id, sequence } of await ports.riskStore.navs()) sequences.set(fund_id, sequence ?? 0);
  const newest = new Map<string, Valuation>();
  /** Why a fund has no value at present, so that it is said once and not every second. */
  const complaints = new Map<string, string>();

  function report(fundId: string, value: Valuation | string): void {
    if (typeof value === "string") {
      if (!complaints.has(fundId)) ports.log.warn("a fund cannot be valued", { fund_id: fundId, why: value });
      complaints.set(fundId, value);
    } else if (complaints.delete(fundId)) {
      ports.log.info("the fund is valued again", { fund_id: fundId });
    }
  }

  async function publish(view: ReferenceView, prices: ReadonlyMap<string, Price>): Promise<void> {
    const values = await ports.store.transact("treasury.value", async (unit) => {
      const at = ports.clock.now();
      const holdings = byFund(await unit.treasury.holdings());
      const valued: (readonly [string, Valuation | string])[] = [];
      for (const [fundId, held] of holdings) {
        const fund = view.funds.get(fundId);
        // A fund of which nothing is held here is somebody else's to value.
        if (fund === undefined || fund.mode !== "PAPER") continue;
        const { fxAgeMsMax } = ports.settings.risk;
        const value = valueFund({ fund, holdings: held, view, prices, priceAgeMsMax, fxAgeMsMax, at });
        valued.push([fundId, value]);
        if (typeof value === "string") continue;
        await unit.events.publish(subjects.navUpdated, navRecord(value, (sequences.get(fundId) ?? 0) + 1));
      }
      return valued;
    });
    for (const [fundId, value] of values) {
      report(fundId, value);
      if (typeof value === "string") continue;
      sequences.set(fundId, (sequences.get(fundId) ?? 0) + 1);
      newest.set(fundId, value);
    }
  }

  return { publish, newest: (fundId) => newest.get(fundId) };
}

function byFund(holdings: readonly (Holding & { readonly fundId: string })[]): ReadonlyMap<string, readonly Holding[]> {
  const found = new Map<string, Holding[]>();
  for (const holding of holdings) {
    const of = found.get(holding.fundId);
    if (of === undefined) found.set(holding.fundId, [holding]);
    else of.push(holding);
  }
  return found;
}
