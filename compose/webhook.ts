// What the gateway hands its charting webhook: which addresses, secrets and rates let an alert in, and how a secret is replaced.
import { systemStopwatch } from "../adapters/system/stopwatch.ts";
import { fundRates } from "../adapters/webhook/fund-rates.ts";
import { fundSecrets } from "../adapters/webhook/fund-secrets.ts";
import { webhookSecrets } from "../adapters/webhook/rotate-secret.ts";
import { sourceAddresses } from "../adapters/webhook/source-addresses.ts";
import type { WebhookParts } from "../edges/gateway/parts.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import type { Secrets } from "../ports/secrets.ts";
import type { Store } from "../ports/store.ts";
import type { PartInput } from "./shared.ts";

/** Alerts a second that one fund may send. */
const alertsPerSecondMax = 10;

export function webhookParts(
  { configuration }: PartInput,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  { store, secrets }: { readonly store: Store; readonly secrets: Secrets },
): WebhookParts {
  const { tradingview, http } = configuration;
  const folder = `secret/${configuration.secrets.prefix}`;
  const proofs = fundSecrets({ secrets, clock, stopwatch: systemStopwatch, random, folder });
  let proxy: ReturnType<WebhookParts["untrustedProxy"]>;
  return {
    checks: {
      isSource: sourceAddresses(tradingview.source_addresses),
      isRightSecret: (fundId, given) => proofs.isRight(fundId, given),
      ...fundRates(alertsPerSecondMax, systemStopwatch),
    },
    secrets: webhookSecrets({ secrets, store, clock, random, folder, changed: (fundId) => proofs.forget(fundId) }),
    sourceAddresses: tradingview.source_addresses,
    trustedProxies: http.trusted_proxies,
    host: http.host,
    noteProxy: (address, at) => {
      proxy = { address, at };
    },
    untrustedProxy: () => proxy,
  };
}
