// How long something took, without the time in which this process could not run: on a busy machine a bound would else be about the machine.
const lookEveryMs = 10;

/** Starts at once; what it returns stops it and says how many milliseconds went by. */
export function stopwatch(): () => number {
  const began = performance.now();
  let seen = began;
  let stalledMs = 0;
  const look = (): number => {
    const now = performance.now();
    stalledMs += Math.max(0, now - seen - 2 * lookEveryMs);
    seen = now;
    return now;
  };
  const timer = setInterval(look, lookEveryMs);
  return () => {
    clearInterval(timer);
    return look() - began - stalledMs;
  };
}
