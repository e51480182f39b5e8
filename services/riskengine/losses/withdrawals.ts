// Treasury's question before money leaves a fund: answered, and reserved, in one step of the engine.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  ReserveWithdrawalRequest,
  WithdrawalReserved,
} from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { tryParse } from "../../../contracts/src/instant.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { DeniedAnswer } from "../../../ports/rpc.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";

export function createReserveWithdrawal(
  { clock }: Pick<ServicePorts, "clock">,
  engine: Pick<Engine, "reserveWithdrawal">,
): (request: ReserveWithdrawalRequest) => Promise<WithdrawalReserved | DeniedAnswer> {
  return async (request) => {
    const { fund_id: fundId } = request;
    const amount = decimal.tryParse(request.amount);
    const cash = decimal.tryParse(request.cash);
    const at = tryParse(request.at);
    if (amount === undefined || amount <= 0n) throw invalid("amount", request.amount, "a decimal above zero");
    if (cash === undefined) throw invalid("cash", request.cash, "a decimal");
    if (at === undefined) throw invalid("at", request.at, "a moment");
    const denial = engine.reserveWithdrawal({ fundId, amount, cash, at }, clock.now());
    return denial === undefined ? {} : { denial };
  };
}

function invalid(field: string, given: string, wanted: string): Fault {
  const sentence = `${field} is ${JSON.stringify(line(given, 64))} and should be ${wanted}.`;
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}
