// Writes down since when a fund is enabled for a regulator, and that it is not any more: an order that began before that is left out whole.
import { format } from "../../../contracts/src/instant.ts";
import type { FundFilings } from "../../../contracts/src/records/filing.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { enabledRegimes } from "../../../core/filings/index.ts";
import type { FilingSwitch } from "../../../ports/filing-steps.ts";
import type { ServicePorts } from "../../shared/service.ts";

type SwitchedOn = Pick<FilingSwitch, "fundId" | "regime">;

/** Of the funds that are enabled in the configuration, each for its regimes. Whether any was enabled before. */
export async function noteSwitches(
  { store, clock }: Pick<ServicePorts, "store" | "clock">,
  enabled: readonly SwitchedOn[],
): Promise<{ readonly wasEnabled: boolean }> {
  const before = await store.transact("filings.look", (unit) => unit.filingSteps.switches(), { isOneStatement: true });
  const on = before.filter(({ isEnabled }) => isEnabled);
  const at = clock.now();
  const changes: readonly FilingSwitch[] = [
    ...without(enabled, on).map(({ regime, fundId }) => ({ regime, fundId, isEnabled: true, at })),
    ...without(on, enabled).map(({ regime, fundId }) => ({ regime, fundId, isEnabled: false, at })),
  ];
  for (const change of changes) {
    await store.transact("filings.switch", async (unit) => {
      await unit.filingSteps.switchTo(change);
      const { regime, fundId: fund_id, isEnabled } = change;
      await unit.events.publish(subjects.filingSwitched, { regime, fund_id, enabled: isEnabled, at: format(at) });
    });
  }
  return { wasEnabled: on.length > 0 };
}

/** What the configuration says of a fund, where that is something else than before. */
export async function noteSettings(
  { store, clock }: Pick<ServicePorts, "store" | "clock">,
  funds: Readonly<Record<string, FundFilings>>,
): Promise<void> {
  for (const [fundId, settings] of Object.entries(funds)) {
    if (enabledRegimes(settings).length === 0) continue;
    await store.transact("filings.settings", async (unit) => {
      const [newest] = await unit.filingSteps.settingsOf(fundId, 1);
      if (JSON.stringify(newest?.settings) === JSON.stringify(settings)) return;
      await unit.filingSteps.keepSettings({ fundId, at: clock.now(), settings });
    });
  }
}

function without(those: readonly SwitchedOn[], others: readonly SwitchedOn[]): readonly SwitchedOn[] {
  const isAmong = (one: SwitchedOn) =>
    others.some((other) => other.fundId === one.fundId && other.regime === one.regime);
  return those.filter((one) => !isAmong(one));
}
