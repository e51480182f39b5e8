// What the engine and people are told of how the loss limits stand. It awaits nothing and asks no store, so that a store in trouble does not keep it
// from denying:
//
//  1. Every fund with an envelope has been told to the engine before its first order is checked.
//  2. A valuation that was heard is judged within four seconds, or the engine denies new risk by itself until it is.
//  3. A limit that is not judged for three seconds is alarmed; the alarm ends by itself.
//  4. How long a fund's losses could not be judged in full because its value or a price in it is old is known here (unjudged-losses.ts acts on it).
import { isOpen, type TradingCalendar } from "../../../contracts/src/calendar.ts";
import { type Instant, millisecondsBetween, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { LossState } from "../../../contracts/src/losses.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { lossFractions, type WindowSamples } from "../../../core/losses/loss-figures.ts";
import { createLossClock, type LossDay } from "../../../core/losses/loss-periods.ts";
import { type PriceStanding, priceStanding } from "../../../core/losses/loss-prices.ts";
import {
  type LossBlock,
  type LossLook,
  limitName,
  lossBlock,
  lossConditions,
  lossStandings,
  whyOld,
} from "../../../core/losses/loss-standing.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Alarms } from "../alarms.ts";
import type { Envelopes } from "../envelopes.ts";
import type { HaltWatch } from "../halt-watch.ts";
import type { ReferenceWatch } from "../reference-watch.ts";

const judgeMsMax = 4_000;
const alarmAfterMs = 3_000;

/** For how long the losses of a fund cannot be judged in full because its value or a price in it is old. */
export interface OldSpell {
  readonly since: Instant;
  readonly why: string;
  /** It has not ended since this process began: prices come in one by one after a start. */
  readonly isFromStart: boolean;
}

/** What is known of a fund's losses in this process. */
export interface KnownLosses {
  /** As it was committed last. */
  readonly state?: LossState;
  /** What the windows begin with, as of its newest valuation. */
  readonly windows: WindowSamples;
  /** Why the newest valuation was not judged. */
  readonly trouble?: string;
  /** The newest valuation that was heard, whose prices have ages. */
  readonly nav?: NavUpdated;
}

interface LossWatchOptions {
  readonly ports: Pick<ServicePorts, "clock" | "settings">;
  readonly engine: Engine;
  readonly envelopes: Pick<Envelopes, "current" | "onTaken">;
  readonly reference: Pick<ReferenceWatch, "calendarOf" | "fund" | "tradingCalendarOf">;
  readonly halts: Pick<HaltWatch, "inForce">;
  readonly alarms: Alarms;
}

interface LossWatch {
  known(fundId: string): KnownLosses;
  all(): Iterable<readonly [fundId: string, known: KnownLosses]>;
  /** The fund's day; undefined while its calendar is not known or has no days. */
  dayOf(fundId: string, at: Instant): LossDay | undefined;
  /** Everything that decides how the limits stand, of what is known here or of what was just read. */
  lookAt(fundId: string, known: KnownLosses, haltsInForce: ReadonlySet<string>): LossLook;
  /** A valuation was heard, and is to be judged. */
  hears(fundId: string): void;
  /** A breach was seen: the engine denies before anything is durable. */
  blocks(fundId: string): void;
  /** What was committed, or found out. */
  learns(fundId: string, known: KnownLosses): void;
  /** Tells the engine what is known; for whoever could not commit what it saw. */
  tells(fundId: string): void;
  /** Looks at the clock: tells whatever time or another calendar has changed. */
  looks(): void;
  /** By fund. */
  oldSpells(): ReadonlyMap<string, OldSpell>;
}

interface Reported extends LossBlock {
  /** The calendar's day that it was told by. */
  readonly by: string | undefined;
  readonly notJudgedSince: Instant | undefined;
}

const nothing: KnownLosses = { windows: {} };

export function watchLosses({ ports, engine, envelopes, reference, halts, alarms }: LossWatchOptions): LossWatch {
  const { clock } = ports;
  const { navAgeMsMax, lossValueAgeMsMax } = ports.settings.risk;
  const clockOf = createLossClock();
  const knowledge = new Map<string, KnownLosses>();
  const reported = new Map<string, Reported>();
  const spells = new Map<string, OldSpell>();
  /** Funds whose losses were judged in full once since this process began. */
  const wereFresh = new Set<string>();
  /** By fund: since when a valuation waits to be judged. */
  const waiting = new Map<string, Instant>();

  function dayOf(fundId: string, at: Instant): LossDay | undefined {
    const calendar = reference.calendarOf(fundId);
    if (calendar === undefined) return undefined;
    try {
      return clockOf(calendar, at);
    } catch (thrown) {
      // A calendar without trading days dates nothing.
      if (thrown instanceof RangeError) return undefined;
      throw thrown;
    }
  }

  function lookAt(fundId: string, known: KnownLosses, haltsInForce: ReadonlySet<string>): LossLook {
    const { state, windows, trouble, nav } = known;
    const at = clock.now();
    return {
      known: state,
      fractions: lossFractions(envelopes.current(fundId)),
      day: dayOf(fundId, at),
      valueAgeMsMax: lossValueAgeMsMax,
      windows,
      haltsInForce,
      at,
      trouble,
      ...(nav !== undefined && { prices: pricesOf(fundId, nav, at) }),
    };
  }

  function pricesOf(fundId: string, nav: NavUpdated, at: Instant): PriceStanding {
    const isAlways = reference.fund(fundId)?.mode === "PAPER" && ports.settings.market.sessions !== "real";
    // What time it is elsewhere is costly to ask, and mostly the same for all.
    const open = new Map<TradingCalendar, boolean>();
    const isInSession = (symbol: string): boolean => {
      const calendar = isAlways ? undefined : reference.tradingCalendarOf(symbol);
      if (calendar === undefined) return true;
      const known = open.get(calendar) ?? isOpen(calendar, at);
      open.set(calendar, known);
      return known;
    };
    const ages = { ageMsMax: navAgeMsMax, valueAgeMsMax: lossValueAgeMsMax };
    return priceStanding(nav, { isInSession, ...ages, at });
  }

  const knownOf = (fundId: string): KnownLosses => knowledge.get(fundId) ?? nothing;

  function tells(fundId: string): void {
    const look = lookAt(fundId, knownOf(fundId), halts.inForce());
    const standings = lossStandings(look);
    const block = lossBlock(standings, look);
    const isJudged = block.judgedUntil !== undefined && look.at < block.judgedUntil;
    // Nobody can trade for a fund that reference data does not have, so nobody is alarmed about it.
    const isQuiet = isJudged || reference.fund(fundId) === undefined;
    const since = isQuiet ? undefined : (reported.get(fundId)?.notJudgedSince ?? look.at);
    reported.set(fundId, { ...block, by: look.day?.by, notJudgedSince: since });
    tellEngine(fundId);
    noteSpell(fundId, whyOld(look), isJudged, look.at);
    alarmNotJudged(fundId, look.at);
    const names = standings.flatMap((one) => (one.state === "PENDING" ? [limitName(one)] : []));
    alarmPending(fundId, names);
  }

  function noteSpell(fundId: string, why: string | undefined, isJudged: boolean, at: Instant): void {
    if (isJudged) wereFresh.add(fundId);
    if (why === undefined) spells.delete(fundId);
    else spells.set(fundId, { since: spells.get(fundId)?.since ?? at, why, isFromStart: !wereFresh.has(fundId) });
  }

  function tellLosses(fundId: string, block: LossBlock): void {
    engine.setConditions(`losses of ${fundId}`, lossConditions(fundId, block));
  }

  /** A valuation that waits shortens what is known. */
  function tellEngine(fundId: string): void {
    const { isPending = false, judgedUntil, reason = "" } = reported.get(fundId) ?? {};
    const since = waiting.get(fundId);
    const latest = since && plusMilliseconds(since, judgeMsMax);
    if (latest !== undefined && judgedUntil !== undefined && latest < judgedUntil) {
      const why = "a valuation was heard and could not be judged; this ends when the store has taken it";
      tellLosses(fundId, { judgedUntil: latest, reason: why, isPending });
    } else tellLosses(fundId, { judgedUntil, reason, isPending });
  }

  function alarmNotJudged(fundId: string, at: Instant): void {
    const { notJudgedSince, reason } = reported.get(fundId) ?? {};
    const heardSince = waiting.get(fundId);
    const isLate = heardSince !== undefined && millisecondsBetween(heardSince, at) >= alarmAfterMs;
    const isLong = notJudgedSince !== undefined && millisecondsBetween(notJudgedSince, at) >= alarmAfterMs;
    if (notJudgedSince === undefined && !isLate) {
      alarms.clear("LOSS_LIMIT_NOT_JUDGED", fundId);
      return;
    }
    if (!isLong && !isLate) return;
    const why = isLong
      ? reason
      : "a valuation was heard and could not be judged; this ends when the store has taken it";
    const sentence = `A loss limit of ${fundId} is not judged, and the fund takes no new risk (${why}).`;
    alarms.raise("LOSS_LIMIT_NOT_JUDGED", fundId, sentence);
  }

  function alarmPending(fundId: string, names: readonly string[]): void {
    if (names.length === 0) {
      alarms.clear("LOSS_PENDING", fundId);
      return;
    }
    const sentence = `A loss of ${fundId} is above its limit and waits: ${[...new Set(names)].join(", ")}.`;
    alarms.raise("LOSS_PENDING", fundId, sentence);
  }

  /** Time or another calendar has changed what was told; what is judged and goes on being so is left alone. */
  function isOver(fundId: string, one: Reported, at: Instant): boolean {
    if (one.judgedUntil === undefined || at >= one.judgedUntil || one.isPending || waiting.has(fundId)) return true;
    return dayOf(fundId, at)?.by !== one.by;
  }

  envelopes.onTaken(tells);
  return {
    known: knownOf,
    all: () => knowledge,
    dayOf,
    lookAt,
    hears(fundId) {
      if (waiting.has(fundId)) return;
      waiting.set(fundId, clock.now());
      tellEngine(fundId);
    },
    blocks(fundId) {
      const { judgedUntil, reason = "" } = reported.get(fundId) ?? {};
      tellLosses(fundId, { judgedUntil, reason, isPending: true });
    },
    learns(fundId, known) {
      waiting.delete(fundId);
      knowledge.set(fundId, known);
      tells(fundId);
    },
    tells,
    oldSpells: () => spells,
    looks() {
      const at = clock.now();
      for (const [fundId, one] of reported) if (isOver(fundId, one, at)) tells(fundId);
    },
  };
}
