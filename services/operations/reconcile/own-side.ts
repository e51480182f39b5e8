// What the reconciler gathers with, and our own side of an account.
import type { Broker } from "../../../ports/broker.ts";
import type { StoredOrder, StoredPosition } from "../../../ports/oms-records.ts";
import type { ServicePorts } from "../../shared/service.ts";

export interface GatherPorts extends Pick<ServicePorts, "store" | "timers"> {
  readonly broker: Broker;
}

export interface OwnSide {
  /** The broker's report up to which these books were kept. */
  readonly cursor: number;
  readonly positions: readonly StoredPosition[];
  readonly open: readonly StoredOrder[];
  /** The report up to which both sides last agreed. */
  readonly agreedCursor: number;
}
