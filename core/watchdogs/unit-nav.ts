// Returns of a fund with its flows taken out, so that a deposit is no profit: flows arrive at the end of a day.

/** (NAV - flow) / NAV of the day before - 1, for each day but the first; a day after a NAV of zero or less has none and is NaN. */
export function unitReturns(navs: readonly number[], flows: readonly number[]): readonly number[] {
  return navs.slice(1).map((nav, index) => {
    const before = navs[index] ?? 0;
    return before > 0 ? (nav - (flows[index + 1] ?? 0)) / before - 1 : Number.NaN;
  });
}
