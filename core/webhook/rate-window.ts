// How many may pass in a second, exactly: no window of one second, wherever it begins, ever holds more than the bound. What was refused does not count.

export interface RateWindow {
  /** `nowMs` never goes back. When refused: in how many milliseconds the next one may pass. */
  pass(nowMs: number): { readonly passed: true } | { readonly passed: false; readonly waitMs: number };
  /** What `pass` would say, without counting it. */
  peek(nowMs: number): ReturnType<RateWindow["pass"]>;
  /** Nothing that it remembers matters any more. */
  isIdle(nowMs: number): boolean;
}

const windowMs = 1_000;

export function rateWindow(perSecondMax: number): RateWindow {
  /** When the last ones passed, the oldest first. */
  const passedAt: number[] = [];

  function peek(nowMs: number): ReturnType<RateWindow["pass"]> {
    const oldest = passedAt[0];
    if (oldest === undefined || passedAt.length < perSecondMax) return { passed: true };
    // A window with both of its ends: one that passes exactly a second later would be in it.
    return nowMs - oldest > windowMs ? { passed: true } : { passed: false, waitMs: oldest + windowMs - nowMs };
  }

  return {
    peek,
    pass(nowMs) {
      const said = peek(nowMs);
      if (!said.passed) return said;
      if (passedAt.length === perSecondMax) passedAt.shift();
      passedAt.push(nowMs);
      return said;
    },
    isIdle: (nowMs) => nowMs - (passedAt.at(-1) ?? Number.NEGATIVE_INFINITY) > windowMs,
  };
}
