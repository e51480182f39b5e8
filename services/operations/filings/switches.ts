// Writes down since when a fund is enabled for a regulator, and that it is not any more: an order that began before that is left out whole.
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { FilingSwitch } from "../../../ports/filing-steps.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { regime } from "./filing-parts.ts";

/** Of the funds that are enabled in the configuration. Whether any was enabled before. */
export async function noteSwitches(
  { store, clock }: Pick<ServicePorts, "store" | "clock">,
  enabled: readonly string[],
): Promise<{ readonly wasEnabled: boolean }> {
  const before = await store.transact("filings.look", (unit) => unit.filingSteps.switches(), { isOneStatement: true });
  const on = before.filter(({ isEnabled }) => isEnabled).map(({ fundId }) => fundId);
  const at = clock.now();
  const changes: readonly FilingSwitch[] = [
    ...enabled.filter((fundId) => !on.includes(fundId)).map((fundId) => ({ regime, fundId, isEnabled: true, at })),
    ...on.filter((fundId) => !enabled.includes(fundId)).map((fundId) => ({ regime, fundId, isEnabled: false, at })),
  ];
  for (const change of changes) {
    await store.transact("filings.switch", async (unit) => {
      await unit.filingSteps.switchTo(change);
      const { fundId: fund_id, isEnabled } = change;
      await unit.events.publish(subjects.filingSwitched, { regime, fund_id, enabled: isEnabled, at: format(at) });
    });
  }
  return { wasEnabled: on.length > 0 };
}
