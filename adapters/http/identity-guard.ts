// Who is calling and whether they may, asked before a request's body is read and before its path or method is known to exist: a
// stranger learns nothing from the difference. On the operators' listener every request is asked, those that lead nowhere included.
import type { FastifyReply, FastifyRequest } from "fastify";
import { mayCall, type Operation, whyNot, whyNotOfFunds } from "../../contracts/src/authority.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Listener } from "../../ports/http.ts";
import type { Identity } from "../../ports/identity.ts";
import { attemptSubject } from "../listener/attempt-subject.ts";
import { stranger } from "../listener/refused-attempts.ts";
import { challenge, type Shown, shownBy } from "./bearer.ts";
import type { HttpPorts } from "./http-ports.ts";
import type { Refusal, Refuse } from "./refusals.ts";
import { type Access, factsOf, loggedPath } from "./route-facts.ts";

export interface IdentityGuard {
  /** Undefined lets the request go on; a reply has already been sent. */
  check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>;
  /** Who a checked request's caller is; undefined when they showed nothing that counts. */
  identityOf(request: FastifyRequest): Identity | undefined;
}

export interface GuardOptions {
  readonly listener: Listener;
  readonly ports: Pick<HttpPorts, "verifier" | "log" | "tellRefusal">;
  readonly refuse: Refuse;
  /** Where the operators' listener is reached, for the pointer to how one logs in. */
  readonly baseUrl: () => string;
  /** Somebody on this connection showed a good token. */
  readonly onKnown?: ((request: FastifyRequest, identity: Identity) => void) | undefined;
  /** Asked for whoever showed none; undefined lets the request go on. */
  readonly admitStranger?: ((request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined) | undefined;
}

export function identityGuard(options: GuardOptions): IdentityGuard {
  const identities = new WeakMap<FastifyRequest, Identity>();
  const keep = (request: FastifyRequest, identity: Identity): void => {
    identities.set(request, identity);
    options.onKnown?.(request, identity);
  };
  return {
    identityOf: (request) => identities.get(request),
    check: async (request, reply) => {
      const facts = factsOf(request);
      const access = facts?.access ?? accessToNothing(options.listener);
      const shown = shownBy(request.raw);
      if (access === "nobody in particular" || (access !== "anyone with a token" && isForAnyone(access))) {
        // What mounts are shown is theirs: their clients authenticate to them, not to us.
        const identity = facts?.prefix === undefined ? await identityIfGood(shown, request, options) : undefined;
        if (identity === undefined) return options.admitStranger?.(request, reply);
        keep(request, identity);
        return undefined;
      }
      const identity = await identityOrRefusal(shown, request, reply, options, access);
      // The listener's time limit may have answered while the verifier was asked.
      if (reply.sent) return reply;
      if (identity === undefined) return reply;
      keep(request, identity);
      const refusal = access === "anyone with a token" ? undefined : refusalOf(access, identity);
      if (access === "anyone with a token" || refusal === undefined) return undefined;
      const reported = {
        identity,
        operation: access,
        target: loggedPath(request),
        // The body is not read for somebody who may not: only the path can name it.
        about: attemptSubject(request.params),
        code: refusal.code,
        reason: refusal.detail,
      };
      options.ports.tellRefusal?.(reported);
      return options.refuse(request, reply, refusal);
    },
  };
}

function refusalOf(operation: Operation, identity: Identity): (Refusal & { readonly detail: string }) | undefined {
  const { actor } = identity;
  if (!mayCall(operation, identity)) return { code: "PERMISSION_DENIED", detail: whyNot(operation), actor };
  const ofFunds = whyNotOfFunds(operation, identity);
  return ofFunds === undefined ? undefined : { code: "FUND_NOT_YOURS", detail: ofFunds, actor };
}

/** A path that leads nowhere is a secret of the operators' listener; on the public one there is nothing to keep. */
export function accessToNothing(listener: Listener): Access {
  return listener === "operator" ? "anyone with a token" : "nobody in particular";
}

export function isForAnyone(operation: Operation): boolean {
  return mayCall(operation, undefined);
}

async function identityOrRefusal(
  shown: Shown,
  request: FastifyRequest,
  reply: FastifyReply,
  { ports, refuse, baseUrl, listener, admitStranger }: GuardOptions,
  access: Access,
): Promise<Identity | undefined> {
  const unauthenticated = (detail: string, tokenWasSent: boolean): undefined => {
    // Who asked more than a stranger may is not told of one by one.
    if (admitStranger?.(request, reply) !== undefined) return undefined;
    if (access !== "anyone with a token" && access !== "nobody in particular") {
      const reported = { target: loggedPath(request), about: attemptSubject(request.params) };
      ports.tellRefusal?.({
        ...reported,
        identity: stranger,
        operation: access,
        code: "UNAUTHENTICATED",
        reason: detail,
      });
    }
    const headers = { "www-authenticate": challenge(baseUrl(), tokenWasSent) };
    refuse(request, reply, { code: "UNAUTHENTICATED", detail, headers });
    return undefined;
  };
  if (shown.kind === "nothing") return unauthenticated("Send a token: Authorization: Bearer <token>.", false);
  if (shown.kind === "malformed") return unauthenticated(shown.complaint, shown.bearer);
  try {
    return await ports.verifier.verify(shown.token);
  } catch (thrown) {
    if (reply.sent || !(thrown instanceof Fault)) throw thrown;
    if (thrown.code === "UNAUTHENTICATED") return unauthenticated(thrown.message, true);
    if (thrown.code !== "IDENTITY_UNAVAILABLE") throw thrown;
    // Not knowing is never a yes, and the public is not told what we do not know.
    const detail = listener === "operator" ? { detail: thrown.message } : {};
    refuse(request, reply, { code: thrown.code, ...detail, headers: { "retry-after": "1" } });
    return undefined;
  }
}

/** Where nobody is asked for proof, proof that is no good is as good as none. */
async function identityIfGood(
  shown: Shown,
  request: FastifyRequest,
  { ports }: GuardOptions,
): Promise<Identity | undefined> {
  if (shown.kind !== "token") return undefined;
  try {
    return await ports.verifier.verify(shown.token);
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    ports.log.debug("a token that was not asked for is not good", { request_id: request.id, code: thrown.code });
    return undefined;
  }
}
