// Whether it is known yet what a symbol returned after a strategy's signal.

/** How long the price at its end is looked for. */
const patienceMs = 2 * 3_600_000;

interface Said {
  readonly at: string;
  readonly horizon_s: number;
  readonly realised_return?: number | undefined;
}

/** Undefined once there is a return. */
export function waitText({ at, horizon_s, realised_return }: Said, nowMs: number): string | undefined {
  if (realised_return !== undefined) return undefined;
  const endsMs = Date.parse(at) + horizon_s * 1_000;
  if (nowMs < endsMs) return "not yet";
  return nowMs - endsMs > patienceMs ? "not known" : "being looked up";
}
