// Takes in alerts that proved their fund's secret. Row, taken key and event are one transaction, and the answer comes after it.
//
//  1. A fund's alerts are taken in one after the other, so the number that each gets is the order of receipt.
//  2. A commit whose answer was lost is found under its key by the next try; whoever got no answer asks again and gets 409.
import { Fault } from "../../../contracts/src/fault.ts";
import type { ReceiveSignalRequest, SignalAnswer } from "../../../contracts/src/generated/svc/v1/webhook.ts";
import { format, type Instant, millisecondsBetween, tryParse } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { AcceptedSignal, StoredSignal } from "../../../ports/signal-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { line } from "../../shared/one-line.ts";
import type { OmsPorts } from "../oms-parts.ts";
import { hexOf } from "../slicing.ts";
import { alarm } from "../transitions.ts";
import type { InTurn } from "./in-turn.ts";
import { type Alert, bodyHashOf, judge, keyUntil, said, type Verdict } from "./judging.ts";
import { receivedEvent, refusedEvent, type SignalBody, sentParts } from "./signal-records.ts";
import type { SignalReference } from "./signal-reference.ts";
import { signalSettings, signalSource, webhookActor } from "./signal-settings.ts";

const triesMax = 3;

interface ReceivingParts {
  readonly ports: OmsPorts;
  readonly reference: () => Promise<SignalReference>;
  readonly inTurn: InTurn;
  /** Something is to be handed in. */
  readonly ring: () => void;
}

interface Received extends Alert {
  readonly signalId: string;
  readonly receivedAt: Instant;
  readonly remoteAddress: string;
}

export function createReceiving({ ports, reference, inTurn, ring }: ReceivingParts) {
  const { clock, store } = ports;
  const settings = signalSettings(ports.settings);

  async function receive(request: ReceiveSignalRequest): Promise<SignalAnswer> {
    const body = bodyOf(request.body);
    const received: Received = {
      signalId: ports.random.uuid(),
      fundId: request.fund_id,
      body,
      bodyHash: bodyHashOf(ports, body),
      receivedAt: tryParse(request.received_at) ?? clock.now(),
      remoteAddress: line(request.remote_address, 64),
    };
    // Asked at once and awaited where it is needed: the answer waits for one question less.
    const known = reference();
    known.catch(() => undefined);
    const { signal, holder } = await inTurn(received.fundId, () => takeIn(received, known));
    if (signal.status === "ACCEPTED") ring();
    return answerOf(signal, holder);
  }

  async function takeIn(received: Received, known: Promise<SignalReference>): Promise<TakenIn> {
    for (let tries = 1; ; tries += 1) {
      try {
        // Only a commit whose answer was lost can have left it there.
        const isAgain = tries > 1;
        return await store.transact("oms.signal", async (unit) => {
          const before = isAgain ? await unit.signals.signal(received.signalId) : undefined;
          return before === undefined ? takeInWith(unit, received, known) : { signal: before };
        });
      } catch (thrown) {
        const isUnknown = thrown instanceof Fault && thrown.code === "STORE_COMMIT_UNKNOWN";
        // It may be stored all the same, and then it goes on.
        if (isUnknown) ring();
        if (!isUnknown || tries >= triesMax) throw thrown;
      }
    }
  }

  async function takeInWith(unit: UnitOfWork, received: Received, known: Promise<SignalReference>): Promise<TakenIn> {
    const receipt = await unit.signals.takeReceipt(received.fundId);
    const now = clock.now();
    const verdict = await judge(unit, received, { reference: await known, settings, now });
    const signal = signalOf(received, verdict, receipt, now);
    await unit.signals.insertSignal(signal);
    if (verdict.mismatch !== undefined) {
      const about = [received.fundId, signal.strategyId, signal.symbol].join(" ");
      await alarm(unit, "SIGNAL_POSITION_MISMATCH", about, `${about}: ${said(verdict.mismatch)}`, now);
    }
    if (signal.status === "ACCEPTED") await unit.events.publish(subjects.signalReceived, receivedEvent(signal));
    else await unit.events.publish(subjects.signalRefused, refusedEvent(signal));
    return { signal, ...(verdict.httpStatus === 409 && { holder: verdict.holder }) };
  }

  function signalOf(received: Received, verdict: Verdict, receipt: number, now: Instant): StoredSignal {
    const { signalId, fundId, receivedAt, remoteAddress, body } = received;
    const { read, httpStatus } = verdict;
    const base: StoredSignal = {
      signalId,
      receipt,
      source: signalSource,
      status: httpStatus === 202 ? "ACCEPTED" : "REFUSED",
      httpStatus,
      receivedAt,
      answerMs: Math.max(0, millisecondsBetween(receivedAt, now)),
      remoteAddress,
      fundId,
      ...sentParts(body),
      ...(read.alertAt !== undefined && { alertAt: read.alertAt }),
      ...(read.symbol !== undefined && { symbol: read.symbol }),
      warnings: httpStatus === 202 ? verdict.judged.warnings : [],
      body,
    };
    if (verdict.httpStatus !== 202) {
      const { code, detail } = verdict.refusal;
      return { ...base, code, detail, ...(verdict.httpStatus === 409 && { duplicateOf: verdict.holder.signalId }) };
    }
    const { terms } = verdict.judged;
    return { ...base, side: terms.side, accepted: acceptedOf(received, terms, keyUntil(now, read.alertAt)) };
  }

  function acceptedOf(
    { signalId, fundId, body, bodyHash }: Received,
    terms: Extract<Verdict, { httpStatus: 202 }>["judged"]["terms"],
    until: Instant,
  ): AcceptedSignal {
    const orderId = orderIdOf(signalId);
    const order = { ...terms, order_id: orderId, idempotency_key: orderKeyOf(ports, fundId, body) };
    return { orderId, order: { ...order, actor: terms.actor ?? webhookActor }, bodyHash, keyUntil: until };
  }

  return receive;
}

interface TakenIn {
  readonly signal: StoredSignal;
  /** Of a key that is taken. */
  readonly holder?: StoredSignal;
}

export function orderIdOf(signalId: string): string {
  return `tv-${signalId}`;
}

/** One key of the fund is one key of its order, however long both are. */
export function orderKeyOf({ sha256 }: Pick<OmsPorts, "sha256">, fundId: string, body: SignalBody): string {
  return `tv-${hexOf(sha256(JSON.stringify([fundId, body["idempotency_key"]])))}`;
}

export function bodyOf(text: string): SignalBody {
  const read = readObject(text);
  if (read !== undefined) return read;
  throw new Fault("INVALID_ARGUMENT", "body: expected the alert's JSON object as text.", { retry: "never" });
}

/** Undefined when the text is no JSON object. A secret that was left in is never kept. */
export function readObject(text: string): SignalBody | undefined {
  try {
    const value = parseJson(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const { secret: _secret, ...body } = value as Record<string, unknown>;
    return body;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

function answerOf(signal: StoredSignal, holder: StoredSignal | undefined): SignalAnswer {
  return {
    signal_id: signal.signalId,
    http_status: signal.httpStatus,
    code: signal.code ?? "",
    detail: signal.detail ?? "",
    fund_id: signal.fundId ?? "",
    strategy_id: signal.strategyId ?? "",
    symbol: signal.symbol ?? "",
    order_id: signal.accepted?.orderId ?? "",
    received_at: format(signal.receivedAt),
    warnings: [...signal.warnings],
    ...(holder !== undefined && {
      original: {
        signal_id: holder.signalId,
        order_id: holder.accepted?.orderId ?? "",
        received_at: format(holder.receivedAt),
      },
    }),
  };
}
