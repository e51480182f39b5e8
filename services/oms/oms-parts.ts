// What the parts of order management share: their ports, and how they wake each other.
import { Fault } from "../../contracts/src/fault.ts";
import type { Broker } from "../../ports/broker.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { ServicePorts } from "../shared/service.ts";

export type OmsPorts = Pick<
  ServicePorts,
  | "clock"
  | "timers"
  | "random"
  | "crash"
  | "log"
  | "store"
  | "bus"
  | "sha256"
  | "brokers"
  | "riskChecks"
  | "riskStore"
  | "riskBooks"
  | "referenceData"
  | "omsQueries"
  | "settings"
>;

/** What a step made of an order: the order as it is now, nothing to do before somebody wakes it, or nothing yet. */
export type StepOutcome = StoredOrder | "rest" | "later";
export type Step = (stored: StoredOrder) => Promise<StepOutcome>;

/** How parts tell each other that there is something to do; none of these waits. */
export interface Bells {
  /** Look at this order. */
  order(orderId: string): void;
  /** There may be reports of this broker. */
  reports(brokerName: string): void;
  /** A position became smaller, or turned. */
  position(fundId: string, symbol: string): void;
}

/** An idempotency key counts for this long. */
export const keyWindowMs = 300_000;

export function brokerOf({ brokers }: Pick<OmsPorts, "brokers">, name: string): Broker {
  const found = brokers.find((broker) => broker.name === name);
  if (found !== undefined) return found;
  throw new Fault("BROKER_UNAVAILABLE", `There is no broker ${name} here.`, {
    retry: "later",
    facts: { broker: name },
  });
}

/** Whether the broker said nothing, so that what became of the request is unknown. */
export function isSilence(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.code === "BROKER_UNAVAILABLE";
}

/** Whether the broker said that it has nothing under that id. */
export function isNotThere(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.code === "NOT_FOUND";
}
