// Which broker a fund's alerts trade at: the one that the configuration names, else the only one that the fund's envelope allows.
import type { AlertRefusal } from "../../../core/webhook/judge-alert.ts";
import type { OmsPorts } from "../oms-parts.ts";
import { fundSettings, signalSettings } from "./signal-settings.ts";

export async function brokerOfFund(
  { settings, riskChecks }: Pick<OmsPorts, "settings" | "riskChecks">,
  fundId: string,
): Promise<{ readonly broker: string } | AlertRefusal> {
  const { broker } = fundSettings(signalSettings(settings), fundId);
  if (broker !== undefined) return { broker };
  const allowed = (await riskChecks.envelope(fundId))?.allowed_brokers ?? [];
  const [only] = allowed;
  if (only !== undefined && allowed.length === 1) return { broker: only };
  const found = allowed.length === 0 ? "no broker" : allowed.slice(0, 10).join(", ");
  const detail = `The envelope of ${fundId} allows ${found}: name one in tradingview.funds.${fundId}.broker.`;
  return { code: "WEBHOOK_BROKER_UNCLEAR", detail };
}
