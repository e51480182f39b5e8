// Records what a day lacks, from the steps that the audit log has; the lives of its orders as a whole, so that nothing names an order that was not reported.
import type { FilingRegime } from "../../../core/filings/regime.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import { breathe } from "../../shared/waiting.ts";
import type { FilingParts } from "./filing-parts.ts";
import type { LoggedOrder } from "./logged-day.ts";
import { parentOf, type Reconciliation } from "./reconcile.ts";
import { recordLife } from "./record-life.ts";

export async function repairDay(
  parts: FilingParts,
  { regime, fundId }: { readonly regime: FilingRegime; readonly fundId: string },
  found: Pick<Reconciliation, "orders" | "incomplete">,
): Promise<readonly FilingRecord[]> {
  const { ports, sha256 } = parts;
  const fund = ports.settings.filings?.funds[fundId] ?? {};
  if (!regime.isEnabled(fund)) return [];
  const { funds } = await ports.referenceData.read();
  const mode = funds.find((one) => one.fund_id === fundId)?.mode ?? "PAPER";
  const made: FilingRecord[] = [];
  const record = ({ orderId, source, steps, pending }: LoggedOrder): Promise<readonly FilingRecord[]> =>
    parts.inTurn(() =>
      ports.store.transact("filings.repair", async (unit) => {
        for (const step of steps) {
          const parentOrderId = step.kind === "moved" ? step.parentOrderId : undefined;
          const kept = { fundId, orderId, source, step, ...(parentOrderId !== undefined && { parentOrderId }) };
          if (!pending.has(step.id)) await unit.filingSteps.keep(kept);
        }
        const given = { regime, fund, mode, switches: undefined, now: ports.clock.now(), sha256 };
        return recordLife(unit, fundId, orderId, given);
      }),
    );
  // A whole comes before its parts.
  const wholes = new Set([...found.incomplete].flatMap((id) => parentOf(found.orders.get(id)) ?? []));
  for (const orderId of new Set([...wholes, ...found.incomplete])) {
    const order = found.orders.get(orderId);
    if (order === undefined) continue;
    made.push(...(await record(order)));
    await breathe(ports.timers);
  }
  return made;
}
