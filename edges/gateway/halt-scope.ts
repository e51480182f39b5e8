// Funds and strategies share one namespace, so people name one of them and need not say which it is. The halt manager knows; this asks it.
import { Fault } from "../../contracts/src/fault.ts";
import type { HaltStatus, HaltStatusRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import type { HttpRequest } from "../../ports/http.ts";
import type { Outcome } from "../../ports/identity.ts";
import { askService } from "./ask-service.ts";
import type { GatewayParts } from "./parts.ts";

type Parts = Pick<GatewayParts, "services">;
type Asking = Pick<HttpRequest, "bearer" | "requestId">;

interface AskedStatus {
  readonly outcome: Outcome<HaltStatus>;
  /** Set when the name is a strategy's. */
  readonly strategyId?: string;
}

export async function askHaltStatus(parts: Parts, request: Asking, id: string | undefined): Promise<AskedStatus> {
  try {
    return { outcome: await ask(parts, request, { fund_id: id ?? "" }) };
  } catch (thrown) {
    if (id === undefined || !isUnknown(thrown)) throw thrown;
    return { outcome: await askStrategy(parts, request, id), strategyId: id };
  }
}

async function askStrategy(parts: Parts, request: Asking, id: string): Promise<Outcome<HaltStatus>> {
  try {
    return await ask(parts, request, { fund_id: "", strategy_id: id });
  } catch (thrown) {
    if (!isUnknown(thrown)) throw thrown;
    throw new Fault("NOT_FOUND", `There is no fund and no strategy ${JSON.stringify(id)}.`, { retry: "never" });
  }
}

function ask(parts: Parts, request: Asking, message: HaltStatusRequest): Promise<Outcome<HaltStatus>> {
  return askService<HaltStatusRequest, HaltStatus>(parts, request, {
    service: "Operations",
    method: "GetHaltStatus",
    message,
  });
}

/**
 * Which of the two a name is, for a request that names one. It is asked with the gateway's own token, because whoever may halt need not be allowed
 * to look; and a name that nobody has goes on as a fund's, so that the service refuses it and records who tried.
 */
export async function namedScope(
  parts: Pick<GatewayParts, "services" | "ownToken">,
  { requestId }: HttpRequest,
  id: string,
): Promise<{ readonly fund_id: string } | { readonly strategy_id: string }> {
  try {
    const { strategyId } = await askHaltStatus(parts, { bearer: parts.ownToken, requestId }, id);
    return strategyId === undefined ? { fund_id: id } : { strategy_id: strategyId };
  } catch (thrown) {
    if (isUnknown(thrown)) return { fund_id: id };
    throw thrown;
  }
}

function isUnknown(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.code === "NOT_FOUND";
}
