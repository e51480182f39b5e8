// Up to which moment a durable subscription on NATS has heard everything. Three places lie between a commit and its handler: the outbox, the
// stream, the subscription. So the end of the outbox is noted first, then the relay must have passed it, then the subscription must have
// finished whatever the stream held by then. It is found out while somebody asks, and costs a few questions a second.
import { messageOf } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";

/** How far a running term has come. */
export interface Progress {
  /** Everything up to this number of the stream is finished. */
  through(): number;
  /** The number of the stream's newest message. */
  streamEnd(): Promise<number>;
  /** Whether the server has nothing more for it, and nothing is in hand. */
  isIdle(): Promise<boolean>;
}

interface CaughtUpOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The newest committed position of the outbox. */
  readonly head: () => Promise<bigint>;
  /** How far the relay has carried the outbox to the stream. */
  readonly relayed: () => Promise<bigint>;
  /** Undefined while no term runs. */
  readonly progress: () => Progress | undefined;
}

const askEveryMs = 500;

interface Target {
  readonly at: Instant;
  readonly head: bigint;
  /** Of which term the number is: another term may number another stream. */
  end?: { readonly of: Progress; readonly sequence: number };
}

export function watchCaughtUp({ clock, log, head, relayed, progress }: CaughtUpOptions): () => Instant | undefined {
  let caughtUpAt: Instant | undefined;
  let target: Target | undefined;
  let askedAt: Instant | undefined;
  let asking = false;

  async function ask(): Promise<void> {
    target ??= { at: clock.now(), head: await head() };
    if ((await relayed()) < target.head) return;
    const running = progress();
    if (running === undefined) return;
    if (target.end?.of !== running) target.end = { of: running, sequence: await running.streamEnd() };
    if (running.through() < target.end.sequence && !(await running.isIdle())) return;
    if (progress() !== running) return;
    caughtUpAt = target.at;
    target = undefined;
  }

  return () => {
    const now = clock.now();
    if (!asking && (askedAt === undefined || Math.abs(millisecondsBetween(askedAt, now)) >= askEveryMs)) {
      asking = true;
      askedAt = now;
      ask()
        .catch((thrown: unknown) => {
          target = undefined;
          log.debug("it is not known how far a subscription is", { reason: messageOf(thrown) });
        })
        .finally(() => {
          asking = false;
        });
    }
    return caughtUpAt;
  };
}
