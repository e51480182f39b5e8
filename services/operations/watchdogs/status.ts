// How every watchdog stands, for people: one row for each thing that it watches, and its episodes.
import type { Episode, WatchdogStatus } from "../../../contracts/src/generated/svc/v1/watchdogs.ts";
import { format, type Instant, millisecondsBetween, minusMilliseconds } from "../../../contracts/src/instant.ts";
import type { WatchdogName } from "../../../contracts/src/records/values.ts";
import type { StoredEpisode, WatchedScope } from "../../../ports/watchdog-records.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Assigned } from "./assigned.ts";
import type { Board } from "./board.ts";
import type { EpisodeContent } from "./commit-change.ts";
import { type Configuration, firmId } from "./configuration.ts";
import type { RunningWatchdog } from "./run-watchdog.ts";
import { keyOf, newWatch, type Watch } from "./watch.ts";

const countedMs = 30 * 86_400_000;
const yearShare = 30 / 365;
/** Periods without a judgement after which a watchdog is stale itself. */
const periodsMax = 3;
/** A short period allows for the work itself. */
const graceMs = 2_000;

export interface StatusParts {
  readonly ports: Pick<ServicePorts, "store" | "clock">;
  readonly assigned: readonly Assigned[];
  readonly board: Board;
  readonly configuration: Configuration;
  readonly running: readonly Pick<RunningWatchdog, "assigned" | "finishedAt" | "hasJudged">[];
}

interface StatusQuery {
  readonly watchdog?: WatchdogName | undefined;
  readonly fundId?: string | undefined;
}

export async function listStatus(parts: StatusParts, query: StatusQuery): Promise<WatchdogStatus[]> {
  const { board, assigned } = parts;
  const at = parts.ports.clock.now();
  const { counts, open } = await parts.ports.store.transact("watchdogs.look", async (unit) => ({
    counts: await unit.watchdogs.openedSince(minusMilliseconds(at, countedMs)),
    open: await unit.restrictions.listOpen(),
  }));
  const alerts = new Map(counts.map((row) => [keyOf(row.watchdog, row.scope), row.count]));
  const byEpisode = new Map<string, string[]>();
  for (const { episodeId, restrictionId } of open) {
    byEpisode.set(episodeId, [...(byEpisode.get(episodeId) ?? []), restrictionId]);
  }
  return assigned
    .filter(({ about }) => (query.watchdog ?? about.name) === about.name)
    .flatMap((one) => {
      const watches = board
        .of(one.about.name)
        .filter(([, { scope }]) => query.fundId === undefined || query.fundId === (scope.fundId ?? query.fundId));
      if (watches.length === 0) return [emptyRow(parts, one, query.fundId, at)];
      return watches.map(([key, watch]) => rowOf(parts, one, watch, at, alerts.get(key) ?? 0, byEpisode));
    });
}

/** One that watches nothing is listed all the same: nobody reads its absence as OK. */
function emptyRow(parts: StatusParts, one: Assigned, fundId: string | undefined, at: Instant): WatchdogStatus {
  const { name } = one.about;
  const run = parts.running.find(({ assigned }) => assigned === one);
  const judgedAt = run?.finishedAt() ?? at;
  const ofFund = fundId === undefined || fundId === firmId ? {} : { fundId };
  const row = rowOf(parts, one, { ...newWatch(name, ofFund, null, judgedAt), judgedAt }, at, 0, new Map());
  if (row.state === "STALE") return row;
  if (run?.hasJudged()) return { ...row, reason: "NOTHING_TO_WATCH" };
  const { judged_at: _never, ...waiting } = row;
  return { ...waiting, reason: "NOT_JUDGED" };
}

function rowOf(
  { board, configuration }: StatusParts,
  { about, expectedAlertsPerYear }: Assigned,
  watch: Watch,
  at: Instant,
  alerts: number,
  restrictions: ReadonlyMap<string, readonly string[]>,
): WatchdogStatus {
  const { scope, standing, judgement } = watch;
  const config = configuration.of(about.name, scope.fundId);
  const pause = board.pauseOf(about.name, scope.fundId, at);
  const isStale = isNotJudged(watch, config.every_s, at);
  const expected = expectedAlertsPerYear(config);
  return {
    watchdog: about.name,
    ...scopeFields(scope),
    state: isStale ? "STALE" : standing.state,
    ...(judgement === null || judgement.value === null || isStale ? {} : { value: judgement.value }),
    threshold: judgement?.threshold ?? config.threshold,
    unit: judgement?.unit ?? about.unit,
    sample_count: judgement?.sampleCount ?? 0,
    ...(isStale ? { reason: "NOT_JUDGED" } : judgement?.reason ? { reason: judgement.reason } : {}),
    ...(judgement === null ? {} : { as_of: format(judgement.asOf) }),
    ...(watch.judgedAt === null ? {} : { judged_at: format(watch.judgedAt) }),
    since: format(standing.since),
    ...(standing.episode === null ? {} : { episode_id: standing.episode.id }),
    last_action: watch.lastAction,
    restriction_ids: [...(restrictions.get(standing.episode?.id ?? "") ?? [])],
    mode: config.mode,
    ...(pause === undefined ? {} : { paused: { by: pause.by, reason: pause.reason, until: format(pause.until) } }),
    alerts_30d: alerts,
    ...(expected === null ? {} : { expected_alerts_30d: expected * yearShare }),
    injected: watch.isInjected,
  };
}

export function isNotJudged({ judgedAt }: Pick<Watch, "judgedAt">, everyS: number, at: Instant): boolean {
  return judgedAt !== null && millisecondsBetween(judgedAt, at) > periodsMax * everyS * 1_000 + graceMs;
}

function scopeFields({ fundId, strategyId, symbol }: WatchedScope) {
  return {
    ...(fundId === undefined ? {} : { fund_id: fundId }),
    ...(strategyId === undefined ? {} : { strategy_id: strategyId }),
    ...(symbol === undefined ? {} : { symbol }),
  };
}

export function shownEpisode({ episodeId, watchdog, scope, openedAt, clearedAt, content }: StoredEpisode): Episode {
  const kept = content as EpisodeContent;
  return {
    episode_id: episodeId,
    watchdog,
    ...scopeFields(scope),
    state: kept.state,
    opened_at: format(openedAt),
    ...(clearedAt === undefined ? {} : { cleared_at: format(clearedAt) }),
    ...(kept.value === null ? {} : { value: kept.value }),
    threshold: kept.threshold,
    unit: kept.unit,
    figures: { ...kept.figures },
    action: kept.action,
    sentence: kept.sentence,
    restriction_ids: [...kept.restrictionIds],
    halt_ids: [...kept.haltIds],
    events: [...kept.events],
    dry_run: kept.isDryRun,
    injected: kept.isInjected,
  };
}
