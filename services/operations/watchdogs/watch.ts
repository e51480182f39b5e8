// What the shell keeps of one thing that a watchdog watches: the watchdog's own memory, how its episode stands, the last judgement and what is still
// to be carried out. It is one JSON value in the store, written in the transaction of the change that it tells of.
import { fromMicroseconds, type Instant } from "../../../contracts/src/instant.ts";
import type { Severity, WatchdogName } from "../../../contracts/src/records/values.ts";
import { newStanding, type Standing } from "../../../core/watchdogs/episodes.ts";
import type { HedgeOrder, Judgement } from "../../../core/watchdogs/watchdog.ts";
import type { StoredWatch, WatchedScope } from "../../../ports/watchdog-records.ts";

/** What an episode wants done outside the store. It is kept until it is done, so that a restart does it again under the same name. */
export type Owed =
  | { readonly kind: "halt"; readonly haltId: string; readonly level: Severity; readonly reason: string }
  | { readonly kind: "hedge"; readonly orderId: string; readonly order: HedgeOrder }
  | { readonly kind: "vacuum"; readonly table: string };

export interface Watch {
  readonly watchdog: WatchdogName;
  readonly scope: WatchedScope;
  readonly memory: unknown;
  readonly standing: Standing;
  readonly judgement: Judgement | null;
  readonly judgedAt: Instant | null;
  readonly lastAction: string;
  readonly isInjected: boolean;
  readonly owed: readonly Owed[];
  /** Orders that its open episode has handed in: the next one is named after them. */
  readonly hedgeCount: number;
  /** Of a STALE that no open episode has: the name that its end is reported under. */
  readonly staleId: string | null;
}

export function keyOf(watchdog: WatchdogName, { fundId = "", strategyId = "", symbol = "" }: WatchedScope): string {
  return JSON.stringify([watchdog, fundId, strategyId, symbol]);
}

export function newWatch(watchdog: WatchdogName, scope: WatchedScope, memory: unknown, at: Instant): Watch {
  return {
    watchdog,
    scope,
    memory,
    standing: newStanding(at),
    judgement: null,
    judgedAt: null,
    lastAction: "",
    isInjected: false,
    owed: [],
    hedgeCount: 0,
    staleId: null,
  };
}

export function storedOf({ watchdog, scope, ...content }: Watch): StoredWatch {
  return { watchdog, scope, content };
}

/** Written by this code; a member that a later version added has its beginning. */
export function watchOf({ watchdog, scope, content }: StoredWatch): Watch {
  const kept = content as Partial<Omit<Watch, "watchdog" | "scope">>;
  return { ...newWatch(watchdog, scope, kept.memory ?? null, fromMicroseconds(0)), ...kept };
}
