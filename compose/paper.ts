// The paper platform's outside world as services get it: quotes, the market's past, and the broker. Orders trade in the process of order management.

import type { PaperBeginnings } from "../adapters/paper-broker/paper-beginnings.ts";
import { openPaper } from "../adapters/paper-market/open-paper.ts";
import type { Transport } from "../adapters/transport/open-transport.ts";
import * as decimal from "../contracts/src/decimal.ts";
import { isBuy } from "../core/paper/paper-matching.ts";
import { movePosition, type PaperPosition } from "../core/paper/paper-positions.ts";
import { paperListings, paperPositions } from "../services/shared/paper-seeds.ts";
import type { Service, ServicePorts } from "../services/shared/service.ts";
import type { basePorts, PartInput, Stops } from "./shared.ts";

interface PaperInput {
  readonly base: Awaited<ReturnType<typeof basePorts>>["ports"];
  readonly input: PartInput;
  readonly place: Transport["paperPlace"];
  readonly chosen: readonly Service[];
  /** Whether the paper platform's first positions are put in, and how fast its market has run. */
  readonly beginnings: PaperBeginnings;
}

export async function paperPorts(
  { base, input, place, chosen, beginnings }: PaperInput,
  stops: Stops,
): Promise<Pick<ServicePorts, "quotes" | "marketHistory" | "brokers">> {
  const paper = await openPaper({
    ...base,
    configuration: input.configuration,
    place,
    listings: paperListings,
    speeds: beginnings.speeds,
    followsFaults: chosen.some(({ name }) => name !== "riskengine"),
    ...(chosen.some(({ name }) => name === "oms") && {
      matching: { firstPositions: firstPositions(beginnings.seeded) },
    }),
  });
  stops.push(() => paper.close());
  return { quotes: paper.quotes, marketHistory: paper.history, brokers: [paper.broker] };
}

/** What the broker holds when its books begin: an account is a fund, so strategies that hold the same are added up. */
function firstPositions(seeded: boolean): readonly PaperPosition[] {
  const held = new Map<string, PaperPosition>();
  for (const { fundId: account, symbol, side, quantity, price } of seeded ? paperPositions : []) {
    const key = JSON.stringify([account, symbol]);
    const before = held.get(key) ?? { account, symbol, quantity: decimal.zero, averagePrice: decimal.zero };
    const units = decimal.parse(quantity);
    held.set(key, movePosition(before, isBuy(side) ? units : decimal.negate(units), decimal.parse(price)));
  }
  return [...held.values()];
}
