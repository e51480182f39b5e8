// What the engine does with foreign programs, put together: judges and counts what they publish, and blocks what of it cannot be believed.
import type { Engine } from "../../../core/engine/engine.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { TouchedOrders } from "../../shared/touched-orders.ts";
import type { FundBlocks } from "../blocks/fund-blocks.ts";
import { createValueBlocks } from "../blocks/value-blocks.ts";
import type { OrderOwnership } from "../ownership/order-ownership.ts";
import type { ReferenceWatch } from "../reference-watch.ts";
import { createForeignEvents } from "./foreign-events.ts";
import { watchGapBlocks } from "./gap-blocks.ts";
import { watchHeldFills } from "./held-fills.ts";
import { createNotYours } from "./not-yours.ts";
import { hearRefused } from "./refused-events.ts";
import { createSpokenFor } from "./spoken-for.ts";

interface ForeignOptions {
  readonly ports: ServicePorts;
  readonly engine: Engine;
  readonly reference: ReferenceWatch;
  readonly ownership: OrderOwnership;
  readonly touched: TouchedOrders;
}

/** Judges and counts what foreign programs publish, and blocks funds whose events have gaps, whose fills are held, or whose values nothing explains. */
export function foreignParts({ ports, engine, reference, ...owned }: ForeignOptions, blocks: FundBlocks) {
  const spokenFor = createSpokenFor();
  const gapBlocks = watchGapBlocks({ ports, engine, blocks, reference, spokenFor });
  const heldFills = watchHeldFills({ ports, engine, blocks, reference });
  const counted = gapBlocks.wake;
  const refused = hearRefused({ ports, counted });
  const values = createValueBlocks({ ports, engine, blocks });
  const notYours = createNotYours(ports);
  return {
    gapBlocks,
    heldFills,
    refused,
    values,
    notYours,
    foreign: createForeignEvents({ ports, reference, counted, notYours, spokenFor, ...owned }),
  };
}
