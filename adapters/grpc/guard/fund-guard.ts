// The guard of funds, made from what a procedure declares (contracts/src/ownership/whose.ts): a machine's token that names funds speaks of those alone. It
// stands between decoding and the handler, for single calls and for streams, and tells of whom it turns away as the gates do.
//
//  1. A request that names another fund, or none where it could name one, reaches no handler.
//  2. Where the request names something of a fund instead, such as an order, the service says whose it is. What nobody knows the handler answers.
//  3. An answer has nothing of other funds: their rows are left out, and an answer that is theirs as a whole is refused.
//  4. A server with a procedure that says `fund` and of which none of this can tell does not start.
import { operations, whoseOf } from "../../../contracts/src/authority.ts";
import { Defect, Fault } from "../../../contracts/src/fault.ts";
import { namedByProcedures } from "../../../contracts/src/generated/authority.ts";
import {
  answerForFunds,
  everyFundRefusal,
  fundsRefusal,
  isFundPath,
  requestRefusal,
} from "../../../contracts/src/ownership/whose.ts";
import type { TellRefusal } from "../../../ports/attempts.ts";
import type { EncodedAnswer, FundsOf, RpcCall } from "../../../ports/rpc.ts";
import { attemptSubject } from "../../listener/attempt-subject.ts";
import type { MessageCodec } from "../codecs.ts";
import type { DescribedMethod } from "../descriptor-set.ts";
import { operationOf } from "../procedure-operations.ts";

export interface FundGuard {
  /** Rejects with FUND_NOT_YOURS. */
  mustBeTheirs(request: unknown, call: RpcCall, tellRefusal: TellRefusal | undefined): Promise<void>;
  /** What the caller may read of an answer; throws FUND_NOT_YOURS when that is nothing. */
  theirPart(answer: unknown, call: RpcCall): unknown;
}

interface GuardedProcedure {
  readonly service: string;
  readonly method: DescribedMethod;
  readonly response: MessageCodec;
  /** Without a handler nothing is done, and nobody needs to tell whose it would be. */
  readonly isServed: boolean;
  /** Of the service that has the handler. */
  readonly fundsOf?: FundsOf | undefined;
}

const nowhere = { request: [], answer: [] };

export function fundGuard({ service, method, response, isServed, fundsOf }: GuardedProcedure): FundGuard {
  const operation = operationOf(service, method.name);
  const whose = whoseOf(operation);
  const named = namedByProcedures[`${service}/${method.name}`] ?? nowhere;
  const [asked, answered] = [named.request.filter(isFundPath), named.answer.filter(isFundPath)];
  const isOfFunds = whose.includes("fund");
  // What a change is about must be known before it is done.
  const tells = fundsOf !== undefined || asked.length > 0 || (operations[operation].reads && answered.length > 0);
  if (isOfFunds && isServed && !tells) {
    throw new Defect(
      `${service}/${method.name} is guarded by its fund, and nothing tells which: declare fundsOf beside it.`,
    );
  }

  async function refusalOf(request: unknown, { identity: { funds } }: RpcCall): Promise<string | undefined> {
    const everyFund = everyFundRefusal(whose, funds);
    if (everyFund !== undefined || !isOfFunds) return everyFund;
    const known = await fundsOf?.(request as never);
    if (known === "every") return everyFundRefusal(["every_fund"], funds);
    return fundsRefusal(known ?? [], funds) ?? (asked.length === 0 ? undefined : requestRefusal(request, asked, funds));
  }

  return {
    async mustBeTheirs(request, call, tellRefusal) {
      if (call.identity.funds === undefined) return;
      const reason = await refusalOf(request, call);
      if (reason === undefined) return;
      const about = attemptSubject(request);
      const { identity } = call;
      tellRefusal?.({ identity, operation, target: method.path, about, code: "FUND_NOT_YOURS", reason });
      throw new Fault("FUND_NOT_YOURS", reason, { retry: "never", isReported: true });
    },
    theirPart(answer, { identity: { funds } }) {
      if (funds === undefined || !isOfFunds || typeof answer !== "object" || answer === null) return answer;
      if ("denial" in answer) return answer;
      const whole = "encoded" in answer ? response.decode((answer as EncodedAnswer).encoded) : answer;
      const part = answerForFunds(whole as object, answered, funds);
      if (part !== undefined) return part;
      const reason =
        "What you ask about belongs to a fund that your token does not name: ask with a token of that fund.";
      throw new Fault("FUND_NOT_YOURS", reason, { retry: "never" });
    },
  };
}
