// POST /tradingview/webhook: an alert of the charting platform, from a stranger's address to a stored signal. The sender gives up after three seconds and
// sends again only what was answered with a 5xx: so whatever is wrong with an alert is said at once, and 503 means that it is worth sending again.
// The checks stand in one order, and the first that says no answers: method and path, declared size, address, content type, size, JSON (all of them by
// the listener, ports/http.ts), secret, rate, then key, fields and rules (order management), stored.
import { z } from "zod";
import { answerOf, type DenialCode } from "../../../contracts/src/codes.ts";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import type { ReceiveSignalRequest, SignalAnswer } from "../../../contracts/src/generated/svc/v1/webhook.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { HttpAnswer, HttpRequest, IntakeCaller, IntakeRefusal, Route } from "../../../ports/http.ts";
import type { Outcome } from "../../../ports/identity.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { timeText } from "../schemas/fields.ts";
import { type AlertBody, alertBody, plainPart, withoutSecret } from "./alert-body.ts";
import { type RefusedSignals, refusedSignals } from "./refused-signals.ts";

export const bodyBytesMax = 4_096;
/** The sender waits three seconds; an answer takes its own time to get there. */
const answerMsMax = 2_300;
/** What is left for answering once a service was waited for. */
const reserveMs = 300;
/** When the sender comes again by itself. */
const retryAfterS = 5;

type Parts = Pick<GatewayParts, "services" | "ownToken" | "clock" | "timers" | "log" | "webhook">;

const accepted = z.object({
  signal_id: z.string(),
  status: z.literal("accepted"),
  fund_id: z.string(),
  strategy_id: z.string(),
  symbol: z.string(),
  order_id: z.string(),
  received_at: timeText,
  warnings: z.array(z.string()),
});

export function tradingviewWebhook(parts: Parts): Route {
  const refusals = refusedSignals(parts);
  return defineRoute({
    id: "receiveTradingviewAlert",
    method: "POST",
    path: "/tradingview/webhook",
    listeners: ["public"],
    sentence: "Take in an alert of the charting platform.",
    operation: "ReceiveTradingviewAlert",
    body: alertBody,
    answers: { 202: accepted },
    intake: {
      bodyBytesMax,
      answerMsMax,
      admits: (caller) => admits(parts, caller),
      refuse: (refused) => refuse(parts, refusals, refused),
    },
    handle: (request) => receive(parts, refusals, request),
  });
}

/** Remembers where a proxy stands in between that the configuration does not name: its caller is right, and it is refused. */
function admits({ webhook, clock }: Parts, { remoteAddress, forwardedFor }: IntakeCaller): boolean {
  if (webhook.checks.isSource(remoteAddress)) return true;
  const nearest = forwardedFor?.split(",").at(-1)?.trim() ?? "";
  if (webhook.checks.isSource(nearest)) webhook.noteProxy(remoteAddress, clock.now());
  return false;
}

export const refusalCodes: Readonly<Record<400 | 403 | 413 | 415, DenialCode>> = {
  400: "WEBHOOK_BODY_INVALID",
  403: "WEBHOOK_ADDRESS_NOT_ALLOWED",
  413: "WEBHOOK_BODY_TOO_LARGE",
  415: "WEBHOOK_CONTENT_TYPE",
};

async function refuse(
  { clock }: Parts,
  refusals: RefusedSignals,
  { status, detail, requestId, remoteAddress }: IntakeRefusal,
): Promise<HttpAnswer> {
  if (status === 503) return unavailable("SERVICE_UNAVAILABLE", detail);
  if (status === 408) return { status, body: { code: "DEADLINE_EXCEEDED", detail } };
  const code = refusalCodes[status];
  const refused = { requestId, remoteAddress, receivedAt: clock.now(), status, code, detail, body: "" };
  return problem(status, code, detail, await refusals.unproved(refused));
}

async function receive(parts: Parts, refusals: RefusedSignals, request: HttpRequest): Promise<HttpAnswer> {
  const receivedAt = parts.clock.now();
  const body = request.body as AlertBody;
  const fundId = typeof body["fund_id"] === "string" ? body["fund_id"] : "";
  const leftMs = (): number => answerMsMax - reserveMs - millisecondsBetween(receivedAt, parts.clock.now());
  const facts = { requestId: request.requestId, remoteAddress: request.remoteAddress, receivedAt };
  const proof = await prove(parts, fundId, body["secret"]);
  if (proof === "unknown" || leftMs() <= 0) return unavailable("SECRETS_UNAVAILABLE", secretNotChecked);
  if (proof === "wrong") {
    // Nothing in the answer may differ, so nobody waits for the row.
    void refusals.unproved({ ...facts, ...secretWrong, body: plainPart(body) });
    return problem(secretWrong.status, secretWrong.code, secretWrong.detail);
  }
  const rate = parts.webhook.checks.pass(fundId);
  try {
    if (!rate.passed) {
      const refused = { ...facts, ...rateExceeded, body: withoutSecret(body) };
      const signalId = await refusals.proved(fundId, refused, leftMs());
      return problem(rateExceeded.status, rateExceeded.code, rateExceeded.detail, signalId, rate.waitMs);
    }
    return signalAnswer(await store(parts, request, { fundId, body, receivedAt, timeoutMs: leftMs() }));
  } catch (thrown) {
    parts.log.warn("an alert could not be stored", {
      request_id: request.requestId,
      fund_id: fundId,
      error: messageOf(thrown),
    });
    return unavailable(
      thrown instanceof Fault && answerOf(thrown.code).http === 503 ? thrown.code : "SERVICE_UNAVAILABLE",
      notStored,
    );
  }
}

/** "unknown" when the secrets store does not say. */
export async function prove(
  { webhook, log }: Pick<GatewayParts, "webhook" | "log">,
  fundId: string,
  secret: unknown,
): Promise<"right" | "wrong" | "unknown"> {
  try {
    // A secret that is missing is looked up like any other, so that it takes as long.
    const isRight = await webhook.checks.isRightSecret(fundId, typeof secret === "string" ? secret : "");
    return isRight ? "right" : "wrong";
  } catch (thrown) {
    log.warn("a webhook secret could not be checked", { error: messageOf(thrown) });
    return "unknown";
  }
}

async function store(
  { services, ownToken }: Parts,
  { requestId, remoteAddress }: HttpRequest,
  alert: {
    readonly fundId: string;
    readonly body: AlertBody;
    readonly receivedAt: Instant;
    readonly timeoutMs: number;
  },
): Promise<SignalAnswer> {
  const message: ReceiveSignalRequest = {
    fund_id: alert.fundId,
    body: withoutSecret(alert.body),
    remote_address: remoteAddress,
    received_at: format(alert.receivedAt),
  };
  const options = { bearer: ownToken(), timeoutMs: alert.timeoutMs, requestId };
  const outcome = (await services.call("Oms", "ReceiveSignal", message, options)) as Outcome<SignalAnswer>;
  if (!outcome.ok) throw new Error(`${outcome.denial.code}: ${outcome.denial.reason}`);
  return outcome.value;
}

function signalAnswer(answer: SignalAnswer): HttpAnswer {
  const { signal_id, http_status: status, code, detail, fund_id, strategy_id, symbol, order_id, received_at } = answer;
  if (status === 202) {
    const body = { signal_id, status: "accepted", fund_id, strategy_id, symbol, order_id, received_at };
    return { status, body: { ...body, warnings: [...answer.warnings] } };
  }
  const { original } = answer;
  return {
    status,
    body: {
      code,
      detail,
      signal_id,
      ...(symbol === "" ? {} : { symbol }),
      ...(original === undefined ? {} : { original: { ...original } }),
    },
  };
}

export const secretWrong = {
  status: 401,
  code: "WEBHOOK_SECRET_WRONG",
  detail: "The secret is not the one of this fund_id: `ctl signals rotate-secret` makes a new one.",
} as const;

export const rateExceeded = {
  status: 429,
  code: "WEBHOOK_RATE_EXCEEDED",
  detail: "Ten alerts in a second are taken for one fund: send fewer at once, or spread them over strategies' bars.",
} as const;

const secretNotChecked = "The secret could not be checked; the alert was not stored. Send it again.";
const notStored = "The alert could not be stored. Send it again: it is taken once.";

function problem(status: number, code: string, detail: string, signalId?: string, waitMs?: number): HttpAnswer {
  return {
    status,
    body: { code, detail, ...(signalId === undefined || signalId === "" ? {} : { signal_id: signalId }) },
    ...(waitMs === undefined ? {} : { headers: { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1_000))) } }),
  };
}

function unavailable(code: string, detail: string): HttpAnswer {
  return { status: 503, body: { code, detail }, headers: { "retry-after": String(retryAfterS) } };
}
