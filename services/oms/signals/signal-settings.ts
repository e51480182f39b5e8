// What the configuration says about alerts, with what holds where it says nothing.
import { alertAgeSMax } from "../../../core/webhook/alert-order.ts";
import type { Settings, TradingViewFundSettings, TradingViewSettings } from "../../../ports/settings.ts";

/** Who sends them, as rows, records and orders name it. */
export const signalSource = "tradingview";
export const webhookActor = `webhook:${signalSource}`;

const standard: TradingViewSettings = {
  ageMsMax: alertAgeSMax * 1_000,
  requiresTime: false,
  liveFunds: [],
  funds: {},
  heartbeatsMs: {},
};

export function signalSettings({ tradingView }: Pick<Settings, "tradingView">): TradingViewSettings {
  return tradingView ?? standard;
}

export function fundSettings(settings: TradingViewSettings, fundId: string): TradingViewFundSettings {
  const own = Object.hasOwn(settings.funds, fundId) ? settings.funds[fundId] : undefined;
  return own ?? { symbols: {}, onMismatch: "flag" };
}
