// One round of windows, all variants one after the other: the machine's mood changes from second to second, so each variant gets a share of
// every mood, and medians over the rounds are compared.
import type { LoadResult, LoadTask } from "./check-order-generator.ts";
import type { ServerCounts, Variant } from "./check-order-server.ts";
import type { Child } from "./children.ts";
import type { H2load } from "./h2load.ts";
import { latenciesOf } from "./measure.ts";

export interface Target {
  readonly variant: Variant;
  readonly port: number;
  readonly child: Child;
}

export interface WindowOptions {
  readonly poissonMs: number;
  readonly inFlightMs: number;
  readonly saturationS: number;
  readonly streamMs: number;
  readonly ratePerS: number;
}

/** What was seen of one variant, window by window. */
export interface VariantWindows {
  readonly saturation: number[];
  readonly p50: number[];
  readonly p99: number[];
  readonly inFlightP99: number[];
  readonly stream: number[];
  /** Every single latency of the paced windows, for the percentile over all of them. */
  readonly samples: number[][];
}

export function noWindows(): VariantWindows {
  return { saturation: [], p50: [], p99: [], inFlightP99: [], stream: [], samples: [] };
}

export interface Bench {
  readonly generator: Child;
  readonly h2load: H2load;
  readonly options: WindowOptions;
  readonly signal: AbortSignal;
  readonly numbers: { next: number };
  /** Answers that were not what they had to be, in words. */
  readonly wrong: string[];
}

const token = "bench";

async function load(
  bench: Bench,
  target: Target,
  task: Pick<LoadTask, "kind" | "ms" | "rate" | "connections">,
): Promise<LoadResult> {
  bench.signal.throwIfAborted();
  const first = bench.numbers.next;
  // More numbers than any window can use.
  bench.numbers.next += 10_000_000;
  const result = await bench.generator.ask<LoadResult>({
    ...task,
    port: target.port,
    token,
    first,
    seed: first,
    oracle: target.variant !== "floor",
  } satisfies LoadTask);
  if (result.wrong > 0 || result.answered !== result.sent) {
    const complaint = result.complaint ?? "answers are missing";
    bench.wrong.push(`${target.variant}, ${task.kind}: ${result.wrong} of ${result.sent} wrong: ${complaint}`);
  }
  return result;
}

/** Paced arrivals: one window. */
export async function paced(bench: Bench, target: Target, into?: VariantWindows): Promise<number> {
  const { poissonMs, ratePerS } = bench.options;
  const result = await load(bench, target, { kind: "poisson", ms: poissonMs, rate: ratePerS, connections: 4 });
  const { p50_ms, p99_ms } = latenciesOf(result.samplesMs);
  into?.p50.push(p50_ms);
  into?.p99.push(p99_ms);
  into?.samples.push([...result.samplesMs]);
  return p99_ms;
}

export async function eightInFlight(bench: Bench, target: Target, into: VariantWindows): Promise<void> {
  const result = await load(bench, target, {
    kind: "in flight",
    ms: bench.options.inFlightMs,
    rate: 8,
    connections: 4,
  });
  into.inFlightP99.push(latenciesOf(result.samplesMs).p99_ms);
}

export async function saturate(bench: Bench, target: Target, into: VariantWindows): Promise<void> {
  bench.signal.throwIfAborted();
  const before = await target.child.ask<ServerCounts>({ command: "counts" });
  const seen = await bench.h2load.saturate(target.port, token, bench.options.saturationS);
  const after = await target.child.ask<ServerCounts>({ command: "counts" });
  into.saturation.push(seen.perS);
  if (seen.failed > 0) bench.wrong.push(`${target.variant}, h2load: ${seen.failed} requests failed`);
  if (target.variant === "floor") return;
  const approved = after.approved - before.approved;
  // Those that were cut off by the end of the window were decided and not heard.
  if (after.denied !== before.denied || approved < seen.succeeded) {
    bench.wrong.push(
      `${target.variant}, h2load: ${seen.succeeded} answered, ${approved} approved, ${after.denied - before.denied} denied`,
    );
  }
}

export async function stream(bench: Bench, target: Target, into: VariantWindows): Promise<void> {
  const task = { kind: "stream", ms: bench.options.streamMs, rate: 200, connections: 2 } as const;
  into.stream.push((await load(bench, target, task)).perS);
}

/** The open orders of this window are none of the next one's business. */
export async function settle(target: Target): Promise<void> {
  if (target.variant !== "floor") await target.child.ask({ command: "reset" });
}
