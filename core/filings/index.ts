// The regimes, one line each.
import type { FundFilings, RegimeName } from "../../contracts/src/records/filing.ts";
import { cat } from "./cat/cat-regime.ts";
import { mifid } from "./mifid/mifid-regime.ts";
import { oats } from "./oats/oats-regime.ts";
import type { FilingRegime } from "./regime.ts";

export const regimes: readonly FilingRegime[] = [cat, oats, mifid];

export function regimeOf(name: RegimeName): FilingRegime {
  const found = regimes.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no regime ${name}`);
  return found;
}

/** Those that a fund is enabled for. */
export function enabledRegimes(fund: FundFilings | undefined): readonly FilingRegime[] {
  return fund === undefined ? [] : regimes.filter((regime) => regime.isEnabled(fund));
}
