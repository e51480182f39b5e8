// Raises an alarm when a strategy's alerts stop coming while its market is open: a chart that was closed, an alert that the charting platform stopped.
import { format, type Instant } from "../../../contracts/src/instant.ts";
import { silentMs } from "../../../core/webhook/silence.ts";
import { type Loop, startLoop } from "../../shared/loop.ts";
import type { OmsPorts } from "../oms-parts.ts";
import { alarm } from "../transitions.ts";
import type { SignalReference } from "./signal-reference.ts";
import { signalSettings } from "./signal-settings.ts";

const lookEveryMs = 5_000;

export function watchSilence(ports: OmsPorts, reference: () => Promise<SignalReference>): Loop {
  const { clock, store, settings } = ports;
  const heartbeats = Object.entries(signalSettings(settings).heartbeatsMs);
  const startedAt = clock.now();
  /** Since when each silent strategy was alarmed about. */
  const alarmed = new Map<string, Instant>();

  async function look(strategyId: string, silentMsMax: number): Promise<void> {
    const newest = await store.transact("oms.look", (unit) => unit.signals.newestSignal(strategyId));
    const last = newest?.receivedAt ?? startedAt;
    // The paper market trades around the clock unless it is configured to keep sessions.
    const keepsSessions = settings.market.sessions === "real" && newest?.symbol !== undefined;
    const calendar = keepsSessions ? (await reference()).calendar(newest.symbol) : undefined;
    const now = clock.now();
    if (silentMs(calendar, last, now) <= silentMsMax) return void alarmed.delete(strategyId);
    if (alarmed.get(strategyId) === last) return;
    const since = newest === undefined ? "since this process started" : `since ${format(last)}`;
    const sentence = `${strategyId} has sent no alert ${since}; one is expected every ${silentMsMax / 1_000} s while its market is open.`;
    await store.transact("oms.alarm", (unit) => alarm(unit, "SIGNAL_SILENT", strategyId, sentence, now));
    alarmed.set(strategyId, last);
  }

  async function run(): Promise<number> {
    for (const [strategyId, silentMsMax] of heartbeats) await look(strategyId, silentMsMax);
    return lookEveryMs;
  }

  const what = {
    failing: "the silence of strategies cannot be judged",
    working: "the silence of strategies can be judged again",
  };
  return startLoop({ ports, what, firstAfterMs: heartbeats.length === 0 ? undefined : lookEveryMs, run });
}
