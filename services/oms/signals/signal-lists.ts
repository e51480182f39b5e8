// What came in at the webhook, as people read it.
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  GetWebhookSignalRequest,
  ListWebhookSignalsRequest,
  WebhookSignal,
  WebhookSignals,
} from "../../../contracts/src/generated/svc/v1/webhook.ts";
import { minusMilliseconds } from "../../../contracts/src/instant.ts";
import { type SignalStatus, signalStatus } from "../../../contracts/src/records/signal.ts";
import { mustKnowFund } from "../../shared/must-know-fund.ts";
import type { OmsPorts } from "../oms-parts.ts";
import { signalMessage } from "./signal-records.ts";

const countDefault = 100;
const countMax = 1_000;
const hourMs = 3_600_000;

export function createSignalLists(ports: OmsPorts) {
  return {
    async getWebhookSignal({ signal_id: signalId }: GetWebhookSignalRequest): Promise<WebhookSignal> {
      const found = await ports.store.transact("oms.look", async (unit) => {
        const signal = await unit.signals.signal(signalId);
        if (signal === undefined) return undefined;
        const order = signal.accepted === undefined ? undefined : await unit.oms.order(signal.accepted.orderId);
        return { signal, ...(order !== undefined && { order }) };
      });
      if (found !== undefined) return signalMessage(found);
      throw new Fault("NOT_FOUND", `There is no signal ${signalId.slice(0, 128)}.`, { retry: "never" });
    },

    async listWebhookSignals(request: ListWebhookSignalsRequest): Promise<WebhookSignals> {
      const { fund_id: fundId, strategy_id: strategyId, status, hours, after_signal_id: afterSignalId } = request;
      const found = await ports.omsQueries.signals({
        countMax: request.count_max === 0 ? countDefault : Math.min(request.count_max, countMax),
        ...(fundId !== undefined && { fundId }),
        ...(strategyId !== undefined && { strategyId }),
        ...(status !== undefined && { status: statusOf(status) }),
        ...(hours !== undefined && { since: minusMilliseconds(ports.clock.now(), hours * hourMs) }),
        ...(request.id_prefix !== undefined && { idPrefix: request.id_prefix }),
        ...(afterSignalId !== undefined && { afterSignalId }),
      });
      if (found.length === 0) await mustKnowFund(ports, fundId);
      return { signals: found.map(signalMessage) };
    },
  };
}

function statusOf(asked: string): SignalStatus {
  const known = signalStatus.safeParse(asked);
  if (known.success) return known.data;
  throw new Fault("INVALID_ARGUMENT", `The status is one of ${signalStatus.options.join(", ")}.`, { retry: "never" });
}
