// A planted bug: what the simulator must find.

import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { OrderManagement } from "../ports/peers.ts";
import type { ReferenceData } from "../ports/reference-data.ts";
import type { Store } from "../ports/store.ts";
import type { ServiceName } from "../services/shared/service.ts";
import type { MemoryTables } from "../testkit/memory/tables.ts";
import type { Prng } from "../testkit/virtual/prng.ts";

export interface PlantedBug {
  readonly name: string;
  readonly sentence: string;
  /** Changes the world before anybody lives in it. */
  tables?(tables: MemoryTables, prng: Prng): void;
  /** Gives a service other ports than it would have. */
  ports?<Ports extends PlantedPorts>(service: ServiceName, ports: Ports): Ports;
}

export interface PlantedPorts {
  readonly clock: Clock;
  readonly referenceData: ReferenceData;
  readonly store: Store;
  readonly bus: Bus;
  readonly orderManagement: OrderManagement;
}
