// POST /v1/halts: halts the firm, a fund or a strategy. When the halt manager does not answer, the risk engine is asked itself: it blocks and
// latches on its own, and the manager takes the halt over when it is back.
import { Fault } from "../../../contracts/src/fault.ts";
import type { HaltRequest, HaltResponse } from "../../../contracts/src/generated/svc/v1/halt.ts";
import type { HttpRequest, Route } from "../../../ports/http.ts";
import type { Outcome } from "../../../ports/identity.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import { namedScope } from "../halt-scope.ts";
import type { GatewayParts } from "../parts.ts";
import { haltAnswer, haltBody, toldResponse } from "../schemas/halts.ts";

type Parts = Pick<GatewayParts, "services" | "log" | "ownToken">;
type Asked = Omit<HaltRequest, "severity" | "fund_id" | "strategy_id">;
type Scope = Pick<HaltRequest, "severity" | "fund_id" | "strategy_id">;

/** Whoever wants to stop something does not wait long to hear that one of two ways is shut. */
const managerMsMax = 7_000;

export function haltRequest(parts: Parts): Route {
  return defineRoute({
    id: "requestHalt",
    method: "POST",
    path: "/v1/halts",
    listeners: ["operator"],
    sentence: "Halt everything, a fund or a strategy; it stays halted until people lift it.",
    operation: "RequestHalt",
    body: haltBody,
    answers: { 201: haltAnswer },
    handle: async (request) => {
      const { id, severity, fund_id, strategy_id, reason, ...rest } = request.body;
      const asked: Asked = { ...rest, reason: reason ?? "", requested_by: "" };
      // Whoever names somebody and no level is refused, and never taken to mean everybody.
      const level: Scope["severity"] = severity ?? (fund_id || strategy_id ? "SEVERITY_UNSPECIFIED" : "FIRM_HALT");
      const scope = id ?? { severity: level, fund_id: fund_id ?? "", strategy_id };
      const outcome = await halt(parts, request, asked, scope);
      return answerTo(outcome, 201, (response) => plain(toldResponse(response)));
    },
  });
}

async function halt(
  parts: Parts,
  request: HttpRequest,
  asked: Asked,
  scope: Scope | string,
): Promise<Outcome<HaltResponse>> {
  try {
    const named = typeof scope === "string" ? await scopeOf(parts, request, scope) : scope;
    return await ask(parts, request, "Operations", { ...asked, ...named });
  } catch (thrown) {
    if (!isSilent(thrown)) throw thrown;
    parts.log.warn("the halt manager does not answer; the risk engine is asked itself", { error: thrown.message });
    if (typeof scope !== "string") return ask(parts, request, "RiskEngine", { ...asked, ...scope });
    const asFund = await ask(parts, request, "RiskEngine", { ...asked, severity: "FUND_HALT", fund_id: scope });
    if (asFund.ok || asFund.denial.code !== "HALT_SCOPE_INVALID") return asFund;
    return ask(parts, request, "RiskEngine", { ...asked, severity: "STRATEGY_HALT", fund_id: "", strategy_id: scope });
  }
}

async function scopeOf(parts: Parts, request: HttpRequest, id: string): Promise<Scope> {
  const named = await namedScope(parts, request, id);
  return "fund_id" in named
    ? { severity: "FUND_HALT", ...named }
    : { severity: "STRATEGY_HALT", fund_id: "", ...named };
}

function ask(
  parts: Parts,
  request: HttpRequest,
  service: "Operations" | "RiskEngine",
  message: HaltRequest,
): Promise<Outcome<HaltResponse>> {
  return askService<HaltRequest, HaltResponse>(parts, request, {
    service,
    method: "RequestHalt",
    message,
    timeoutMs: managerMsMax,
  });
}

function isSilent(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && (thrown.code === "SERVICE_UNAVAILABLE" || thrown.code === "DEADLINE_EXCEEDED");
}
