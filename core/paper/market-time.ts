// The paper market's own time: it runs so many times as fast as ours, and how fast may change. What has passed stays as it was, because every change
// goes on from where the market's time then stood.
import { type Instant, toUnixMs } from "../../contracts/src/instant.ts";

/** From a moment on the market runs so many times as fast. */
export interface SpeedChange {
  readonly from: Instant;
  readonly speed: number;
}

export interface MarketTime {
  /** The market's seconds since 1970 at a moment of ours. */
  secondsAt(at: Instant): number;
  /** Our milliseconds since 1970 when the market's seconds are so many. */
  unixMsOf(marketS: number): number;
}

interface Stretch {
  readonly fromS: number;
  readonly marketS: number;
  readonly speed: number;
}

/** The oldest change counts for all the time before it as well; without any, the market runs as we do. */
export function marketTime(changes: readonly SpeedChange[]): MarketTime {
  const stretches = stretchesOf(changes);
  const found = (isBefore: (stretch: Stretch) => boolean): Stretch => stretches.findLast(isBefore) ?? asOurs;
  return {
    secondsAt(at) {
      const seconds = toUnixMs(at) / 1_000;
      const { fromS, marketS, speed } = found((stretch) => stretch.fromS <= seconds);
      return marketS + (seconds - fromS) * speed;
    },
    unixMsOf(asked) {
      const { fromS, marketS, speed } = found((stretch) => stretch.marketS <= asked);
      return (fromS + (asked - marketS) / speed) * 1_000;
    },
  };
}

const asOurs: Stretch = { fromS: 0, marketS: 0, speed: 1 };

function stretchesOf(changes: readonly SpeedChange[]): readonly Stretch[] {
  const sorted = changes.toSorted((left, right) => left.from - right.from);
  const stretches: Stretch[] = [{ ...asOurs, speed: sorted[0]?.speed ?? 1 }];
  for (const { from, speed } of sorted.slice(1)) {
    const last = stretches.at(-1) ?? asOurs;
    const fromS = toUnixMs(from) / 1_000;
    stretches.push({ fromS, marketS: last.marketS + (fromS - last.fromS) * last.speed, speed });
  }
  return stretches;
}
