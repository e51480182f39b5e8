// What the listener knows about a request from the place it was routed to: who may come here, how often, and under which
// name it stands in logs and figures. A request that was routed nowhere has none of these and gets the listener's own rule.
import type { FastifyRequest } from "fastify";
import type { Operation } from "../../contracts/src/authority.ts";
import type { Bound } from "./body/bound.ts";

/** "nobody in particular" lets everyone through unasked; "anyone with a token" asks for proof and for no role. */
export type Access = Operation | "anyone with a token" | "nobody in particular";

/** Counts one attempt; seconds to wait when it was one too many. */
export type AttemptLimit = (request: FastifyRequest) => Promise<number | undefined>;

/** Waited for before work begins; undefined is at once. */
export type TurnOf = (request: FastifyRequest) => Promise<void> | undefined;

export interface RouteFacts {
  readonly access: Access;
  /** By address, before anybody is asked who they are. */
  readonly attempts?: AttemptLimit;
  /** By person, once it is known who calls. */
  readonly personAttempts?: AttemptLimit;
  /** Of the public listener's routes: what a request costs of its address's tokens. */
  readonly publicCost?: number;
  /** What its body may hold. */
  readonly body?: Bound;
  /** Of a mount: what stands in place of its paths, which may hold ids. */
  readonly prefix?: string;
}

declare module "fastify" {
  interface FastifyContextConfig {
    facts?: RouteFacts;
  }
}

export function factsOf(request: FastifyRequest): RouteFacts | undefined {
  return request.routeOptions.config?.facts;
}

/** The row of the table that guards it; undefined for what leads nowhere. */
export function operationOf(request: FastifyRequest): Operation | undefined {
  const access = factsOf(request)?.access;
  return access === "anyone with a token" || access === "nobody in particular" ? undefined : access;
}

/** The label of figures: one of finitely many, whatever was asked for. */
export function routeLabel(request: FastifyRequest): string {
  return factsOf(request)?.prefix ?? request.routeOptions.url ?? "none";
}

const plainSegment = /^\.?[a-z][a-z_-]{0,31}$/;

/** The path for a log line: never its query, and below a mount only the first segment, because ids follow it. */
export function loggedPath(request: FastifyRequest): string {
  const path = pathOf(request.url);
  const prefix = factsOf(request)?.prefix;
  if (prefix === undefined) return path;
  const first = path.slice(prefix.length + 1).split("/", 1)[0] ?? "";
  return plainSegment.test(first) ? `${prefix}/${first}` : prefix;
}

export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}
