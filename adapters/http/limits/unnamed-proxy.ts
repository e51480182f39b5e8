// A proxy that the configuration does not name: everybody behind it is one address, and shares its budget. Nobody is believed for what they say of others
// here; that it is said is what health tells, and `ctl doctor`.
import type { FastifyRequest } from "fastify";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Health } from "../../../ports/health.ts";
import { addressOf, isDirect } from "../caller-address.ts";

/** Health tells of it for so long after its last request. */
const rememberedMs = 600_000;

export interface UnnamedProxy {
  see(request: FastifyRequest): void;
  health(): Health;
}

export function unnamedProxy(clock: Clock): UnnamedProxy {
  let last: { readonly address: string; readonly at: Instant } | undefined;
  return {
    see: (request) => {
      const { headers } = request;
      const speaksForOthers = headers["x-forwarded-for"] !== undefined || headers["forwarded"] !== undefined;
      if (speaksForOthers && isDirect(request)) last = { address: addressOf(request), at: clock.now() };
    },
    health: () => {
      if (last === undefined) return { status: "ok" };
      const agoMs = millisecondsBetween(last.at, clock.now());
      if (agoMs < 0 || agoMs > rememberedMs) return { status: "ok" };
      const complaint = `Requests from ${last.address} say that they come for others. If that is a proxy of yours, name it in http.trusted_proxies: everybody behind it counts as one address.`;
      return { status: "ok", complaint };
    },
  };
}
