// Channels of which only the newest counts: quotes and funds. Each keeps one value with its sequence; what changed since it was asked for last is given once.
import type { Quote } from "../../../contracts/src/generated/svc/v1/market.ts";
import { testSymbol } from "../../../contracts/src/records/market.ts";
import { plain } from "../ask-service.ts";

interface Newest {
  readonly sequence: number;
  readonly json: string;
}

interface ConflatedChannels {
  get(channel: string): Newest | undefined;
  put(channel: string, newest: Newest): void;
  /** Under the next sequence, if it differs from what is there. */
  putChanged(channel: string, value: object): void;
  putQuotes(quotes: ReadonlyMap<string, Quote>): void;
  /** Which changed since this was asked. */
  takeChanged(): readonly string[];
}

export function conflatedChannels(options: {
  isFollowed(channel: string): boolean;
  onChange(): void;
}): ConflatedChannels {
  const all = new Map<string, Newest>();
  const changed = new Set<string>();

  function put(channel: string, newest: Newest): void {
    all.set(channel, newest);
    changed.add(channel);
    options.onChange();
  }

  function putChanged(channel: string, value: object): void {
    const json = JSON.stringify(plain(value));
    const before = all.get(channel);
    if (before?.json !== json) put(channel, { sequence: (before?.sequence ?? 0) + 1, json });
  }

  return {
    get: (channel) => all.get(channel),
    put,
    putChanged,
    putQuotes: (quotes) => {
      for (const [symbol, quote] of quotes) putChanged(`quotes:${symbol}`, quote);
      for (const channel of all.keys()) {
        const symbol = channel.slice("quotes:".length);
        const isGone = channel.startsWith("quotes:") && symbol !== testSymbol && !quotes.has(symbol);
        // Its sequence begins anew should it come back; whoever still follows it keeps the entry alive.
        if (isGone && !options.isFollowed(channel)) all.delete(channel);
      }
    },
    takeChanged: () => {
      const taken = [...changed];
      changed.clear();
      return taken;
    },
  };
}
