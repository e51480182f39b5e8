// What came of what a strategy said: when a signal's horizon is over, the return of its symbol is written beside it, and the skill of that moment is
// added to its day's.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, minusMilliseconds, plusMilliseconds } from "../../contracts/src/instant.ts";
import { type AppliedAction, pricesAfter } from "../../core/ledger/corporate-actions.ts";
import { informationCoefficient, momentsMax, type RealisedSignal } from "../../core/stats/information-coefficient.ts";
import type { Strategy } from "../../core/strategies/shape.ts";
import type { StoredSignal } from "../../ports/research-records.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { MarketView } from "./market-view.ts";

type RealisePorts = Pick<ServicePorts, "clock" | "store">;

const signalsMax = 500;
/** What could not be judged for this long stays without a return. */
const patienceMs = 2 * 3_600_000;
/** How long signals are kept; their skill is kept by the day for good. */
const keptMs = 7 * 86_400_000;
const forgottenAtOnceMax = 1_000;

/** Judges what is due; gives how many signals got their return. */
export async function realise(
  strategy: Strategy,
  ports: RealisePorts,
  market: MarketView,
  actions: readonly AppliedAction[] = [],
): Promise<number> {
  const now = ports.clock.now();
  const from = minusMilliseconds(now, patienceMs);
  const due = await ports.store.transact("research.look", (unit) =>
    unit.research.dueSignals(strategy.name, from, now, signalsMax),
  );
  const judged: StoredSignal[] = [];
  for (const signal of due) {
    // Its symbol may be called otherwise by now, and its price be one of before a split.
    const said = new Map([[signal.symbol, { price: signal.price, at: signal.at }]]);
    const until = plusMilliseconds(signal.at, signal.horizonS * 1_000);
    const [now] = pricesAfter(
      said,
      actions.filter(({ dividend }) => dividend === undefined || dividend.exAt <= until),
    );
    const [symbol, before] = [now?.[0] ?? signal.symbol, decimal.toNumber(now?.[1].price ?? signal.price)];
    const price = await market.priceAt(symbol, plusMilliseconds(signal.at, signal.horizonS * 1_000));
    if (price === undefined || !(before > 0)) continue;
    judged.push({ ...signal, realisedReturn: price / before - 1 });
  }
  if (judged.length === 0) return 0;
  const moments = [...new Set(judged.map(({ at }) => at))];
  await ports.store.transact("research.realised", async (unit) => {
    await unit.research.setRealised(judged);
    const wide = await unit.research.signals(
      strategy.name,
      (momentsMax + moments.length + 10) * strategy.signalled.length,
    );
    for (const at of moments) {
      const coefficient = informationCoefficient(strategy.signalled.length, momentsUntil(wide, at));
      if (coefficient !== null) await unit.research.addSkill(strategy.name, format(at).slice(0, 10), coefficient);
    }
    await unit.research.forgetSignals(minusMilliseconds(now, keptMs), forgottenAtOnceMax);
  });
  return judged.length;
}

/** Judged signals up to that moment, moment by moment, oldest first. */
function momentsUntil(signals: readonly StoredSignal[], until: Instant): readonly (readonly RealisedSignal[])[] {
  const byMoment = new Map<Instant, RealisedSignal[]>();
  for (const { at, symbol, value, realisedReturn } of [...signals].reverse()) {
    if (at > until || realisedReturn === undefined) continue;
    byMoment.set(at, [...(byMoment.get(at) ?? []), { symbol, value, realised: realisedReturn }]);
  }
  return [...byMoment.values()];
}
