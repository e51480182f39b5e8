// Closed bars for the stream: each channel that somebody follows is asked for once for all of them, when its interval is over, one question at a time.
// A bar's sequence is the number of its interval since 1970, so that it is the same after a restart and anybody can resume from it.
import { barNumber, barStart } from "../../../contracts/src/bar-intervals.ts";
import { messageOf } from "../../../contracts/src/fault.ts";
import type { Bar } from "../../../contracts/src/generated/svc/v1/market.ts";
import type { Bars, ListBarsRequest } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import { format, type Instant, parse } from "../../../contracts/src/instant.ts";
import type { BarInterval } from "../../../contracts/src/records/market.ts";
import type { GatewayParts } from "../parts.ts";

/** As many bars as a resume gives back. */
export const replayedBarsMax = 500;
const lookEveryMs = 1_000;
const timeoutMs = 5_000;
/** A market that does not trade is asked so much less often. */
const quietMs = 5_000;

export interface ClosedBar {
  readonly sequence: number;
  readonly bar: Bar;
}

export interface BarsBoard {
  /** The newest bars, or those from a sequence on, oldest first; the channel is followed from now on. Rejects when nobody answers. */
  read(channel: string, from: number | undefined): Promise<readonly Bar[]>;
  stop(): Promise<void>;
}

interface BarsBoardOptions {
  readonly parts: Pick<GatewayParts, "services" | "ownToken" | "clock" | "timers" | "log">;
  /** Whether anybody still listens; a channel without listeners is forgotten. */
  isWanted(channel: string): boolean;
  hear(channel: string, bars: readonly ClosedBar[]): void;
}

interface Followed {
  newest: number;
  askAgainAt: number;
}

export function numbered(bars: readonly Bar[]): readonly ClosedBar[] {
  return bars.map((bar) => ({ sequence: barNumber(bar.interval as BarInterval, parse(bar.start)), bar }));
}

export function placeOf(channel: string): { readonly symbol: string; readonly interval: BarInterval } {
  const name = channel.slice("bars:".length);
  const end = name.lastIndexOf(":");
  return { symbol: name.slice(0, end), interval: name.slice(end + 1) as BarInterval };
}

export function startBarsBoard({ parts, isWanted, hear }: BarsBoardOptions): BarsBoard {
  const { clock, timers, log } = parts;
  const ending = new AbortController();
  const followed = new Map<string, Followed>();
  /** One question at a time: making bars costs the service as much as anybody's question. */
  let turn: Promise<unknown> = Promise.resolve();

  function ask(channel: string, start: Instant | undefined, countMax: number): Promise<readonly Bar[]> {
    const { symbol, interval } = placeOf(channel);
    const message: ListBarsRequest = {
      symbol,
      interval,
      count_max: countMax,
      ...(start !== undefined && { start: format(start) }),
    };
    const asked = turn.then(async () => {
      const options = { bearer: parts.ownToken(), timeoutMs, signal: ending.signal };
      const outcome = await parts.services.call("MarketDesk", "ListBars", message, options);
      if (!outcome.ok) throw new Error(outcome.denial.reason);
      return (outcome.value as Bars).bars;
    });
    turn = asked.catch(() => undefined);
    return asked;
  }

  async function look(channel: string, state: Followed): Promise<void> {
    const { interval } = placeOf(channel);
    const nowMs = clock.now() / 1_000;
    if (barNumber(interval, clock.now()) - 1 <= state.newest || nowMs < state.askAgainAt) return;
    const bars = await ask(channel, barStart(interval, state.newest + 1), 100);
    const fresh = numbered(bars.filter(({ closed }) => closed)).filter(({ sequence }) => sequence > state.newest);
    const newest = fresh.at(-1)?.sequence;
    state.askAgainAt = newest === undefined ? nowMs + (bars.length === 0 ? quietMs : 0) : 0;
    if (newest === undefined) return;
    state.newest = newest;
    hear(channel, fresh);
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await timers.sleep(lookEveryMs, ending.signal);
      for (const [channel, state] of followed) {
        if (!isWanted(channel)) followed.delete(channel);
        else
          await look(channel, state).catch((thrown) => {
            if (!ending.signal.aborted)
              log.debug("bars cannot be read for the stream", { channel, error: messageOf(thrown) });
            state.askAgainAt = clock.now() / 1_000 + quietMs;
          });
      }
    }
  }

  const running = run();
  return {
    read: async (channel, from) => {
      const { interval } = placeOf(channel);
      const start = from === undefined ? undefined : barStart(interval, from);
      const bars = await ask(channel, start, from === undefined ? 2 : replayedBarsMax + 1);
      if (!followed.has(channel)) {
        const newest = numbered(bars.filter(({ closed }) => closed)).at(-1)?.sequence;
        followed.set(channel, { newest: newest ?? barNumber(interval, clock.now()) - 1, askAgainAt: 0 });
      }
      return bars;
    },
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}
