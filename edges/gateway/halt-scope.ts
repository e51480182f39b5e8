// Funds and strategies share one namespace, so people name one of them and need not say which it is. The halt manager knows; this asks it.
import { Fault } from "../../contracts/src/fault.ts";
import type { HaltStatus, HaltStatusRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import type { HttpRequest } from "../../ports/http.ts";
import type { Outcome } from "../../ports/identity.ts";
import { askService } from "./ask-service.ts";
import type { GatewayParts } from "./parts.ts";

type Parts = Pick<GatewayParts, "services">;

export interface AskedStatus {
  readonly outcome: Outcome<HaltStatus>;
  /** Set when the name is a strategy's. */
  readonly strategyId?: string;
}

export async function askHaltStatus(parts: Parts, request: HttpRequest, id: string | undefined): Promise<AskedStatus> {
  try {
    return { outcome: await ask(parts, request, { fund_id: id ?? "" }) };
  } catch (thrown) {
    if (id === undefined || !isUnknown(thrown)) throw thrown;
    return { outcome: await askStrategy(parts, request, id), strategyId: id };
  }
}

async function askStrategy(parts: Parts, request: HttpRequest, id: string): Promise<Outcome<HaltStatus>> {
  try {
    return await ask(parts, request, { fund_id: "", strategy_id: id });
  } catch (thrown) {
    if (!isUnknown(thrown)) throw thrown;
    throw new Fault("NOT_FOUND", `There is no fund and no strategy ${JSON.stringify(id)}.`, { retry: "never" });
  }
}

function ask(parts: Parts, request: HttpRequest, message: HaltStatusRequest): Promise<Outcome<HaltStatus>> {
  return askService<HaltStatusRequest, HaltStatus>(parts, request, {
    service: "Operations",
    method: "GetHaltStatus",
    message,
  });
}

export function isUnknown(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.code === "NOT_FOUND";
}
