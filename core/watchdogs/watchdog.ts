// The shape of a watchdog: a name, one human sentence, the keys of its configuration, and one pure function. A judgement says what the newest
// observation reads; whether that opens, escalates or clears an episode is decided in episodes.ts, so that all ten alarm alike.
import type { AlarmCode } from "../../contracts/src/codes/alarms.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { WatchdogAlarm } from "../../contracts/src/records/operations.ts";
import type { Severity, WatchdogName } from "../../contracts/src/records/values.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import type { CommonKeys, ConfigKeys, ConfigOf } from "./config.ts";

export type { WatchdogName } from "../../contracts/src/records/values.ts";

/** WARMUP and STALE have no value and are never OK. WARN alerts, ACTION also acts. */
export type WatchdogState = "WARMUP" | "OK" | "WARN" | "ACTION" | "STALE";

/** What one judgement is about. A watchdog may have several: news_spike has each held symbol and the firm. */
type WatchdogPer = "firm" | "fund" | "strategy" | "symbol" | "strategy_symbol";

/** Why there is no value. With CONSTANT_BASELINE and COUNT_FAILED it may alarm all the same. */
export type NullReason =
  | "INSUFFICIENT_DATA"
  | "NO_BACKTEST"
  | "NO_INPUT"
  | "INPUT_TOO_OLD"
  | "NOT_JUDGED"
  | "NOTHING_TO_WATCH"
  | "CONSTANT_BASELINE"
  | "MALFORMED_INPUT"
  | "MISSING_GREEKS"
  | "COUNT_FAILED"
  | "UNKNOWN_HEALTH";

export type RestrictionKind = "THROTTLE" | "COOLDOWN" | "SHADOW" | "NO_SHORT_OPTIONS" | "GROSS" | "ALLOCATION";

/** An option order that brings net theta back inside its limit; it only ever reduces a position. */
export interface HedgeOrder {
  /** Whose position it reduces. */
  readonly strategyId: string;
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  readonly contracts: number;
}

/** What a watchdog wants done. The shell does it, once per episode. */
export type Effect =
  | { readonly kind: "chat"; readonly severity: "warning" | "critical" }
  | { readonly kind: "cross_post" }
  | { readonly kind: "restriction"; readonly restriction: RestrictionKind; readonly factor: number | null }
  | { readonly kind: "halt"; readonly level: Severity }
  | { readonly kind: "hedge"; readonly orders: readonly HedgeOrder[] }
  | { readonly kind: "vacuum"; readonly tables: readonly string[] }
  | { readonly kind: "retry"; readonly delayMsMax: number };

/** An effect and the rung from which on it is wanted: a jump over rungs wants all of those below as well. */
export interface RungEffect {
  readonly rung: number;
  readonly effect: Effect;
}

type Figures = Readonly<Record<string, number | string | boolean | null>>;

export interface Judgement {
  readonly state: WatchdogState;
  /** Null has a reason and never reads as OK. */
  readonly value: number | null;
  readonly threshold: number;
  readonly unit: string;
  readonly sampleCount: number;
  readonly reason: NullReason | null;
  /** The time of the newest input, not of the judging. */
  readonly asOf: Instant;
  /** The newest observation's id: the same id judged again replaces its reading and counts once. Null when there is none to count. */
  readonly observation: string | null;
  /** 0 is ordinary; each rung above it is stricter than the one before. */
  readonly rung: number;
  /** Whether the reading is ordinary enough to clear an open episode: the other side of the hysteresis. */
  readonly clears: boolean;
  readonly effects: readonly RungEffect[];
  /** Wanted again for as long as the episode is open and acts; absent where once is enough. It says what is still to be done, so that nothing is done twice. */
  readonly again?: readonly (Effect & { readonly kind: "hedge" })[];
  readonly figures: Figures;
}

/** When it is judged, and since when an episode is open, for rules that count from its beginning. */
export interface JudgedAt {
  readonly at: Instant;
  readonly openedAt: Instant | null;
}

export interface Judged<Memory> {
  readonly judgement: Judgement;
  /** Plain JSON. It lies in the store, in the same transaction as the episode. */
  readonly memory: Memory;
}

export interface Watchdog<Input, Keys extends ConfigKeys, Memory> {
  readonly name: WatchdogName;
  /** One sentence for people. */
  readonly watches: string;
  readonly per: readonly WatchdogPer[];
  readonly subject: Subject<WatchdogAlarm>;
  readonly alarm: AlarmCode;
  readonly unit: string;
  /** Its own keys and the common ones, with ranges and defaults. */
  readonly config: Keys & CommonKeys;
  /** What no single key shows: the problem in one sentence, or undefined. */
  readonly refuses?: (config: ConfigOf<Keys & CommonKeys>) => string | undefined;
  /** Alerts a year of a healthy subject; null where nothing predicts them for this configuration. */
  readonly expectedAlertsPerYear: (config: ConfigOf<Keys & CommonKeys>) => number | null;
  readonly emptyMemory: Memory;
  judge(input: Input, config: ConfigOf<Keys & CommonKeys>, memory: Memory, now: JudgedAt): Judged<Memory>;
}

/** A judgement without a value and an observation. It opens nothing, clears nothing and counts as no observation. */
export function withoutValue(
  state: "WARMUP" | "STALE",
  reason: NullReason,
  rest: Pick<Judgement, "threshold" | "unit" | "sampleCount" | "asOf"> & { readonly figures?: Figures },
): Judgement {
  return { figures: {}, ...rest, state, reason, value: null, observation: null, rung: 0, clears: false, effects: [] };
}

/** A value of a trading day, such as a return or a profit. Days are texts that sort, `2026-11-15`. */
export interface Dated {
  readonly day: string;
  readonly value: number;
}

/** NaN compares false with every threshold and would read as ordinary. */
export const allFinite = (values: readonly number[]): boolean => values.every((value) => Number.isFinite(value));

/** Whether the newest input is older than the configuration allows. */
export const isTooOld = (asOf: Instant, at: Instant, staleS: number): boolean =>
  millisecondsBetween(asOf, at) > staleS * 1_000;

/** Whether an effect changes what may be traded or what the platform does; the others only notify. */
export function acts({ kind }: Effect): boolean {
  return kind !== "chat" && kind !== "cross_post" && kind !== "retry";
}

/** The state of a reading by itself: ACTION where an effect at or below its rung acts. */
export function stateOf(rung: number, effects: readonly RungEffect[]): "OK" | "WARN" | "ACTION" {
  if (rung === 0) return "OK";
  return effects.some((each) => each.rung <= rung && acts(each.effect)) ? "ACTION" : "WARN";
}
