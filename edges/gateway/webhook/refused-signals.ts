// Tells order management of the requests that the webhook refused by itself. Of those that proved no secret at most twenty a minute leave the gateway, so
// that strangers cannot keep it busy; how many more there were is said by the next one.

import { messageOf } from "../../../contracts/src/fault.ts";
import type {
  RecordRefusedSignalRequest,
  RefusedSignalRecorded,
} from "../../../contracts/src/generated/svc/v1/webhook.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Outcome } from "../../../ports/identity.ts";
import type { GatewayParts } from "../parts.ts";

interface RefusedSignal {
  readonly requestId: string;
  readonly remoteAddress: string;
  readonly receivedAt: Instant;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly body: string;
}

export interface RefusedSignals {
  /** Of a fund that proved its secret: the id of the row, which is stored when this resolves; rejects when it cannot be. */
  proved(fundId: string, refused: RefusedSignal, timeoutMs: number): Promise<string>;
  /** Of everybody else: the id of the row when there soon is one. Never rejects. */
  unproved(refused: RefusedSignal): Promise<string | undefined>;
}

type Parts = Pick<GatewayParts, "services" | "ownToken" | "clock" | "timers" | "log">;

const perMinuteMax = 20;
const minuteMs = 60_000;
/** A stranger waits no longer for the number of a row. */
const waitMsMax = 300;
const timeoutMs = 2_000;

export function refusedSignals(parts: Parts): RefusedSignals {
  let since: Instant | undefined;
  let sentCount = 0;
  let unrecorded = 0;

  /** How many were kept here before this one; undefined when this one is kept here as well. */
  function admitted(): number | undefined {
    const now = parts.clock.now();
    if (since === undefined || millisecondsBetween(since, now) >= minuteMs) {
      since = now;
      sentCount = 0;
    }
    if (sentCount >= perMinuteMax) {
      unrecorded += 1;
      return undefined;
    }
    sentCount += 1;
    const before = unrecorded;
    unrecorded = 0;
    return before;
  }

  async function send(refused: RefusedSignal, fundId: string, before: number, waitMs: number): Promise<string> {
    const message: RecordRefusedSignalRequest = {
      http_status: refused.status,
      code: refused.code,
      detail: refused.detail,
      fund_id: fundId,
      body: refused.body,
      remote_address: refused.remoteAddress,
      received_at: format(refused.receivedAt),
      answer_ms: millisecondsBetween(refused.receivedAt, parts.clock.now()),
      unrecorded: before,
    };
    const options = { bearer: parts.ownToken(), timeoutMs: waitMs, requestId: refused.requestId };
    const outcome = (await parts.services.call(
      "Oms",
      "RecordRefusedSignal",
      message,
      options,
    )) as Outcome<RefusedSignalRecorded>;
    if (!outcome.ok) throw new Error(`${outcome.denial.code}: ${outcome.denial.reason}`);
    return outcome.value.signal_id;
  }

  return {
    proved: (fundId, refused, waitMs) => send(refused, fundId, 0, waitMs),
    async unproved(refused) {
      const before = admitted();
      if (before === undefined) return undefined;
      const sent = send(refused, "", before, timeoutMs).catch((thrown: unknown) => {
        unrecorded += before + 1;
        parts.log.warn("a refused alert could not be recorded", { code: refused.code, error: messageOf(thrown) });
        return "";
      });
      const over = new AbortController();
      const id = await Promise.race([sent, parts.timers.sleep(waitMsMax, over.signal).then(() => "")]);
      over.abort();
      return id === "" ? undefined : id;
    },
  };
}
