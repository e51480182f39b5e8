// Ten thousand funds mostly allow the same brokers and have the same limits. Their envelopes share what is equal, so that reading one fund's
// finds what the last fund's left in the cache.
import type { Amount } from "../money/amount.ts";
import type { Envelope } from "./envelope.ts";

/** What envelopes have in common so far; bounded, because forgetting it costs nothing but speed. */
export interface SharedParts {
  readonly sets: Map<string, ReadonlySet<string>>;
  readonly sectors: Map<string, ReadonlyMap<string, Amount>>;
}

const partsMax = 10_000;

export function createSharedParts(): SharedParts {
  return { sets: new Map(), sectors: new Map() };
}

export function shareParts(parts: SharedParts, envelope: Envelope): Envelope {
  const set = (values: ReadonlySet<string>) => shared(parts.sets, JSON.stringify([...values].sort()), values);
  const sectorsText = JSON.stringify(
    [...envelope.sectorLimits].map(([sector, limit]) => [sector, String(limit)]).sort(),
  );
  return {
    ...envelope,
    allowedBrokers: set(envelope.allowedBrokers),
    allowedOrderTypes: set(envelope.allowedOrderTypes),
    allowedAssetClasses: set(envelope.allowedAssetClasses),
    sectorLimits: shared(parts.sectors, sectorsText, envelope.sectorLimits),
  };
}

function shared<Key, Value>(known: Map<Key, Value>, key: Key, value: Value): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= partsMax) known.clear();
  known.set(key, value);
  return value;
}
