// How a bus is measured: writers as fast as they can for throughput, a steady rate for the time from publish to handler.
// Windows of all contenders are interleaved and medians taken, because the machine's mood changes from second to second.
export interface Measured {
  readonly messages_per_s: number;
  readonly p99_ms: number;
}

export interface Measurement {
  readonly median: Measured;
  /** Every counted window, in order. */
  readonly windows: readonly Measured[];
  /** Events that were durable and never handed over. */
  readonly lostCount: number;
}

export interface MeasureOptions {
  /** Counted windows of each contender. */
  readonly windows: number;
  readonly throughputMs: number;
  readonly pacedMs: number;
  readonly writers: number;
  readonly ratePerS: number;
  /** Ends the measurement early: it then rejects. */
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

export interface Contender {
  readonly name: string;
  /** By hand, a reader that goes by the highest number passes over late commits: waiting for those is in vain. */
  readonly mayLose: boolean;
  /** Resolves when the event with this number is durable. */
  publish(n: number): Promise<void>;
  /** Called for every event that the reader hands over. */
  onHandled: (n: number) => void;
  close(): Promise<void>;
}

/** The reader's loop of a contender by hand: when it fails, the next publish says so, and nothing is left unhandled. */
export function readerLoop(work: () => Promise<void>): { readonly ended: Promise<void>; check(): void } {
  const failures: unknown[] = [];
  return {
    ended: work().catch((thrown: unknown) => void failures.push(thrown)),
    check() {
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** After so long without a single event the missing ones are taken for lost. */
const silenceMsMax = 5_000;
const silenceMsMaxOfLossy = 200;

interface Lane {
  readonly contender: Contender;
  readonly rates: number[];
  readonly p99s: number[];
  /** Numbers go on over all windows, so that a straggler of one is not counted in the next. */
  next: number;
  lostCount: number;
}

/** Measures all contenders in turn, window by window. Whoever opened them closes them. */
export async function measure(
  contenders: readonly Contender[],
  options: MeasureOptions,
): Promise<readonly Measurement[]> {
  const lanes = contenders.map((contender): Lane => ({ contender, rates: [], p99s: [], next: 0, lostCount: 0 }));
  // The first window of each warms the compiler and the caches and is not counted.
  for (const lane of lanes) {
    await throughput(lane, options);
    await paced(lane, options);
  }
  for (let window = 0; window < options.windows; window += 1) {
    // Another one begins each time: none always runs in the wake of the same neighbour.
    const from = window % lanes.length;
    const turn = [...lanes.slice(from), ...lanes.slice(0, from)];
    for (const lane of turn) lane.rates.push(await throughput(lane, options));
    for (const lane of turn) lane.p99s.push(await paced(lane, options));
    const said = lanes.map(({ contender, rates, p99s }) => {
      return `${contender.name} ${Math.round(rates[window] ?? 0)}/s ${(p99s[window] ?? 0).toFixed(2)} ms`;
    });
    options.progress(`window ${window + 1} of ${options.windows}: ${said.join(", ")}`);
  }
  return lanes.map(({ rates, p99s, lostCount }) => ({
    median: measured(median(rates), median(p99s)),
    windows: rates.map((rate, window) => measured(rate, p99s[window] ?? Number.NaN)),
    lostCount,
  }));
}

function measured(rate: number, p99: number): Measured {
  return { messages_per_s: Math.round(rate), p99_ms: Math.round(p99 * 1_000) / 1_000 };
}

/** Writers publish as fast as they can for the window; it ends when everything they published has been handled. */
async function throughput(lane: Lane, options: MeasureOptions): Promise<number> {
  const first = lane.next;
  let handled = 0;
  let lastHandledAt = 0;
  lane.contender.onHandled = (n) => {
    if (n < first) return;
    handled += 1;
    lastHandledAt = performance.now();
  };
  const began = performance.now();
  await Promise.all(
    Array.from({ length: options.writers }, async () => {
      while (performance.now() - began < options.throughputMs) {
        options.signal.throwIfAborted();
        await lane.contender.publish(lane.next++);
      }
    }),
  );
  await settled(lane, () => handled, lane.next - first, options.signal);
  lane.lostCount += lane.next - first - handled;
  // Waiting in vain for what was lost must not count, so the rate goes by the last event that was handled.
  return (handled * 1_000) / (lastHandledAt - began);
}

/** Events at a steady rate; each is timed from the call of publish to its handler. */
async function paced(lane: Lane, options: MeasureOptions): Promise<number> {
  const first = lane.next;
  const startedAt: number[] = [];
  const latencies: number[] = [];
  lane.contender.onHandled = (n) => {
    const at = startedAt[n - first];
    if (at !== undefined) latencies.push(performance.now() - at);
  };
  const under: Promise<void>[] = [];
  const failures: unknown[] = [];
  const began = performance.now();
  for (let spent = 0; spent < options.pacedMs; spent = performance.now() - began) {
    options.signal.throwIfAborted();
    // A timer of 1 ms is as fine as it gets without a loop that takes the core away from those who are measured.
    for (const due = (spent * options.ratePerS) / 1_000; startedAt.length < due; ) {
      startedAt.push(performance.now());
      under.push(lane.contender.publish(lane.next++).catch((thrown: unknown) => void failures.push(thrown)));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(under);
  if (failures.length > 0) throw failures[0];
  await settled(lane, () => latencies.length, startedAt.length, options.signal);
  lane.lostCount += startedAt.length - latencies.length;
  latencies.sort((a, b) => a - b);
  return latencies[Math.floor(latencies.length * 0.99)] ?? Number.POSITIVE_INFINITY;
}

/** Resolves when so many have been handled, or when nothing has come for a while. */
async function settled(lane: Lane, handled: () => number, wanted: number, signal: AbortSignal): Promise<void> {
  const silenceMs = lane.contender.mayLose ? silenceMsMaxOfLossy : silenceMsMax;
  let seen = handled();
  for (let quietSince = performance.now(); seen < wanted && performance.now() - quietSince < silenceMs; ) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (handled() > seen) quietSince = performance.now();
    seen = handled();
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return (lower + upper) / 2;
}
