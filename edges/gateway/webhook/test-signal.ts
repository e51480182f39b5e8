// POST /v1/signals/test: what would become of an alert, sent as the charting platform would send it. Every check but the address is made, nothing is kept,
// and the answer is always 200: what the webhook would say is data here.
import type { SignalTest, TestSignalRequest } from "../../../contracts/src/generated/svc/v1/webhook.ts";
import type { HttpAnswer, HttpRequest, IntakeRefusal, Route } from "../../../ports/http.ts";
import { denied } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { declaredAnswers, declaredBody, declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { type AlertBody, alertBody, withoutSecret } from "./alert-body.ts";
import { bodyBytesMax, prove, rateExceeded, refusalCodes, secretWrong } from "./webhook.ts";

type Parts = Pick<GatewayParts, "services" | "webhook" | "log">;

const answerMsMax = 12_000;

export function signalTest(parts: Parts): Route {
  return defineRoute({
    ...declaredPlace("testSignal"),
    body: alertBody,
    answers: declaredAnswers("testSignal"),
    intake: { bodyBytesMax, answerMsMax, admits: () => true, refuse },
    handle: (request) => tested(parts, request),
  });
}

async function refuse({ status, detail }: IntakeRefusal): Promise<HttpAnswer> {
  if (status === 503 || status === 408) return { status, body: { code: "SERVICE_UNAVAILABLE", detail } };
  return refused({ status, code: refusalCodes[status], detail });
}

async function tested(parts: Parts, request: HttpRequest): Promise<HttpAnswer> {
  const body = request.body as AlertBody;
  const fundId = typeof body["fund_id"] === "string" ? body["fund_id"] : "";
  const proof = await prove(parts, fundId, body["secret"]);
  if (proof === "unknown") {
    return { status: 503, body: { code: "SECRETS_UNAVAILABLE", detail: "The secret could not be checked." } };
  }
  if (proof === "wrong") return refused(secretWrong);
  if (!parts.webhook.checks.peek(fundId).passed) return refused(rateExceeded);
  const question = {
    service: "Oms",
    method: "TestSignal",
    message: { fund_id: fundId, body: withoutSecret(body) },
  } as const;
  const outcome = await askService<TestSignalRequest, SignalTest>(parts, request, question);
  if (!outcome.ok) return denied(outcome);
  return { status: 200, body: plain(declaredBody("testSignal", outcome.value)) };
}

function refused({
  status,
  code,
  detail,
}: {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}): HttpAnswer {
  const test: SignalTest = {
    would_accept: false,
    http_status: status,
    code,
    detail,
    symbol: "",
    warnings: [],
    decision: undefined,
  };
  return { status: 200, body: plain(declaredBody("testSignal", test)) };
}
