// When a fall began, when it was noticed and when somebody acted: the onset from the values, the rest from the audit log with its sequence numbers. What
// lies before the log began is said so, and nothing is put in its place.
import { format, millisecondsBetween, parse } from "../../contracts/src/instant.ts";
import { mean, standardDeviation } from "../../core/stats/moments.ts";
import { booksOf } from "../books/books.ts";
import type { ReportFacts } from "../facts.ts";
import { onset } from "../metrics/post-mortem.ts";
import { returnsOf } from "../performance-sections.ts";
import { tradeDates } from "../trade-dates.ts";

export type AuditRow = NonNullable<ReportFacts["audit"]>["entries"][number];

export interface FallTimeline {
  readonly kind: "minute" | "day";
  /** Why no onset was looked for, or null. */
  readonly noOnset: string | null;
  readonly onsetAt: string | null;
  readonly alarmAt: string | null;
  readonly entries: readonly AuditRow[];
  readonly left: number;
  /** The first notice and the first act at or after the onset, by the log. */
  readonly detected: AuditRow | null;
  readonly responded: AuditRow | null;
  readonly detectSeconds: number | null;
  readonly respondSeconds: number | null;
  /** True where the log begins after the fall did. */
  readonly isBeforeLog: boolean;
}

const slack = 0.5;
const limit = 4;
const baselineMin = 20;
const minutesMin = 60;
const entriesMax = 200;

/** Not the baselines of losses that every start sets, nor a service that ends. */
const notices =
  /^(halt|alarm|watchdog|stop|restriction)\.|^(loss\.unjudged|reconcile\.difference|service\.lost|block\.opened)$/;
const acts = /^(halt|stop|restriction|flatten|envelope|resume)\./;
/** What every order leaves behind: counted, not listed. */
const routine = /^(order|fill|decision|approval|gate|mark|report)\./;

interface Step {
  readonly at: string;
  readonly value: number;
}

export function fallTimeline(facts: ReportFacts, start: string, end: string): FallTimeline {
  const minutes = minuteSteps(facts, start, end);
  const steps = minutes ?? daySteps(facts, start, end);
  const [middle, deviation] = [mean(steps.before), standardDeviation(steps.before)];
  const isKnown = steps.before.length >= baselineMin && middle !== null && deviation !== null && deviation > 0;
  const standardised = isKnown ? steps.inside.map(({ value }) => (value - middle) / deviation) : [];
  const found = onset(standardised, slack, limit);
  const at = (index: number | null): string | null => (index === null ? null : (steps.inside[index]?.at ?? null));
  const [onsetAt, alarmAt] = [at(found.onset), at(found.alarm)];
  return {
    kind: minutes === null ? "day" : "minute",
    noOnset: isKnown
      ? null
      : `There are fewer than ${baselineMin} values before the fall that move: no onset can be named.`,
    onsetAt,
    alarmAt,
    ...answers(facts, start, end, onsetAt),
  };
}

/** One value a minute is kept for a week; null where the fall or the time before it is not covered. */
function minuteSteps(facts: ReportFacts, start: string, end: string) {
  const dateOf = tradeDates(facts);
  const steps = (facts.minutes ?? []).flatMap(({ at, nav, net_flows }, index, all): readonly Step[] => {
    const last = all[index - 1];
    if (last === undefined || !(Number(last.nav) > 0)) return [];
    const flow = Number(net_flows) - Number(last.net_flows);
    return [{ at, value: (Number(nav) - flow) / Number(last.nav) - 1 }];
  });
  const inside = steps.filter(({ at }) => dateOf(at) >= start && dateOf(at) <= end);
  const before = steps.filter(({ at }) => dateOf(at) < start).map(({ value }) => value);
  return before.length < minutesMin || inside.length < baselineMin ? null : { inside, before };
}

function daySteps(facts: ReportFacts, start: string, end: string) {
  const books = booksOf(facts, facts.navs[0]?.day ?? start, end).days;
  const { dates, returns } = returnsOf(facts, books);
  const asOf = new Map(books.map((day) => [day.day, day.asOf]));
  const all = dates.map((day, index) => ({ day, at: asOf.get(day) ?? "", value: returns[index] ?? 0 }));
  return {
    inside: all.filter(({ day }) => day >= start && day <= end),
    before: all.filter(({ day }) => day < start).map(({ value }) => value),
  };
}

function answers(facts: ReportFacts, start: string, end: string, onsetAt: string | null) {
  const dateOf = tradeDates(facts);
  const { began_at: began, entries = [] } = facts.audit ?? { began_at: null };
  const inside = entries.filter(({ at }) => dateOf(at) >= start && dateOf(at) <= end);
  const shown = inside.filter(({ action }) => !routine.test(action));
  const later = onsetAt === null ? [] : shown.filter(({ at }) => parse(at) >= parse(onsetAt));
  const detected = later.find(({ action }) => notices.test(action)) ?? null;
  const responded =
    later.find(
      ({ action, actor }) =>
        acts.test(action) && (actor.startsWith("operator:") || /^(halt|flatten|restriction)\./.test(action)),
    ) ?? null;
  const seconds = (entry: AuditRow | null): number | null =>
    entry === null || onsetAt === null ? null : millisecondsBetween(parse(onsetAt), parse(entry.at)) / 1_000;
  return {
    entries: shown.slice(0, entriesMax),
    left: inside.length - Math.min(shown.length, entriesMax),
    detected,
    responded,
    detectSeconds: seconds(detected),
    respondSeconds: seconds(responded),
    isBeforeLog: began === null || dateOf(format(parse(began))) > start,
  };
}
