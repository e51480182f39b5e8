// Asked of every request whose caller showed no token that was verified, before anything is done for it: what its share is, what it costs, and whether there
// is as much left. Whoever asked for more is answered, and its connection rests.
import type { FastifyReply, FastifyRequest } from "fastify";
import { costWithoutToken } from "../../../contracts/src/authority.ts";
import type { OpenShare } from "../../../contracts/src/doors/open-shares.ts";
import { callerKey } from "../../listener/caller-key.ts";
import { addressOf, isDirect } from "../caller-address.ts";
import type { Refuse } from "../refusals.ts";
import { factsOf, operationOf } from "../route-facts.ts";
import type { StrangerBudget } from "./stranger-budget.ts";

export interface StrangerGate {
  /** Undefined lets the request go on; a reply has already been sent. */
  admit(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
  /** How little this address asked lately of the share, from 0 to 1. */
  urgencyOf(request: FastifyRequest): number;
}

interface GateParts {
  readonly budget: StrangerBudget;
  readonly refuse: Refuse;
  readonly rest: (socket: FastifyRequest["raw"]["socket"]) => void;
}

export function strangerGate({ budget, refuse, rest }: GateParts): StrangerGate {
  return {
    urgencyOf: (request) => budget.left(callerKey(addressOf(request)), askedOf(request).share),
    admit: (request, reply) => {
      const { share, cost } = askedOf(request);
      const { allowed, waitS, short } = budget.take(callerKey(addressOf(request)), share, cost);
      if (allowed) return undefined;
      // Behind a proxy the connection is everybody's.
      if (isDirect(request)) rest(request.raw.socket);
      const whose =
        short === "address"
          ? "This address asks for more than it may without a token"
          : "More is asked here without a token than is answered; whoever shows one is";
      return refuse(request, reply, {
        code: "RESOURCE_EXHAUSTED",
        detail: `${whose}; try again in ${waitS} s.`,
        headers: { "retry-after": String(waitS) },
      });
    },
  };
}

function askedOf(request: FastifyRequest): { readonly share: OpenShare; readonly cost: number } {
  const operation = operationOf(request);
  const open = operation === undefined ? undefined : costWithoutToken(operation);
  if (open === undefined) return { share: "nothing", cost: 1 };
  const ofRoute = open.share === "data" ? factsOf(request)?.publicCost : undefined;
  return { share: open.share, cost: ofRoute ?? open.cost };
}
