// What would become of an alert: the same reading and rules, and its order through the gates as a dry run. Nothing is kept.
import type { OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { SignalTest, TestSignalRequest } from "../../../contracts/src/generated/svc/v1/webhook.ts";
import type { DeniedAnswer } from "../../../ports/rpc.ts";
import type { OmsPorts } from "../oms-parts.ts";
import { brokerOfFund } from "./broker-of-fund.ts";
import { bodyHashOf, judge } from "./judging.ts";
import { bodyOf, orderIdOf, orderKeyOf } from "./receiving.ts";
import type { SignalReference } from "./signal-reference.ts";
import { signalSettings, webhookActor } from "./signal-settings.ts";
import { type SubmitOrder, webhookIdentity } from "./signal-worker.ts";

interface TestingParts {
  readonly ports: OmsPorts;
  readonly reference: () => Promise<SignalReference>;
  readonly submit: SubmitOrder;
}

export function createTesting({ ports, reference, submit }: TestingParts) {
  const settings = signalSettings(ports.settings);

  return async ({ fund_id: fundId, body: text }: TestSignalRequest): Promise<SignalTest> => {
    const body = bodyOf(text);
    const known = await reference();
    const alert = { fundId, body, bodyHash: bodyHashOf(ports, body) };
    const now = ports.clock.now();
    const verdict = await ports.store.transact("oms.look", (unit) =>
      judge(unit, alert, { reference: known, settings, now }),
    );
    const symbol = verdict.read.symbol ?? "";
    if (verdict.httpStatus !== 202) {
      const { code, detail } = verdict.refusal;
      return { would_accept: false, http_status: verdict.httpStatus, code, detail, symbol, warnings: [] };
    }
    const { terms, warnings } = verdict.judged;
    const accepted: SignalTest = {
      would_accept: true,
      http_status: 202,
      code: "",
      detail: "",
      symbol,
      warnings: [...warnings],
    };
    const found = await brokerOfFund(ports, fundId);
    if ("code" in found) {
      return {
        ...accepted,
        would_accept: false,
        code: found.code,
        detail: `It would be accepted, and fail: ${found.detail}`,
      };
    }
    const answer = await submit(
      {
        ...terms,
        order_id: orderIdOf(ports.random.uuid()),
        idempotency_key: orderKeyOf(ports, fundId, body),
        broker: found.broker,
        actor: terms.actor ?? webhookActor,
        dry_run: true,
      },
      { identity: webhookIdentity(now) },
    );
    if (isDenied(answer)) {
      const { code, reason } = answer.denial;
      return { ...accepted, would_accept: false, code, detail: `It would be accepted, and fail: ${reason}` };
    }
    if (answer.state === "REJECTED" && answer.decision?.approved === true) {
      const failing = {
        would_accept: false,
        code: answer.code ?? "",
        detail: `It would be accepted, and fail: ${answer.reason}`,
      };
      return { ...accepted, ...failing };
    }
    return { ...accepted, ...(answer.decision !== undefined && { decision: answer.decision }) };
  };
}

function isDenied(answer: OrderStatus | DeniedAnswer): answer is DeniedAnswer {
  return "denial" in answer;
}
