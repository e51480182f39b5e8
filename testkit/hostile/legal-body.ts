// Whether a body is one that its route reads at all: what it holds is counted before its description is asked.

import { beyondBound } from "../../adapters/http/body/beyond-bound.ts";
import { bodyBytesMaxOf, boundOf } from "../../adapters/http/body/bound.ts";
import type { Operation } from "../../contracts/src/authority.ts";
import { gatewayRoutes } from "../../edges/gateway/index.ts";
import type { GatewayParts } from "../../edges/gateway/parts.ts";

interface LegalBody {
  readonly bytesMax: number;
  readonly isWithin: (body: unknown) => boolean;
}

/** By the route's name. The routes are only looked at. */
export function legalBodies(): ReadonlyMap<string, LegalBody> {
  return new Map(
    gatewayRoutes({} as GatewayParts).flatMap(({ id, body, intake }): [string, LegalBody][] => {
      if (body === undefined) return [];
      const bound = boundOf(body, id);
      const bytesMax = intake?.bodyBytesMax ?? bodyBytesMaxOf(bound);
      const isWithin = (sent: unknown): boolean => beyondBound(Buffer.from(JSON.stringify(sent)), bound) === undefined;
      return [[id, { bytesMax, isWithin }]];
    }),
  );
}

/** By the route's name, what a caller must be allowed to do. */
export function operationByRoute(): ReadonlyMap<string, Operation> {
  return new Map(gatewayRoutes({} as GatewayParts).map(({ id, operation }) => [id, operation]));
}
