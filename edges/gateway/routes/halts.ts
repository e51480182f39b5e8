// Halts: asked for, lifted, looked up.
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  HaltRequest,
  HaltResponse,
  HaltStatus,
  ResumeRequest,
} from "../../../contracts/src/generated/svc/v1/halt.ts";
import type { HttpRequest, Route } from "../../../ports/http.ts";
import type { Outcome } from "../../../ports/identity.ts";
import { answerTo } from "../answers.ts";
import { askService } from "../ask-service.ts";
import { declaredAnswers, declaredBody, declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import { askHaltStatus, namedScope } from "../halt-scope.ts";
import { keyedName } from "../keyed-name.ts";
import type { GatewayParts } from "../parts.ts";
import { haltBody, haltStatusAnswer, haltStatusBody, haltStatusQuery, resumeBody } from "../schemas/halts.ts";

type Parts = Pick<GatewayParts, "services" | "log" | "ownToken" | "timers" | "random">;
type Asked = Omit<HaltRequest, "severity" | "fund_id" | "strategy_id"> & { readonly halt_id: string };
type Scope = Pick<HaltRequest, "severity" | "fund_id" | "strategy_id">;

/** Whoever wants to stop something does not wait long for one of two ways. */
const patienceMs = 1_500;
/** A little longer than the manager waits for its engines. */
const answerMsMax = 7_000;

/** More than is kept of one; the engine takes no message of any length. */
const reasonLengthMax = 4_000;

/**
 * POST /v1/halts: halts the firm, a fund or a strategy. When the halt manager does not answer at once, the risk engine is asked for the same halt: it blocks
 * and latches on its own, and the manager takes the halt over when it is back. A halt has its id before anybody is asked, so that two who hear of it
 * make one of it.
 */
export function haltRequest(parts: Parts): Route {
  return defineRoute({
    ...declaredPlace("requestHalt"),
    body: haltBody,
    answers: declaredAnswers("requestHalt"),
    neverWaitsForKey: { isSame: (first, now) => haltIdOf(first) === haltIdOf(now) },
    handle: async (request) => {
      const { id, severity, fund_id, strategy_id, reason, halt_id: given, ...rest } = request.body;
      const byKey = given === undefined ? keyedName(request) : undefined;
      const halt_id = given ?? byKey ?? parts.random.uuid();
      const asked: Asked = { ...rest, halt_id, reason: (reason ?? "").slice(0, reasonLengthMax), requested_by: "" };
      // Whoever names somebody and no level is refused, and never taken to mean everybody.
      const level: Scope["severity"] = severity ?? (fund_id || strategy_id ? "SEVERITY_UNSPECIFIED" : "FIRM_HALT");
      const scope = id ?? { severity: level, fund_id: fund_id ?? "", strategy_id };
      const first = await halt(parts, request, asked, scope);
      // The halt under this key may have been lifted since: then this is another one.
      const isRefused = byKey !== undefined && !first.ok && first.denial.code === "HALT_SCOPE_INVALID";
      const outcome = isRefused ? await halt(parts, request, { ...asked, halt_id: parts.random.uuid() }, scope) : first;
      return answerTo(outcome, 201, (response) => declaredBody("requestHalt", response));
    },
  });
}

function haltIdOf(answer: object): unknown {
  return (answer as { readonly halt_id?: unknown }).halt_id;
}

/** The manager's answer, or the engine's when there is one first; both are asked for the same halt, so that it is one. */
async function halt(
  parts: Parts,
  request: HttpRequest,
  asked: Asked,
  scope: Scope | string,
): Promise<Outcome<HaltResponse>> {
  const manager = askManager(parts, request, asked, scope);
  const over = new AbortController();
  const answeredInTime = manager.then(
    () => true,
    (thrown: unknown) => !isSilent(thrown),
  );
  const isInTime = await Promise.race([
    answeredInTime,
    parts.timers.sleep(patienceMs, over.signal).then(() => false),
  ]).finally(() => over.abort());
  if (isInTime) return manager;
  parts.log.warn("the halt manager does not answer; the risk engine is asked itself", { halt_id: asked.halt_id });
  const engine = askEngine(parts, request, asked, scope);
  const first = await Promise.any([manager.then(granted), engine.then(granted)]).catch(() => undefined);
  if (first !== undefined) return { ok: true, value: first };
  // Nobody halted anything: what the manager said, and else what the engine did.
  return manager.catch((thrown: unknown) => {
    if (!isSilent(thrown)) throw thrown;
    return engine;
  });
}

function granted(outcome: Outcome<HaltResponse>): HaltResponse {
  if (outcome.ok) return outcome.value;
  throw new Error(outcome.denial.code);
}

async function askManager(
  parts: Parts,
  request: HttpRequest,
  asked: Asked,
  scope: Scope | string,
): Promise<Outcome<HaltResponse>> {
  const named = typeof scope === "string" ? await scopeOf(parts, request, scope) : scope;
  return ask(parts, request, "Operations", { ...asked, ...named });
}

/** It has no way to ask it whose name that is, so one after the other is tried. */
async function askEngine(
  parts: Parts,
  request: HttpRequest,
  asked: Asked,
  scope: Scope | string,
): Promise<Outcome<HaltResponse>> {
  if (typeof scope !== "string") return ask(parts, request, "RiskEngine", { ...asked, ...scope });
  const asFund = await ask(parts, request, "RiskEngine", { ...asked, severity: "FUND_HALT", fund_id: scope });
  if (asFund.ok || asFund.denial.code !== "HALT_SCOPE_INVALID") return asFund;
  return ask(parts, request, "RiskEngine", { ...asked, severity: "STRATEGY_HALT", fund_id: "", strategy_id: scope });
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
    timeoutMs: answerMsMax,
  });
}

function isSilent(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && (thrown.code === "SERVICE_UNAVAILABLE" || thrown.code === "DEADLINE_EXCEEDED");
}

/** POST /v1/halts/resume: lifts one scope's halts, asks for every halt to be lifted, or signs another operator's request for that. */
export function haltResume(parts: Pick<GatewayParts, "services" | "ownToken">): Route {
  return defineRoute({
    ...declaredPlace("resumeHalt"),
    body: resumeBody,
    answers: { 200: haltStatusAnswer },
    handle: async (request) => {
      const { id, halt_ids, ...rest } = request.body;
      const scope = id === undefined ? {} : await namedScope(parts, request, id);
      const message: ResumeRequest = { ...rest, ...scope, halt_ids: halt_ids ?? [] };
      const outcome = await askService<ResumeRequest, HaltStatus>(parts, request, {
        service: "Operations",
        method: "ResumeHalt",
        message,
      });
      return answerTo(outcome, 200, (status) => haltStatusBody(status, message.strategy_id));
    },
  });
}

/** GET /v1/halts/status: what halts a fund, a strategy or anything, and how far what follows each latch has come. */
export function haltStatus(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("getHaltStatus"),
    query: haltStatusQuery,
    answers: { 200: haltStatusAnswer },
    handle: async (request) => {
      const { outcome, strategyId } = await askHaltStatus(parts, request, request.query.id);
      return answerTo(outcome, 200, (status) => haltStatusBody(status, strategyId));
    },
  });
}
