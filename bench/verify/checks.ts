// How long one check of a token takes: ours of a token that was seen before, of a machine's token and of a token that nobody has seen,
// beside the same token verified by hand each time. Alone, and with many asking at once.
import type { Fixture } from "./fixture.ts";

export type CheckName = "by_hand" | "cached" | "service" | "by_hand_cold" | "cold";

export interface CheckOptions {
  readonly windows: number;
  readonly inFlight: readonly number[];
  /** Checks of one window: those that need a signature, and those that do not. */
  readonly slowCount: number;
  readonly quickCount: number;
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

/** Microseconds per check, window by window. */
export type CheckFigures = Readonly<Record<CheckName, readonly number[]>>;

interface Check {
  readonly name: CheckName;
  readonly count: number;
  check(n: number): Promise<unknown>;
}

export async function measureChecks(
  fixture: Fixture,
  options: CheckOptions,
): Promise<ReadonlyMap<number, CheckFigures>> {
  const [seen = ""] = await fixture.sign(1);
  const found = new Map(options.inFlight.map((inFlight) => [inFlight, emptyFigures()]));
  // The first window of each warms the compiler and the caches and is not counted.
  for (let window = -1; window < options.windows; window += 1) {
    for (const [inFlight, figures] of found) {
      const turn = await checksOf(fixture, seen, options);
      const from = Math.max(0, window) % turn.length;
      for (const one of [...turn.slice(from), ...turn.slice(0, from)]) {
        options.signal.throwIfAborted();
        const us = await microsecondsEach(one, inFlight);
        if (window >= 0) figures[one.name].push(us);
      }
    }
    if (window >= 0) options.progress(`window ${window + 1} of ${options.windows}: ${said(found, window)}`);
  }
  return found;
}

/** Both who check what nobody has seen get the same tokens, and those are new in every window. */
async function checksOf(fixture: Fixture, seen: string, options: CheckOptions): Promise<readonly Check[]> {
  const fresh = await fixture.sign(options.slowCount);
  const { verifier, verifyByHand, serviceToken } = fixture;
  const [slow, quick] = [options.slowCount, options.quickCount];
  return [
    { name: "by_hand", count: slow, check: () => verifyByHand(seen) },
    { name: "cached", count: quick, check: () => verifier.verify(seen) },
    { name: "service", count: quick, check: () => verifier.verify(serviceToken) },
    { name: "by_hand_cold", count: slow, check: (n) => verifyByHand(fresh[n] ?? "") },
    { name: "cold", count: slow, check: (n) => verifier.verify(fresh[n] ?? "") },
  ];
}

/** A check that rejects ends the bench: a refusal is quicker than a yes, and not what is asked about. */
async function microsecondsEach({ count, check }: Check, inFlight: number): Promise<number> {
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) await check(next++);
    }),
  );
  return ((performance.now() - began) * 1_000) / count;
}

function emptyFigures(): Record<CheckName, number[]> {
  return { by_hand: [], cached: [], service: [], by_hand_cold: [], cold: [] };
}

function said(found: ReadonlyMap<number, Record<CheckName, number[]>>, window: number): string {
  return [...found]
    .map(([inFlight, figures]) => {
      const each = Object.entries(figures).map(([name, values]) => `${name} ${(values[window] ?? 0).toFixed(1)}`);
      return `${inFlight} at once: ${each.join(", ")} us`;
    })
    .join("; ");
}
