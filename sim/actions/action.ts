// The shape of an action of the simulator: a caller asks one operation of the platform, now rightly and now wrongly, over the same bad network links as
// everybody. What an action needs to remember it keeps in `asked`, by operation.
import type { Operation } from "../../contracts/src/authority.ts";
import type { Prng } from "../../testkit/virtual/prng.ts";
import { insist, one, type PeopleParts } from "../people.ts";
import { operatorIdentity, serviceIdentity } from "../platform.ts";

export interface ActionParts extends PeopleParts {
  readonly prng: Prng;
  /** Orders that a client was approved and never sends. */
  readonly crashed: readonly string[];
  /** Keys of the audit log that were replaced, by their ids. */
  readonly oldKeys: string[];
  /** Requests so far, by operation, the newest last. */
  readonly asked: Map<Operation, object[]>;
}

export type Act = (parts: ActionParts) => Promise<unknown>;

export const funds = ["alpha", "beta", "gamma"];
export const strategies = ["alpha-momentum", "alpha-meanrev", "beta-trend", "gamma-income"];
export const symbols = ["AAPL", "XOM", "MSFT", "SPY", "ETH-USD", "BTC-USD"];
export const reason = "a simulated reason";

/** Remembered requests of one operation. */
const rememberedMax = 20;

/** Asks as a person who may do everything, until there is an answer. */
export function asOfficer(parts: ActionParts, service: string, operation: Operation, request: object) {
  remember(parts, operation, request);
  return insist(parts, parts.platform.ask(operatorIdentity("duty")), service, operation, request);
}

export function asService(parts: ActionParts, name: string, service: string, operation: Operation, request: object) {
  remember(parts, operation, request);
  return insist(parts, parts.platform.ask(serviceIdentity(name)), service, operation, request);
}

export function remember({ asked }: ActionParts, operation: Operation, request: object): void {
  asked.set(operation, [...(asked.get(operation) ?? []), request].slice(-rememberedMax));
}

/** A request of before, or undefined when there is none. */
export function earlier<Request extends object>({ asked, prng }: ActionParts, operation: Operation) {
  const all = asked.get(operation) ?? [];
  return all.length === 0 ? undefined : (one(prng, all) as Request);
}

/** A key that nobody used. */
export function freshKey({ prng }: ActionParts, what: string): string {
  return `${what}-${prng.word().toString(36)}`;
}

/** Mostly a good reason, now and then none. */
export function someReason({ prng }: ActionParts): string {
  return prng.chance(0.92) ? reason : "";
}
