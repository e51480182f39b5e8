// A price of a symbol that nobody knows counts nowhere. Over gRPC its publisher is answered so; over NATS nobody answers, so it is an alarm, once for each feed.
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Mark } from "../../../contracts/src/records/market.ts";
import { unknownSymbol } from "../../../core/foreign/judge-event.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Alarms } from "../alarms.ts";
import type { ReferenceWatch } from "../reference-watch.ts";

interface UnknownPricesOptions {
  readonly ports: Pick<ServicePorts, "clock">;
  readonly reference: Pick<ReferenceWatch, "currencyOf">;
  readonly alarms: Pick<Alarms, "raise">;
}

/** A symbol that was set a moment ago may be priced before its instrument is read here. */
const graceMs = 5_000;
/** Feeds whose unknown symbols are watched; what others say of symbols that nobody knows counts as little and is not told. */
const sourcesMax = 100;

export function watchUnknownPrices({ ports, reference, alarms }: UnknownPricesOptions): (mark: Mark) => void {
  /** By source: the first unknown symbol that it still publishes, and since when. */
  const unknown = new Map<string, { readonly symbol: string; readonly since: Instant }>();
  return ({ symbol, source }) => {
    const first = unknown.get(source);
    const isKnown = reference.currencyOf(symbol) !== undefined;
    if (isKnown) {
      if (first?.symbol === symbol) unknown.delete(source);
      return;
    }
    if (first === undefined) {
      if (unknown.size < sourcesMax) unknown.set(source, { symbol, since: ports.clock.now() });
      return;
    }
    if (millisecondsBetween(first.since, ports.clock.now()) < graceMs) return;
    const { sentence } = unknownSymbol(first.symbol);
    const said = `${source} publishes prices of ${first.symbol}: EVENT_SYMBOL_UNKNOWN. ${sentence}`;
    alarms.raise("EVENT_REFUSED", `${source}: unknown symbols`, said);
  };
}
