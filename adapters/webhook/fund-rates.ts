// How often each fund may ask, exactly. Only funds that proved their secret are counted, so there are as many windows as such funds.
import { type RateWindow, rateWindow } from "../../core/webhook/rate-window.ts";
import type { Stopwatch } from "../../ports/stopwatch.ts";
import type { WebhookChecks } from "../../ports/webhook.ts";

/** Windows that matter no more go before there are more than this. */
const windowsMax = 1_024;

export function fundRates(perSecondMax: number, stopwatch: Stopwatch): Pick<WebhookChecks, "pass" | "peek"> {
  const windows = new Map<string, RateWindow>();
  const nowMs = (): number => stopwatch() / 1_000;

  function windowOf(fundId: string, now: number): RateWindow {
    const found = windows.get(fundId);
    if (found !== undefined) return found;
    if (windows.size >= windowsMax) {
      for (const [id, window] of windows) if (window.isIdle(now)) windows.delete(id);
    }
    const made = rateWindow(perSecondMax);
    windows.set(fundId, made);
    return made;
  }

  return {
    pass: (fundId) => {
      const now = nowMs();
      return windowOf(fundId, now).pass(now);
    },
    peek: (fundId) => windows.get(fundId)?.peek(nowMs()) ?? { passed: true },
  };
}
