// The part of what was reported that is about alerts of a charting platform: which were accepted, in order of receipt, and which ended without an order.
import type { SignalFailed, SignalReceived } from "../contracts/src/records/signal.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Reported } from "./reported.ts";

export interface ReportedAlert {
  readonly received: SignalReceived;
  /** When it was reported. */
  readonly at: number;
  /** Whether it became no order. */
  failed: boolean;
}

export interface SignalHistory {
  /** Accepted alerts by the id of their order; a fund's stand in order of receipt. */
  readonly alerts: Map<string, ReportedAlert>;
}

export function signalHistory(): SignalHistory {
  return { alerts: new Map() };
}

/** How a message changes what must be true of alerts. */
export const signalFolds: Readonly<Record<string, (past: SignalHistory, reported: Reported) => void>> = {
  [subjects.signalReceived.name]: ({ alerts }, { payload, at }) => {
    const received = payload as SignalReceived;
    if (!alerts.has(received.order_id)) alerts.set(received.order_id, { received, at, failed: false });
  },
  [subjects.signalFailed.name]: ({ alerts }, { payload }) => {
    const { order_id: orderId, status } = payload as SignalFailed;
    const alert = alerts.get(orderId);
    // One whose order was denied has become an order all the same.
    if (alert !== undefined && status === "FAILED") alert.failed = true;
  },
};
