// The alerts of a charting platform, put together: taking in, handing in at the front door, refusals, tests, lists and silence.
import type { OmsPorts } from "../oms-parts.ts";
import { byFund } from "./in-turn.ts";
import { createReceiving } from "./receiving.ts";
import { createRefusing } from "./refusing.ts";
import { createSignalLists } from "./signal-lists.ts";
import { readSignalReference } from "./signal-reference.ts";
import { createSignalWorker, type SubmitOrder } from "./signal-worker.ts";
import { watchSilence } from "./silence-watch.ts";
import { createTesting } from "./testing.ts";

export function createSignals(ports: OmsPorts, submit: SubmitOrder) {
  const reference = readSignalReference(ports);
  const worker = createSignalWorker(ports, submit);
  const silence = watchSilence(ports, reference);
  const lists = createSignalLists(ports);
  const inTurn = byFund();
  return {
    handlers: {
      ReceiveSignal: createReceiving({ ports, reference, inTurn, ring: worker.ring }),
      RecordRefusedSignal: createRefusing(ports, inTurn),
      TestSignal: createTesting({ ports, reference, submit }),
      ListWebhookSignals: lists.listWebhookSignals,
      GetWebhookSignal: lists.getWebhookSignal,
    },
    async stop(): Promise<void> {
      await silence.stop();
      await worker.stop();
    },
  };
}
