// dependency_watchdog: whether what the platform needs answers. Three bad polls in a row are an outage, two good ones end it; an answer that says
// nothing holds the count, and too many of those are no health either.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type ConfigOf, common, number, whole } from "./config.ts";
import {
  isTooOld,
  type Judged,
  type JudgedAt,
  type Judgement,
  type RungEffect,
  stateOf,
  type Watchdog,
  withoutValue,
} from "./watchdog.ts";

export type PollResult = "green" | "red" | "timeout" | "unknown";

/** One poll of one dependency. */
export interface DependencyInput {
  readonly dependency: string;
  readonly result: PollResult;
  /** The poll's own id: judged again, it counts once. */
  readonly poll: string;
  readonly polledAt: Instant;
  /** What went wrong, in a sentence; empty when nothing did. */
  readonly detail: string;
}

interface DependencyMemory {
  readonly poll: string | null;
  readonly bad: number;
  readonly good: number;
  readonly unknown: number;
  readonly down: boolean;
  /** When it went down or came back, within the last ten minutes. */
  readonly transitions: readonly Instant[];
}

const keys = {
  ...common(whole(3, [1, 100], "polls", "So many bad polls in a row are an outage."), {
    everyS: 10,
    clearAfter: 2,
    staleS: 60,
  }),
  unknown_max: whole(3, [1, 100], "polls", "More answers in a row that say nothing are STALE."),
  retry_base_ms: number(1_000, [10, 60_000], "ms", "The longest first wait before a retry."),
  retry_cap_ms: number(30_000, [10, 3_600_000], "ms", "The longest wait before any retry."),
};
type Keys = typeof keys;

const flapWindowMs = 600_000;
const flapTransitionsMax = 3;

/** Full jitter: the wait is drawn between zero and this. */
export const retryDelayMsMax = (attempt: number, baseMs: number, capMs: number): number =>
  Math.min(capMs, baseMs * 2 ** attempt);

const emptyDependencyMemory: DependencyMemory = {
  poll: null,
  bad: 0,
  good: 0,
  unknown: 0,
  down: false,
  transitions: [],
};

/** One poll further. */
function afterPoll(
  memory: DependencyMemory,
  { poll, result, polledAt }: Pick<DependencyInput, "poll" | "result" | "polledAt">,
  { threshold, clear_after }: Pick<ConfigOf<Keys>, "threshold" | "clear_after">,
): DependencyMemory {
  if (poll === memory.poll) return memory;
  if (result === "unknown") return { ...memory, poll, unknown: memory.unknown + 1 };
  const bad = result === "green" ? 0 : memory.bad + 1;
  const good = result === "green" ? memory.good + 1 : 0;
  const down = memory.down ? good < clear_after : bad >= threshold;
  const recent = memory.transitions.filter((each) => millisecondsBetween(each, polledAt) < flapWindowMs);
  return { poll, bad, good, unknown: 0, down, transitions: down === memory.down ? recent : [...recent, polledAt] };
}

function judge(
  input: DependencyInput,
  config: ConfigOf<Keys>,
  before: DependencyMemory,
  { at }: JudgedAt,
): Judged<DependencyMemory> {
  const memory = afterPoll(before, input, config);
  const asOf = input.polledAt;
  const flapping = memory.transitions.length > flapTransitionsMax;
  const figures = { dependency: input.dependency, detail: input.detail, down: memory.down, flapping };
  const rest = { threshold: config.threshold, unit: "bad polls", sampleCount: memory.bad, asOf, figures };
  if (isTooOld(asOf, at, config.stale_s)) return { memory, judgement: withoutValue("STALE", "INPUT_TOO_OLD", rest) };
  if (memory.unknown > config.unknown_max) {
    return { memory, judgement: withoutValue("STALE", "UNKNOWN_HEALTH", rest) };
  }
  if (memory.unknown > 0) {
    // It holds the count: neither good nor bad, and not OK.
    return { memory, judgement: { ...withoutValue("WARMUP", "UNKNOWN_HEALTH", rest), state: "WARN" } };
  }
  const rung = memory.bad >= config.threshold ? 1 : 0;
  const delayMsMax = retryDelayMsMax(Math.max(0, memory.bad - 1), config.retry_base_ms, config.retry_cap_ms);
  const effects: readonly RungEffect[] = [
    { rung: 1, effect: { kind: "chat", severity: "critical" } },
    { rung: 1, effect: { kind: "retry", delayMsMax } },
  ];
  const judgement: Judgement = {
    ...rest,
    state: memory.bad > 0 && rung === 0 ? "WARN" : stateOf(rung, effects),
    value: memory.bad,
    reason: null,
    observation: input.poll,
    rung,
    // While it flaps, one episode goes on instead of an alert at every turn.
    clears: memory.good > 0 && !flapping,
    effects,
    figures: { ...figures, retry_delay_ms_max: delayMsMax },
  };
  return { memory, judgement };
}

export const dependencyWatchdog: Watchdog<DependencyInput, Keys, DependencyMemory> = {
  name: "dependency_watchdog",
  watches: "Whether the database, the bus, the broker and everything else the platform needs answers.",
  per: ["firm"],
  subject: subjects.watchdogDependency,
  alarm: "WATCHDOG_DEPENDENCY",
  unit: "bad polls",
  config: keys,
  // One that misses a poll in a thousand at random misses three in a row once in 300 years.
  expectedAlertsPerYear: () => 0,
  emptyMemory: emptyDependencyMemory,
  judge,
};
