// Whose prices count, for those who hear prices and follow no reference data otherwise: it is read again at most once a second, and only while prices from
// outside come. While it could never be read, nobody knows who is named, and no price from outside counts. Where nobody is named, the risk engine keeps whose
// turn it is, and everybody else takes that over, so that all of them agree and a restart changes nobody's turn.

import { messageOf } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { isSimulated, type Mark } from "../../contracts/src/records/market.ts";
import { createPriceSources, type PriceSources } from "../../core/exposure/price-sources.ts";
import type { Reference } from "../../ports/reference-data.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ServicePorts } from "./service.ts";

const lookEveryMs = 1_000;
const unknown: ReturnType<PriceSources["ask"]> = { kind: "WAITS", whose: [] };

/** By symbol: an instrument's own, else its venue's. */
export function namedSources({
  instruments,
  venues,
}: Pick<Reference, "instruments" | "venues">): ReadonlyMap<string, readonly string[]> {
  const ofVenues = new Map(venues.map(({ venue, priced_by: named }) => [venue, named]));
  return new Map(
    instruments.flatMap(({ symbol, venue = "", priced_by: own }) => {
      const named = own === undefined || own.length === 0 ? ofVenues.get(venue) : own;
      return named === undefined ? [] : [[symbol, named] as const];
    }),
  );
}

export interface FollowedSources extends PriceSources {
  /** Before the price is judged. */
  look(mark: Mark): Promise<void>;
}

/** Gives those that were kept after that place to whoever judges; gives the newest place. */
export async function restoreTurns(
  { store, clock }: Pick<ServicePorts, "store" | "clock">,
  sources: Pick<PriceSources, "restore">,
  after: number,
): Promise<number> {
  const read = (unit: UnitOfWork) => unit.foreign.priceTurns(after);
  const { turns, place } = await store.transact("prices.turns", read, { isOneStatement: true });
  for (const turn of turns) sources.restore(turn, clock.now());
  return place;
}

type FollowPorts = Pick<ServicePorts, "store" | "referenceData" | "clock" | "settings" | "log">;

/** What was kept is in force when it resolves. */
export async function followPriceSources(ports: FollowPorts): Promise<FollowedSources> {
  const { referenceData, clock, settings, log } = ports;
  let named: ReadonlyMap<string, readonly string[]> = new Map();
  let change: number | undefined;
  let lookedAt: Instant | undefined;

  const sources = createPriceSources({
    namedFor: (symbol) => named.get(symbol),
    markAgeMsMax: settings.risk.markAgeMsMax,
  });
  const isUnknown = (source: string): boolean => change === undefined && !isSimulated({ source });
  let place = await restoreTurns(ports, sources, 0);

  return {
    ...sources,
    judge: (mark, now) => (isUnknown(mark.source) ? unknown : sources.judge(mark, now)),
    ask: (mark, now) => (isUnknown(mark.source) ? unknown : sources.ask(mark, now)),
    async look(mark) {
      const now = clock.now();
      if (isSimulated(mark)) return;
      if (lookedAt !== undefined && Math.abs(millisecondsBetween(lookedAt, now)) < lookEveryMs) return;
      lookedAt = now;
      try {
        place = await restoreTurns(ports, sources, place);
        if ((await referenceData.changed()) === change) return;
        const reference = await referenceData.read();
        named = namedSources(reference);
        change = reference.change;
      } catch (thrown) {
        // What was read last counts on; before, nothing from outside does.
        log.warn("whose prices count cannot be read", { reason: messageOf(thrown) });
      }
    },
  };
}
