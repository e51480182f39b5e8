// Keeps what the gateway refused by itself. Whoever proved a fund's secret has a row for every request; of strangers at most twenty a minute are kept, and
// how many more there were is said by the next one, so that nobody who proved nothing can make the record grow at will.
import type {
  RecordRefusedSignalRequest,
  RefusedSignalRecorded,
} from "../../../contracts/src/generated/svc/v1/webhook.ts";
import { type Instant, millisecondsBetween, tryParse } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { StoredSignal } from "../../../ports/signal-records.ts";
import { line } from "../../shared/one-line.ts";
import type { OmsPorts } from "../oms-parts.ts";
import type { InTurn } from "./in-turn.ts";
import { readObject } from "./receiving.ts";
import { refusedEvent, sentParts } from "./signal-records.ts";
import { signalSource } from "./signal-settings.ts";

const strangersPerMinuteMax = 20;
const minuteMs = 60_000;

export function createRefusing(ports: OmsPorts, inTurn: InTurn) {
  const { clock, store } = ports;
  let window: { readonly since: Instant; count: number } | undefined;
  let unrecorded = 0;

  /** How many went unrecorded before this one; undefined when this one is too many itself. */
  function admitted(before: number): number | undefined {
    const now = clock.now();
    unrecorded += before;
    if (window === undefined || millisecondsBetween(window.since, now) >= minuteMs) window = { since: now, count: 0 };
    if (window.count >= strangersPerMinuteMax) {
      unrecorded += 1;
      return undefined;
    }
    window.count += 1;
    const more = unrecorded;
    unrecorded = 0;
    return more;
  }

  return async (request: RecordRefusedSignalRequest): Promise<RefusedSignalRecorded> => {
    const isStranger = request.fund_id === "";
    const more = isStranger ? admitted(request.unrecorded) : 0;
    if (more === undefined) return { signal_id: "" };
    const signalId = ports.random.uuid();
    try {
      await inTurn(request.fund_id, () =>
        store.transact("oms.signal", async (unit) => {
          const receipt = await unit.signals.takeReceipt(request.fund_id);
          const signal = refusedSignal(request, { signalId, receipt, now: clock.now(), unrecorded: more });
          await unit.signals.insertSignal(signal);
          await unit.events.publish(subjects.signalRefused, refusedEvent(signal));
        }),
      );
    } catch (thrown) {
      // The next one says it.
      if (isStranger) unrecorded += more + 1;
      throw thrown;
    }
    return { signal_id: signalId };
  };
}

interface Made {
  readonly signalId: string;
  readonly receipt: number;
  readonly now: Instant;
  readonly unrecorded: number;
}

function refusedSignal(request: RecordRefusedSignalRequest, made: Made): StoredSignal {
  const body = request.body === "" ? undefined : readObject(request.body);
  const { fund_id: fundId } = request;
  return {
    signalId: made.signalId,
    receipt: made.receipt,
    source: signalSource,
    status: "REFUSED",
    httpStatus: request.http_status,
    receivedAt: tryParse(request.received_at) ?? made.now,
    answerMs: Number.isFinite(request.answer_ms) ? Math.max(0, request.answer_ms) : 0,
    remoteAddress: line(request.remote_address, 64),
    ...(fundId !== "" && { fundId }),
    ...sentParts(body),
    code: line(request.code, 64),
    detail: line(request.detail, 2_000),
    warnings: [],
    ...(body !== undefined && { body }),
    ...(made.unrecorded > 0 && { unrecorded: made.unrecorded }),
  };
}
