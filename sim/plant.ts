// A planted bug: what the simulator must find.
import type { MemoryWorld } from "../adapters/memory/world.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { OrderDesk } from "../ports/peers.ts";
import type { ReferenceData } from "../ports/reference-data.ts";
import type { Store } from "../ports/store.ts";
import type { ServiceName } from "../services/shared/service.ts";
import type { Dice } from "../testkit/virtual/dice.ts";

export interface Plant {
  readonly name: string;
  readonly sentence: string;
  /** Changes the world before anybody lives in it. */
  world?(world: MemoryWorld, dice: Dice): void;
  /** Gives a service other ports than it would have. */
  ports?<Ports extends PlantedPorts>(service: ServiceName, ports: Ports): Ports;
}

export interface PlantedPorts {
  readonly clock: Clock;
  readonly referenceData: ReferenceData;
  readonly store: Store;
  readonly bus: Bus;
  readonly orderDesk: OrderDesk;
}
