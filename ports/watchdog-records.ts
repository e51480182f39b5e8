// The watchdogs' part of a unit of work: what each remembers of what it watches, its episodes, who paused it, and the profit or loss of strategies by
// the day. A change of state writes memory, episode, event and restriction in one unit, so that a restart repeats and forgets nothing. Only
// operations writes.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { WatchdogName } from "../contracts/src/records/values.ts";

/** What one judgement is about; absent members mean the whole of what is above them. */
export interface WatchedScope {
  readonly fundId?: string;
  readonly strategyId?: string;
  /** Of the firm's own watchdogs: what is checked, such as `broker` or `fills in the ledger`. */
  readonly symbol?: string;
}

/** What a watchdog remembers of one scope, and what it judged last: both are JSON, and the service's own business. */
export interface StoredWatch {
  readonly watchdog: WatchdogName;
  readonly scope: WatchedScope;
  readonly content: unknown;
}

export interface StoredEpisode {
  readonly episodeId: string;
  readonly watchdog: WatchdogName;
  readonly scope: WatchedScope;
  readonly openedAt: Instant;
  /** Absent while it is open. */
  readonly clearedAt?: Instant;
  /** JSON: states, figures, actions and events. */
  readonly content: unknown;
}

export interface EpisodesQuery {
  readonly watchdog?: WatchdogName;
  readonly fundId?: string;
  readonly openOnly: boolean;
  readonly countMax: number;
  /** After one that is not there nothing follows. */
  readonly afterEpisodeId?: string;
}

/** While it is paused a watchdog judges on and does nothing. */
export interface StoredPause {
  readonly watchdog: WatchdogName;
  /** Empty for every fund and the firm. */
  readonly fundId: string;
  readonly by: string;
  readonly reason: string;
  readonly at: Instant;
  readonly until: Instant;
}

/** A strategy's profit or loss of one trading day: closed minus opened, both counted since the fund began. */
export interface PnlDay {
  readonly strategyId: string;
  readonly day: string;
  readonly opened: Decimal;
  readonly closed: Decimal;
  /** The fund's value when the day was first seen, and the fraction of it that the strategy worked with. */
  readonly nav: Decimal;
  readonly allocationPct: number;
}

export type InjectionKind = "skill" | "pnl" | "slow_queries" | "dead_rows";

/** Observations that somebody put beside the true ones, on the paper platform. One of a kind at a time. */
export interface StoredInjection {
  readonly kind: InjectionKind;
  /** Of skill and pnl. */
  readonly strategyId?: string;
  /** How many standard errors the injected days are off. */
  readonly z?: number;
  readonly by: string;
  readonly at: Instant;
}

export interface WatchdogRecords {
  /** In order of watchdog, fund, strategy and symbol. */
  watches(): Promise<readonly StoredWatch[]>;
  /** Adds these or puts them in place of those of the same watchdogs and scopes. */
  putWatches(watches: readonly StoredWatch[]): Promise<void>;
  removeWatches(watches: readonly Pick<StoredWatch, "watchdog" | "scope">[]): Promise<void>;
  /** Adds it or puts it in place of the one with its id. */
  putEpisode(episode: StoredEpisode): Promise<void>;
  /** Kept from others until this unit ends. */
  lockEpisode(episodeId: string): Promise<StoredEpisode | undefined>;
  /** Newest first. */
  episodes(query: EpisodesQuery): Promise<readonly StoredEpisode[]>;
  /** How many episodes of each watchdog and scope opened from that moment on. */
  openedSince(
    from: Instant,
  ): Promise<readonly (Pick<StoredWatch, "watchdog" | "scope"> & { readonly count: number })[]>;
  /** Also those that have run out. */
  pauses(): Promise<readonly StoredPause[]>;
  putPause(pause: StoredPause): Promise<void>;
  /** False when there was none. */
  removePause(watchdog: WatchdogName, fundId: string): Promise<boolean>;
  /** Of a day that is known only `closed` changes. */
  putPnl(days: readonly PnlDay[]): Promise<void>;
  /** Newest first, at most so many of each strategy. */
  pnl(countMax: number): Promise<readonly PnlDay[]>;
  /** In order of their kinds. */
  injections(): Promise<readonly StoredInjection[]>;
  /** Puts it in place of the one of its kind. */
  putInjection(injection: StoredInjection): Promise<void>;
  /** Removes all of them; gives how many they were. */
  clearInjections(): Promise<number>;
}
