// When a fall began, when it was noticed and when somebody acted: the onset from the values, the rest from the audit log with its sequence numbers. What
// lies before the log began is said so, and nothing is put in its place.
import { format, millisecondsBetween, parse } from "../../contracts/src/instant.ts";
import { mean, standardDeviation } from "../../core/stats/moments.ts";
import { booksOf } from "../books/books.ts";
import type { ReportFacts } from "../facts.ts";
import { onset } from "../metrics/post-mortem.ts";
import { returnsOf } from "../performance-sections.ts";
import { tradeDates } from "../trade-dates.ts";

type AuditRow = NonNullable<ReportFacts["audit"]>["entries"][number];

export interface FallTimeline {
  readonly kind: "minute" | "day";
  /** Whether minutes were held against the days before, because there are too few minutes before. */
  readonly isScaled: boolean;
  /** Why no onset was looked for, or null. */
  readonly noOnset: string | null;
  /** The last value before the fall; what noticed it may have come at once. */
  readonly onsetAt: string | null;
  /** The first value with the fall in it. */
  readonly shownAt: string | null;
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
/** What every order, login and start leaves behind: counted, not listed. */
const routine =
  /^(order|fill|decision|approval|gate|mark|report|secret|token|session|factor|signing_key|stepup|chain)\.|^(loss\.baseline|operator\.changed)$/;
/** In a day of a market that closes, and of one that never does. */
const minutesOfDay = { session: 390, always: 1_440 };

interface Step {
  /** When the value before it was taken: its move lies between the two. */
  readonly from: string;
  readonly at: string;
  readonly value: number;
}

export function fallTimeline(facts: ReportFacts, start: string, end: string): FallTimeline {
  const days = daySteps(facts, start, end);
  const minutes = minuteSteps(facts, start, end, days.before.length);
  const { inside, before, perBefore } =
    minutes === null ? { ...days, perBefore: 1 } : { before: days.before, ...minutes };
  const [middle, deviation] = [mean(before), standardDeviation(before)];
  const isKnown = before.length >= baselineMin && middle !== null && deviation !== null && deviation > 0;
  const [usual, spread] = isKnown ? [middle / perBefore, deviation / Math.sqrt(perBefore)] : [0, 1];
  const standardised = isKnown ? inside.map(({ value }) => (value - usual) / spread) : [];
  const found = onset(standardised, slack, limit);
  const stepAt = (index: number | null): Step | undefined => (index === null ? undefined : inside[index]);
  const { from: onsetAt = null, at: shownAt = null } = stepAt(found.onset) ?? {};
  const alarmAt = stepAt(found.alarm)?.at ?? null;
  return {
    kind: minutes === null ? "day" : "minute",
    isScaled: perBefore !== 1,
    noOnset: isKnown
      ? null
      : `There are fewer than ${baselineMin} values before the fall that move: no onset can be named.`,
    onsetAt,
    shownAt,
    alarmAt,
    ...answers(facts, start, end, onsetAt),
  };
}

/**
 * One value a minute is kept for a week. Those of the fall are held against the minutes before it; against the days before it, a minute's share of
 * them, where the values of minutes begin on its first day. Null where they begin later.
 */
function minuteSteps(facts: ReportFacts, start: string, end: string, daysBefore: number) {
  const dateOf = tradeDates(facts);
  const kept = facts.minutes ?? [];
  const isScaled = kept[0] !== undefined && dateOf(kept[0].at) === start && daysBefore >= baselineMin;
  const opening = isScaled ? facts.navs.filter(({ day }) => day < start).slice(-1) : [];
  const rows = [...opening.map(({ as_of: at, nav, net_flows }) => ({ at, nav, net_flows })), ...kept];
  const steps = rows.flatMap(({ at, nav, net_flows }, index, all): readonly Step[] => {
    const last = all[index - 1];
    if (last === undefined || !(Number(last.nav) > 0)) return [];
    const flow = Number(net_flows) - Number(last.net_flows);
    return [{ from: last.at, at, value: (Number(nav) - flow) / Number(last.nav) - 1 }];
  });
  const inside = steps.filter(({ at }) => dateOf(at) >= start && dateOf(at) <= end);
  const before = steps.filter(({ at }) => dateOf(at) < start).map(({ value }) => value);
  if (isScaled && inside.length > 0)
    return { inside, perBefore: facts.fund.periods_per_year === 365 ? minutesOfDay.always : minutesOfDay.session };
  return before.length < minutesMin || inside.length < baselineMin ? null : { inside, before, perBefore: 1 };
}

function daySteps(facts: ReportFacts, start: string, end: string) {
  const books = booksOf(facts, facts.navs[0]?.day ?? start, end).days;
  const { dates, returns } = returnsOf(facts, books);
  const asOf = new Map(books.map((day) => [day.day, day.asOf]));
  const opened = facts.navs.filter(({ day }) => day < (dates[0] ?? start)).at(-1)?.as_of;
  const moments = dates.map((day) => asOf.get(day) ?? "");
  const all = dates.map((day, index) => {
    const at = moments[index] ?? "";
    return { day, from: moments[index - 1] ?? opened ?? at, at, value: returns[index] ?? 0 };
  });
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
