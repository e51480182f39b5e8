// How many may pass in a second, exactly: no window of one second, wherever it begins, ever holds more than the bound. What was refused does not count.

export interface RateWindow {
  /** `nowMs` never goes back. When refused: in how many milliseconds the next one may pass. */
  pass(nowMs: number): { readonly passed: true } | { readonly passed: false; readonly waitMs: number };
  /** Nothing that it remembers matters any more. */
  isIdle(nowMs: number): boolean;
}

const windowMs = 1_000;

export function rateWindow(perSecondMax: number): RateWindow {
  /** When the last ones passed, the oldest first. */
  const passedAt: number[] = [];
  return {
    pass(nowMs) {
      const oldest = passedAt[0];
      if (passedAt.length === perSecondMax && oldest !== undefined) {
        // A window with both of its ends: one that passes exactly a second later would be in it.
        if (nowMs - oldest <= windowMs) return { passed: false, waitMs: oldest + windowMs - nowMs };
        passedAt.shift();
      }
      passedAt.push(nowMs);
      return { passed: true };
    },
    isIdle: (nowMs) => nowMs - (passedAt.at(-1) ?? Number.NEGATIVE_INFINITY) > windowMs,
  };
}
