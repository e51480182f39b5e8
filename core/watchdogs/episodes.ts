// Episodes: from a row of judgements to the few changes that people are notified of. One state machine for all ten watchdogs.
//
// 1. Persistence counts observations: the same observation judged again replaces its own reading.
// 2. An episode opens at the highest rung that the last `persistence` observations all reached, and escalates alike; rungs are skipped.
// 3. It clears after `clearAfter` consecutive observations that clear. What is neither past a rung nor clear keeps it open.
// 4. A judgement without an observation opens, escalates and clears nothing, and neither counts nor breaks a run.
// 5. An effect is handed out once per episode. What was withheld (dry run, paused) is owed, and handed out when acting begins.
// 6. STALE is announced once, and its end once, unless an open episode goes on.
import type { Instant } from "../../contracts/src/instant.ts";
import { acts, type Effect, type Judgement, type RungEffect, type WatchdogState } from "./watchdog.ts";

interface OpenEpisode {
  readonly id: string;
  readonly openedAt: Instant;
  /** The strictest rung reached. It never falls while the episode is open. */
  readonly rung: number;
  /** Effects up to this rung were handed out. */
  readonly actedRung: number;
  readonly state: "WARN" | "ACTION";
}

interface Reading {
  readonly observation: string;
  readonly rung: number;
  readonly clears: boolean;
}

/** Consecutive observations at or above each rung (index 0 is rung 1), and consecutive ones that clear. */
interface Runs {
  readonly rungs: readonly number[];
  readonly clear: number;
}

/** How a watched subject stands: plain JSON, kept in the store with the watchdog's memory. */
export interface Standing {
  readonly state: WatchdogState;
  readonly since: Instant;
  readonly episode: OpenEpisode | null;
  /** The runs before the newest observation, and that observation. */
  readonly before: Runs;
  readonly reading: Reading | null;
  /** Whether STALE was announced and its end was not. */
  readonly staleAnnounced: boolean;
}

type EpisodeEvent = "OPENED" | "ESCALATED" | "CLEARED" | "STALE";

export interface Change {
  readonly event: EpisodeEvent;
  /** Null for STALE, and its end, without an open episode. */
  readonly episodeId: string | null;
  readonly rung: number;
  /** To be carried out now, in the transaction that stores the standing. */
  readonly effects: readonly Effect[];
  /** Wanted and not carried out: dry run or paused. */
  readonly withheld: readonly Effect[];
}

export interface EpisodeRules {
  readonly persistence: number;
  readonly clearAfter: number;
  /** False in a dry run and while paused. */
  readonly acting: boolean;
}

export interface Step {
  readonly standing: Standing;
  readonly change: Change | null;
}

const noRuns: Runs = { rungs: [], clear: 0 };

export const newStanding = (at: Instant): Standing => ({
  state: "WARMUP",
  since: at,
  episode: null,
  before: noRuns,
  reading: null,
  staleAnnounced: false,
});

/** One judgement further. `freshId` becomes the episode's id if it opens one. */
export function step(
  standing: Standing,
  judgement: Judgement,
  rules: EpisodeRules,
  at: Instant,
  freshId: string,
): Step {
  if (judgement.observation === null) return withoutReading(standing, judgement, at);
  const read = { observation: judgement.observation, rung: judgement.rung, clears: judgement.clears };
  const counted = count(standing, read);
  const runs = runsWith(counted.before, read);
  const { episode } = standing;
  if (episode === null) return whileClosed(counted, judgement, runs, rules, at, freshId);
  if (runs.clear >= rules.clearAfter) return cleared(counted, judgement.state, at);
  return whileOpen(counted, episode, judgement, runs, rules, at);
}

/** Ends an open episode without an ordinary observation: what it watched is gone, or the injected records were removed. */
export function close(standing: Standing, at: Instant): Step {
  if (standing.episode === null) return { standing, change: null };
  return cleared(standing, "OK", at);
}

function count(standing: Standing, read: Reading): Standing {
  const { reading, before } = standing;
  if (reading === null || reading.observation === read.observation) return { ...standing, reading: read };
  return { ...standing, before: runsWith(before, reading), reading: read };
}

function runsWith(before: Runs, { rung, clears }: Reading): Runs {
  const rungs = Array.from({ length: rung }, (_unused, index) => (before.rungs[index] ?? 0) + 1);
  return { rungs, clear: clears ? before.clear + 1 : 0 };
}

/** The highest rung that was reached in each of the last observations that persistence asks for. */
const confirmedRung = ({ rungs }: Runs, persistence: number): number =>
  rungs.findLastIndex((length) => length >= persistence) + 1;

function whileClosed(
  counted: Standing,
  judgement: Judgement,
  runs: Runs,
  rules: EpisodeRules,
  at: Instant,
  id: string,
): Step {
  const rung = confirmedRung(runs, rules.persistence);
  if (rung > 0) {
    const opened = { id, openedAt: at, rung, actedRung: 0, state: severityOf(rung, judgement.effects) };
    return changed(counted, opened, "OPENED", judgement, rules, at);
  }
  const state = judgement.rung > 0 ? "WARN" : judgement.state;
  const next = moved({ ...counted, staleAnnounced: false }, state, at);
  if (!counted.staleAnnounced) return { standing: next, change: null };
  return { standing: next, change: { event: "CLEARED", episodeId: null, rung: 0, effects: [], withheld: [] } };
}

function whileOpen(
  counted: Standing,
  episode: OpenEpisode,
  judgement: Judgement,
  runs: Runs,
  rules: EpisodeRules,
  at: Instant,
): Step {
  const rung = Math.max(episode.rung, confirmedRung(runs, rules.persistence));
  const owed = rules.acting && episode.actedRung < rung;
  if (rung === episode.rung && !owed) {
    return { standing: moved({ ...counted, staleAnnounced: false }, episode.state, at), change: null };
  }
  const escalated = { ...episode, rung, state: severityOf(rung, judgement.effects) };
  return changed(counted, escalated, "ESCALATED", judgement, rules, at);
}

function changed(
  counted: Standing,
  episode: OpenEpisode,
  event: "OPENED" | "ESCALATED",
  judgement: Judgement,
  { acting }: EpisodeRules,
  at: Instant,
): Step {
  const wanted = judgement.effects
    .filter((each) => each.rung > episode.actedRung && each.rung <= episode.rung)
    .map(({ effect }) => effect);
  const next = { ...episode, actedRung: acting ? episode.rung : episode.actedRung };
  return {
    standing: moved({ ...counted, episode: next, staleAnnounced: false }, next.state, at),
    change: {
      event,
      episodeId: episode.id,
      rung: episode.rung,
      effects: acting ? wanted : [],
      withheld: acting ? [] : wanted,
    },
  };
}

function cleared(counted: Standing, state: WatchdogState, at: Instant): Step {
  const { episode } = counted;
  const standing = { ...counted, episode: null, before: noRuns, staleAnnounced: false };
  return {
    standing: moved(standing, state, at),
    change: { event: "CLEARED", episodeId: episode?.id ?? null, rung: episode?.rung ?? 0, effects: [], withheld: [] },
  };
}

function withoutReading(standing: Standing, { state }: Judgement, at: Instant): Step {
  const next = moved(standing, state, at);
  if (state !== "STALE" || standing.staleAnnounced) return { standing: next, change: null };
  const { episode } = standing;
  return {
    standing: { ...next, staleAnnounced: true },
    change: { event: "STALE", episodeId: episode?.id ?? null, rung: episode?.rung ?? 0, effects: [], withheld: [] },
  };
}

const moved = (standing: Standing, state: WatchdogState, at: Instant): Standing =>
  standing.state === state ? standing : { ...standing, state, since: at };

const severityOf = (rung: number, effects: readonly RungEffect[]): "WARN" | "ACTION" =>
  effects.some((each) => each.rung <= rung && acts(each.effect)) ? "ACTION" : "WARN";
