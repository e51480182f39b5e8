// One watchdog at work: it reads what is watched, judges what is due, and writes what it remembers. A change of state is committed by itself; the rest of
// a round is one transaction. What an episode owes outside the store is carried out afterwards, and again until it is done.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { close, type Step, step } from "../../../core/watchdogs/episodes.ts";
import { type Judgement, withoutValue } from "../../../core/watchdogs/watchdog.ts";
import type { Chat } from "../../../ports/chat.ts";
import type { WatchedScope } from "../../../ports/watchdog-records.ts";
import { type Loop, startLoop } from "../../shared/loop.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { AnyConfig, Assigned, ToJudge } from "./assigned.ts";
import type { Board } from "./board.ts";
import type { CarryOut } from "./carry-out.ts";
import { type ChangeToCommit, commitChange, hedgesOwed } from "./commit-change.ts";
import type { Configuration } from "./configuration.ts";
import { keyOf, newWatch, storedOf, type Watch } from "./watch.ts";
import { aboutWords, effectWords, measured } from "./words.ts";

interface RunOptions {
  readonly ports: Pick<ServicePorts, "store" | "timers" | "clock" | "log" | "crash" | "random">;
  readonly assigned: Assigned;
  readonly board: Board;
  readonly configuration: Configuration;
  readonly carryOut: CarryOut;
  /** Where people are notified at once when the store does not take a change. */
  readonly chat: Chat;
  /** The funds whose configuration may differ. */
  fundIds(): readonly string[];
}

export interface RunningWatchdog {
  readonly assigned: Assigned;
  /** When a round came to its end last; its start before the first. */
  finishedAt(): Instant;
  /** Whether a round came to its end since its start. */
  hasJudged(): boolean;
  /** Judges now, whether it is due or not; of one fund or of all. */
  judge(fundId?: string): Promise<void>;
  wake(): void;
  /** Judges all of it soon, whether it is due or not. */
  judgeSoon(): void;
  stop(): Promise<void>;
}

interface Acting {
  readonly acting: boolean;
  /** Asked only when gross exposure is about to be restricted. */
  readonly grossNow?: ToJudge["grossNow"];
  readonly hedges?: boolean;
}

/** Timers ring early by a little. */
const earlyMs = 50;
const chatMsMax = 5_000;
const watchesAtOnceMax = 500;
/** Of one episode: whoever refuses so many will refuse the next one too, and an alarm was raised for each. */
const hedgeOrdersMax = 20;

/** Observations that come more often than it would be judged are judged as they come. */
function periodS(config: AnyConfig): number {
  const {
    every_s: everyS,
    observation_s: observationS = everyS,
    lag_s: lagS = everyS,
    buckets_per_day: buckets,
  } = config;
  const bucketS = buckets === undefined ? everyS : 86_400 / Number(buckets);
  return Math.max(1, Math.min(everyS, Number(observationS), Number(lagS), bucketS));
}

export function runWatchdog(options: RunOptions): RunningWatchdog {
  const { ports, assigned, board, configuration } = options;
  const { about } = assigned;
  const judgedAt = new Map<string, Instant>();
  let busy: Promise<void> = Promise.resolve();
  let finishedAt = ports.clock.now();
  let hasJudged = false;
  /** Changes that the store did not take, by key: they are written before anything else is judged about the same thing, though it may be over by then. */
  const unrecorded = new Map<string, ChangeToCommit>();
  const config = (fundId?: string): AnyConfig => configuration.of(about.name, fundId);

  function isDue(fundId: string | undefined, at: Instant): boolean {
    const last = judgedAt.get(fundId ?? "");
    return last === undefined || millisecondsBetween(last, at) >= periodS(config(fundId)) * 1_000 - earlyMs;
  }

  async function round(forced?: { readonly fundId?: string | undefined }): Promise<void> {
    const at = ports.clock.now();
    // What is owed from before does not wait for what is read now: a feed that is away keeps no halt back.
    await recordLate();
    await options.carryOut.all(about.name);
    const isTurn = (fundId?: string): boolean =>
      forced === undefined ? isDue(fundId, at) : forced.fundId === undefined || forced.fundId === (fundId ?? "firm");
    const openedAt = (scope: WatchedScope): Instant | null =>
      board.get(keyOf(about.name, scope))?.standing.episode?.openedAt ?? null;
    const lastObservation = (scope: WatchedScope): string | null =>
      board.get(keyOf(about.name, scope))?.standing.reading?.observation ?? null;
    const found = await assigned.read({ at, config, isDue: isTurn, openedAt, lastObservation });
    // One may be judged several times in a round, observation by observation: its last memory counts.
    const quiet = new Map<string, Watch>();
    for (const one of found) {
      const key = keyOf(about.name, one.scope);
      if (unrecorded.has(key)) continue;
      const watch = await judgeOne(key, one, at);
      if (watch === undefined) quiet.delete(key);
      else quiet.set(key, watch);
    }
    await keep([...quiet.values()]);
    await forgetGone(found, isTurn, at);
    for (const fundId of [undefined, ...options.fundIds()]) if (isTurn(fundId)) judgedAt.set(fundId ?? "", at);
    await options.carryOut.all(about.name);
    finishedAt = ports.clock.now();
    hasJudged = true;
  }

  /** Gives it when there is nothing but its memory to write. */
  async function judgeOne(key: string, one: ToJudge, at: Instant): Promise<Watch | undefined> {
    const before = board.get(key) ?? newWatch(about.name, one.scope, null, at);
    const given = config(one.scope.fundId);
    const openedAt = before.standing.episode?.openedAt ?? null;
    const { judgement, memory } = one.judge(given, before.memory, { at, openedAt });
    const acting = given.mode === "act" && board.pauseOf(about.name, one.scope.fundId, at) === undefined;
    const rules = { persistence: given.persistence, clearAfter: given.clear_after, acting };
    const isInjected = one.isInjected ?? false;
    // What rested on injected observations ends with them, whatever the true ones say.
    const isWithdrawn = before.isInjected && !isInjected && before.standing.episode !== null;
    const next = isWithdrawn ? close(before.standing, at) : step(before.standing, judgement, rules, at, newEpisodeId());
    const watch: Watch = { ...before, memory, judgement, judgedAt: at, isInjected, standing: next.standing };
    const hedges = given["hedge"] !== "propose";
    return settle(key, watch, judgement, next, at, { acting, grossNow: one.grossNow, hedges });
  }

  async function settle(
    key: string,
    watch: Watch,
    judgement: Judgement,
    { change }: Step,
    at: Instant,
    { acting, grossNow, hedges = true }: Acting,
  ): Promise<Watch | undefined> {
    if (change === null) {
      const next = acting && hedges ? hedgedAgain(watch, judgement) : watch;
      board.put(key, next);
      return next;
    }
    const staleId = watch.staleId ?? newEpisodeId();
    const isGross = change.effects.some((effect) => effect.kind === "restriction" && effect.restriction === "GROSS");
    const gross = isGross ? await grossNow?.() : undefined;
    const given = { about, watch, judgement, change, staleId, grossNow: gross, hedges, isDryRun: !acting, at };
    // The board has it only when the store does.
    try {
      board.put(key, await commitChange(ports, given));
    } catch (thrown) {
      unrecorded.set(key, given);
      await notifyWithoutStore(watch, judgement, change.event, messageOf(thrown));
      throw thrown;
    }
    ports.log.info("a watchdog's state changed", { watchdog: about.name, event: change.event, key });
    return undefined;
  }

  /** An outage of the store that was noticed is an event of its own, though the store is well when it can be written. */
  async function recordLate(): Promise<void> {
    for (const [key, given] of unrecorded) {
      try {
        board.put(key, await commitChange(ports, given));
        unrecorded.delete(key);
      } catch (thrown) {
        if (thrown instanceof Defect) throw thrown;
        ports.log.warn("a watchdog's change is not written yet", {
          watchdog: about.name,
          key,
          error: messageOf(thrown),
        });
      }
    }
  }

  /** What an open episode still wants after its first orders are through, as when somebody's order was on its way when it began. */
  function hedgedAgain(watch: Watch, { again = [] }: Judgement): Watch {
    const { episode } = watch.standing;
    const orders = again.flatMap((effect) => effect.orders);
    if (episode === null || orders.length === 0 || watch.owed.some(({ kind }) => kind === "hedge")) return watch;
    if (watch.hedgeCount + orders.length > hedgeOrdersMax) return watch;
    const owed = [...watch.owed, ...hedgesOwed(episode.id, watch.hedgeCount, orders)];
    const lastAction = `${watch.lastAction} ${again.map((effect) => effectWords(effect, "")).join(" ")}`.trim();
    return { ...watch, owed, hedgeCount: watch.hedgeCount + orders.length, lastAction: line(lastAction, 2_000) };
  }

  /** The event comes later, when the store is back; people are notified now, once an hour at most (the chat knows the key). */
  async function notifyWithoutStore(watch: Watch, judgement: Judgement, event: string, error: string): Promise<void> {
    const words = aboutWords(watch.scope);
    ports.log.error("a watchdog's change could not be written", { watchdog: about.name, about: words, event, error });
    if (event === "CLEARED") return;
    const text = `${measured(about.name, words, judgement)} It is not recorded yet: ${error}`;
    const key = `watchdog ${about.name} ${words} ${event} unrecorded`;
    const title = `${about.name}: ${words} ${event.toLowerCase()}, not recorded yet`;
    try {
      await options.chat.send({ key, level: "critical", title, text }, chatMsMax);
    } catch (failed) {
      ports.log.error("nobody could be notified either", { watchdog: about.name, error: messageOf(failed) });
    }
  }

  function newEpisodeId(): string {
    return `${about.name.replaceAll("_", "-")}-${ports.random.uuid().slice(0, 18)}`;
  }

  async function keep(watches: readonly Watch[]): Promise<void> {
    for (let from = 0; from < watches.length; from += watchesAtOnceMax) {
      const rows = watches.slice(from, from + watchesAtOnceMax).map(storedOf);
      await ports.store.transact("watchdogs.judged", (unit) => unit.watchdogs.putWatches(rows));
    }
  }

  /** What is not watched any more, as a position that was closed: its episode ends, and then it is forgotten. */
  async function forgetGone(
    found: readonly ToJudge[],
    isTurn: (fundId?: string) => boolean,
    at: Instant,
  ): Promise<void> {
    const present = new Set(found.map(({ scope }) => keyOf(about.name, scope)));
    const gone = board
      .of(about.name)
      .filter(([key, { scope }]) => !present.has(key) && !unrecorded.has(key) && isTurn(scope.fundId));
    for (const [key, watch] of gone) {
      const next = close(watch.standing, at);
      const { threshold } = config(watch.scope.fundId);
      const nothing = { threshold, unit: about.unit, sampleCount: 0, asOf: at };
      const judgement = watch.judgement ?? withoutValue("STALE", "NO_INPUT", nothing);
      await settle(key, { ...watch, standing: next.standing }, judgement, next, at, { acting: true });
      if (watch.owed.length > 0) continue;
      await ports.store.transact("watchdogs.forget", (unit) => unit.watchdogs.removeWatches([watch]));
      board.remove(key);
    }
  }

  /** One round at a time, whoever asks. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const doing = busy.then(work, work);
    busy = doing.catch(() => undefined);
    return doing;
  }

  const nextMs = (): number => {
    const all = [undefined, ...options.fundIds()].map((fundId) => periodS(config(fundId)));
    return Math.max(250, Math.min(...all) * 1_000);
  };
  const loop: Loop = startLoop({
    ports,
    what: `the watchdog ${about.name}`,
    firstAfterMs: 2_000,
    async run() {
      await inTurn(() => round());
      return Math.min(nextMs(), 60_000);
    },
  });
  return {
    assigned,
    finishedAt: () => finishedAt,
    hasJudged: () => hasJudged,
    judge: (fundId) => inTurn(() => round({ fundId })),
    wake: () => loop.wake(),
    judgeSoon() {
      judgedAt.clear();
      loop.wake();
    },
    async stop() {
      await loop.stop();
      await busy;
      await assigned.stop();
    },
  };
}
