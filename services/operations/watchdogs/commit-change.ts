// A change of state, in one transaction: what the watchdog remembers, its episode, the restrictions that it opens or ends, and the event. What has to be
// done outside the store (halts, hedges, vacuum) is written down in it as owed, under names that follow from the episode.
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { WatchdogAlarm } from "../../../contracts/src/records/operations.ts";
import type { NewRestriction, RestrictionScope } from "../../../contracts/src/records/restriction.ts";
import type { Change } from "../../../core/watchdogs/episodes.ts";
import type { Effect, HedgeOrder, Judgement } from "../../../core/watchdogs/watchdog.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { WatchedScope } from "../../../ports/watchdog-records.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";
import type { About } from "./assigned.ts";
import { type Owed, storedOf, type Watch } from "./watch.ts";
import { aboutWords, effectWords, measured } from "./words.ts";

export interface ChangeToCommit {
  readonly about: About;
  /** As it is after the judgement. */
  readonly watch: Watch;
  readonly judgement: Judgement;
  readonly change: Change;
  /** Names a STALE, and its end, that no open episode has. */
  readonly staleId: string;
  readonly grossNow?: decimal.Decimal | undefined;
  /** False when hedges are only proposed: then they are written down and not handed in. */
  readonly hedges: boolean;
  readonly isDryRun: boolean;
  readonly at: Instant;
}

type ChangePorts = Pick<ServicePorts, "store" | "timers" | "log">;

/** What an episode is made of in the store, and what lists of episodes show. */
export interface EpisodeContent {
  readonly state: "WARN" | "ACTION" | "STALE";
  readonly value: number | null;
  readonly threshold: number;
  readonly unit: string;
  readonly figures: Judgement["figures"];
  readonly action: string;
  readonly sentence: string;
  readonly restrictionIds: readonly string[];
  readonly haltIds: readonly string[];
  readonly events: readonly string[];
  readonly isDryRun: boolean;
  readonly isInjected: boolean;
}

/** Gives the watch as it was written. */
export async function commitChange(ports: ChangePorts, given: ChangeToCommit): Promise<Watch> {
  const { change, watch, staleId } = given;
  const episodeId = change.episodeId ?? staleId;
  const words = aboutWords(watch.scope);
  const doing = change.effects.map((effect) => effectWords(effect, words)).filter((text) => text !== "");
  const wanted = change.withheld.map((effect) => effectWords(effect, words)).filter((text) => text !== "");
  const action = [...doing, ...(wanted.length === 0 ? [] : ["Not done (dry run or paused):", ...wanted])].join(" ");
  const wanting = change.event === "CLEARED" ? [] : owedOf(change.effects, episodeId, given);
  const owed = [...watch.owed, ...wanting];
  const hedged = change.event === "OPENED" || change.event === "CLEARED" ? 0 : watch.hedgeCount;
  const written: Watch = {
    ...watch,
    owed,
    hedgeCount: hedged + wanting.filter(({ kind }) => kind === "hedge").length,
    lastAction: actionAfter(change, action, watch),
    judgement: given.judgement,
    staleId: change.event === "STALE" && change.episodeId === null ? staleId : null,
  };
  await transactToKnownEnd(ports, "watchdogs.change", async (unit) => {
    const restrictionIds = await restrict(unit, given, episodeId);
    const before = await unit.watchdogs.lockEpisode(episodeId);
    const known = before?.content as EpisodeContent | undefined;
    const alarm = alarmOf(given, episodeId, line(action, 2_000), restrictionIds);
    await unit.watchdogs.putEpisode({
      episodeId,
      watchdog: watch.watchdog,
      scope: watch.scope,
      openedAt: before?.openedAt ?? given.at,
      ...(change.event === "CLEARED" ? { clearedAt: given.at } : {}),
      content: contentOf(given, alarm, known, owed),
    });
    await unit.watchdogs.putWatches([storedOf(written)]);
    await unit.events.publish(given.about.subject, alarm);
  });
  return written;
}

function actionAfter({ event }: Change, action: string, { lastAction }: Watch): string {
  if (event === "CLEARED") return lastAction === "" ? "" : `Ended: ${lastAction.replace(/^Ended: /, "")}`;
  return action === "" ? lastAction : action;
}

/** Opens what the change wants, or ends what the episode opened. Gives those that are open then. */
async function restrict(unit: UnitOfWork, given: ChangeToCommit, episodeId: string): Promise<readonly string[]> {
  const { change, watch, at } = given;
  const wanted = change.effects.flatMap((effect) => (effect.kind === "restriction" ? [effect] : []));
  for (const { restriction: kind, factor } of wanted) {
    const restriction: NewRestriction = {
      restrictionId: `${episodeId}-${kind.toLowerCase().replaceAll("_", "-")}`,
      ...scopeOf(kind, watch.scope),
      kind,
      watchdog: watch.watchdog,
      episodeId,
      since: at,
      ...(factor === null ? {} : { factor: decimal.fromNumber(Number(factor.toFixed(6))) }),
      ...(kind === "GROSS" && given.grossNow !== undefined ? { base: given.grossNow } : {}),
    };
    await unit.restrictions.open(restriction);
  }
  const open = (await unit.restrictions.ofEpisode(episodeId)).filter(({ ended }) => ended === undefined);
  const ids = open.map(({ restrictionId }) => restrictionId);
  if (change.event !== "CLEARED") return ids;
  if (ids.length > 0) await unit.restrictions.end(ids, { at, by: watch.watchdog, reason: "its episode cleared" });
  return [];
}

/** Each kind restricts at its own level, however narrow what was watched is. */
function scopeOf(kind: NewRestriction["kind"], { fundId, strategyId, symbol }: WatchedScope): RestrictionScope {
  const fund = fundId === undefined ? {} : { fundId };
  switch (kind) {
    case "THROTTLE":
    case "COOLDOWN":
      return { ...fund, ...(symbol === undefined ? {} : { symbol }) };
    case "SHADOW":
    case "ALLOCATION":
      return { ...fund, ...(strategyId === undefined ? {} : { strategyId }) };
    default:
      return fund;
  }
}

function owedOf(effects: readonly Effect[], episodeId: string, given: ChangeToCommit): readonly Owed[] {
  return effects.flatMap((effect): readonly Owed[] => {
    if (effect.kind === "halt") {
      const haltId = `${episodeId}-${effect.level.toLowerCase().replaceAll("_", "-")}`;
      const reason = measured(given.watch.watchdog, aboutWords(given.watch.scope), given.judgement);
      return [{ kind: "halt", haltId, level: effect.level, reason }];
    }
    if (effect.kind === "hedge") {
      if (!given.hedges) return [];
      return hedgesOwed(episodeId, given.change.event === "OPENED" ? 0 : given.watch.hedgeCount, effect.orders);
    }
    return effect.kind === "vacuum" ? effect.tables.map((table) => ({ kind: "vacuum", table })) : [];
  });
}

/** Under names that follow from the episode and from how many orders it has handed in before. */
export function hedgesOwed(episodeId: string, before: number, orders: readonly HedgeOrder[]): readonly Owed[] {
  return orders.map((order, index) => ({
    kind: "hedge",
    orderId: `${episodeId}-hedge-${before + index + 1}`,
    order,
  }));
}

function alarmOf(
  { about, watch, judgement, change, isDryRun, at }: ChangeToCommit,
  episodeId: string,
  action: string,
  restrictionIds: readonly string[],
): WatchdogAlarm {
  const { fundId, strategyId, symbol } = watch.scope;
  const isCritical = change.effects.some(
    (effect) => effect.kind === "halt" || (effect.kind === "chat" && effect.severity === "critical"),
  );
  const sentence = `${measured(watch.watchdog, aboutWords(watch.scope), judgement)}${change.event === "CLEARED" ? " It is ordinary again." : ""}`;
  return {
    watchdog: watch.watchdog,
    code: change.event === "STALE" ? "WATCHDOG_STALE" : about.alarm,
    episode_id: episodeId,
    event: change.event,
    state: stateOf(change, watch),
    ...(fundId === undefined ? {} : { fund_id: fundId }),
    ...(strategyId === undefined ? {} : { strategy_id: strategyId }),
    // Of the firm's own watchdogs it names what is checked, which stands in the figures.
    ...(symbol === undefined || fundId === undefined ? {} : { symbol }),
    value: judgement.value,
    threshold: judgement.threshold,
    unit: judgement.unit,
    sample_count: judgement.sampleCount,
    figures: { ...judgement.figures, reason: judgement.reason },
    restriction_ids: [...restrictionIds],
    dry_run: isDryRun,
    injected: watch.isInjected,
    cross_post: change.effects.some(({ kind }) => kind === "cross_post"),
    level: change.event === "CLEARED" ? "info" : isCritical ? "critical" : "warning",
    action,
    sentence: line(sentence, 2_000),
    at: format(at),
  };
}

function stateOf({ event }: Change, { standing }: Watch): WatchdogAlarm["state"] {
  if (event === "STALE") return "STALE";
  if (event === "CLEARED") return "OK";
  return standing.episode?.state ?? "WARN";
}

/** An episode shows what it was opened or escalated with, not the ordinary value that ended it. */
const measuredIn = ({
  value,
  threshold,
  unit,
  figures,
}: Pick<EpisodeContent, "value" | "threshold" | "unit" | "figures">) => ({
  value,
  threshold,
  unit,
  figures,
});

function contentOf(
  { judgement, watch, change, isDryRun }: ChangeToCommit,
  alarm: WatchdogAlarm,
  known: EpisodeContent | undefined,
  owed: readonly Owed[],
): EpisodeContent {
  const state = stateOf(change, watch);
  const halts = owed.flatMap((one) => (one.kind === "halt" ? [one.haltId] : []));
  return {
    state: state === "OK" ? (known?.state ?? "WARN") : state,
    ...(change.event === "CLEARED" && known !== undefined ? measuredIn(known) : measuredIn(judgement)),
    action: [known?.action ?? "", alarm.action].filter((text) => text !== "").join(" "),
    sentence: change.event === "CLEARED" && known !== undefined ? known.sentence : alarm.sentence,
    restrictionIds: [...new Set([...(known?.restrictionIds ?? []), ...alarm.restriction_ids])],
    haltIds: [...new Set([...(known?.haltIds ?? []), ...halts])],
    events: [...(known?.events ?? []), change.event],
    isDryRun,
    isInjected: watch.isInjected || (known?.isInjected ?? false),
  };
}
