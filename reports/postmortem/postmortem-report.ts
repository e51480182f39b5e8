// postmortem_auto_rca: why a fund fell. Timeline, onset, a waterfall whose parts are counted from below, causes by their share with the loss without each,
// fixes with what they would have saved, and an account in words that may use no number of its own.
import * as decimal from "../../contracts/src/decimal.ts";
import { type BookDay, booksOf } from "../books/books.ts";
import { tie, worstDay } from "../books/tie-out.ts";
import type { Block, Cell, ReportDocument } from "../document.ts";
import { metricMaker } from "../figures.ts";
import { waterfall } from "../metrics/post-mortem.ts";
import { attributedDays } from "../position-days.ts";
import { shownMoment, shownMoney, shownSeconds } from "../render/numbers.ts";
import {
  chosenSections,
  columnsOf,
  documentOf,
  figuresSection,
  needed,
  qualityOf,
  type Section,
  sectionOf,
  tableOf,
  textOf,
} from "../report-parts.ts";
import type { Report, ReportInput } from "../shape.ts";
import { type Narrative, type NumberedFact, narrativeOf, type Paragraph } from "./narrative.ts";
import { fixesSection } from "./postmortem-fixes.ts";
import { type FallParts, fallParts, type PartName, partNames } from "./postmortem-parts.ts";
import { type FallTimeline, fallTimeline } from "./postmortem-timeline.ts";

type Decimal = decimal.Decimal;

const sections = ["summary", "narrative", "timeline", "waterfall", "causes", "fixes", "positions"] as const;
const unexplainedMax = 0.05;

const money = decimal.format;
const printed = (amount: Decimal): string => shownMoney(decimal.format(amount));
const share = (value: number): string => `${(value * 100).toFixed(2)} %`;

const meanings: Readonly<Record<PartName, string>> = {
  market: "the market's move, by each position's loading on it",
  factor: "the other factors' moves, by each position's loadings",
  selection: "the positions' own moves, beside market and factors; of what was traded, the move from the trade on",
  slippage: "trades, against the middle of bid and ask at that moment",
  fees: "fees of trades",
  funding: "dividends less what borrowing cost",
  data_ops: "positions that had no price",
};

interface Fall {
  readonly actual: Decimal;
  readonly found: FallParts;
  readonly split: ReturnType<typeof waterfall>;
  readonly timeline: FallTimeline;
}

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  needed(facts, "universe");
  needed(facts, "audit");
  const books = booksOf(facts, start, end);
  const days = attributedDays(facts, books.days);
  const make = metricMaker(facts, days.at(-1)?.day ?? null);
  const actual = days.map((day) => day.changed).reduce(decimal.add, decimal.zero);
  const found = fallParts(facts, books.days, days, start);
  const split = waterfall(actual, found.parts, unexplainedMax);
  const fall: Fall = { actual, found, split, timeline: fallTimeline(facts, start, end) };
  const n = days.length;
  const noTime = fall.timeline.onsetAt === null ? ("NO_ONSET" as const) : ("NOT_IN_LOG" as const);
  const metrics = [
    make("opening_nav", books.days[0]?.opening ?? null, n),
    make("closing_nav", books.days.at(-1)?.closing ?? null, n),
    make("fall", actual, n),
    make("fall_explained", split.explained, n),
    make("fall_unexplained", split.unexplained, n),
    make("fall_unexplained_share", split.unexplainedFraction, n, "CONSTANT"),
    make("time_to_detect", fall.timeline.detectSeconds, 1, noTime),
    make("time_to_respond", fall.timeline.respondSeconds, 1, noTime),
  ];
  const account = accountOf(input, books.days, fall);
  const all: readonly Section[] = [
    figuresSection(metrics, ...failure(split.accepted)),
    wordsSection(account),
    timelineSection(fall.timeline),
    waterfallSection(fall),
    causesSection(fall),
    fixesSection(facts, found, books.days),
    positionsSection(found),
  ];
  const document = documentOf(input, {
    report: "postmortem_auto_rca",
    title: "Post-mortem",
    metrics,
    sections: chosenSections(all, input.include, sections),
    reconciliation: [
      ...books.reconciliation,
      ...worstDay(
        "Sum over positions = closing NAV - opening NAV - flows",
        days.map(({ day, total: left, changed: right }) => ({ day, left, right })),
      ),
      tie("Parts of the waterfall = profit or loss", split.explained, actual),
    ],
    exclusions: exclusionsOf(fall),
    quality: qualityOf(facts, books.days),
    parameters: { drawdown_start: start, drawdown_end: end, unexplained_max: unexplainedMax },
  });
  return { ...document, narrative: account };
}

const failure = (accepted: boolean): Block[] =>
  accepted
    ? []
    : [
        textOf(
          "failed",
          `THIS REPORT FAILED: what its parts do not explain is more than ${share(unexplainedMax)} of the profit or loss.`,
        ),
      ];

function exclusionsOf({ found, timeline }: Fall): ReportDocument["exclusions"] {
  return [
    ...(found.unloaded.length === 0
      ? []
      : [
          {
            what: "Positions without loadings",
            why: "Too few closes: all of their move counts as their own.",
            count: found.unloaded.length,
          },
        ]),
    ...(found.unquoted === 0
      ? []
      : [
          {
            what: "Trades without a kept quote",
            why: "What they slipped is not known: all of their effect counts as the positions' own move.",
            count: found.unquoted,
          },
        ]),
    ...(timeline.left === 0
      ? []
      : [
          {
            what: "Routine entries of the log",
            why: "Orders, fills, decisions, logins, keys and baselines are in the log and not in the timeline.",
            count: timeline.left,
          },
        ]),
  ];
}

/** The facts that words may use, and the template's words. */
function accountOf(
  { facts, start, end, written }: ReportInput,
  days: readonly BookDay[],
  { actual, split, found, timeline }: Fall,
): Narrative {
  const list: NumberedFact[] = [];
  const fact = (text: string): string => {
    list.push({ id: `F${list.length + 1}`, text });
    return `F${list.length}`;
  };
  const { currency, fund_id: fundId } = facts.fund;
  const opening = days[0]?.opening ?? decimal.zero;
  const period = fact(`The period is ${start} to ${end}.`);
  const result = fact(`The profit or loss of ${fundId} was ${printed(actual)} ${currency}.`);
  const relative =
    opening > 0n
      ? [fact(`That is ${share(decimal.toNumber(actual) / decimal.toNumber(opening))} of the opening value.`)]
      : [];
  const causes = split.ranked
    .filter((name) => (found.parts.get(name as PartName) ?? decimal.zero) < 0n)
    .slice(0, 3)
    .map((name) => ({
      name,
      amount: found.parts.get(name as PartName) ?? decimal.zero,
      part: split.shareOfLoss.get(name) ?? 0,
    }))
    .map((each) => ({
      ...each,
      id: fact(`${each.name}: ${printed(each.amount)} ${currency}, ${share(each.part)} of all losing parts.`),
    }));
  const rest = fact(`Not explained: ${printed(split.unexplained)} ${currency}.`);
  const onset = began(timeline);
  const started = onset === null ? [] : [fact(`The fall began between ${onset}.`)];
  const template: Paragraph[] = [
    {
      text: `From ${start} to ${end} the profit or loss of ${fundId} was ${printed(actual)} ${currency}.`,
      facts: [period, result, ...relative],
    },
    {
      text:
        causes.length === 0
          ? "No part of it lost."
          : `What lost most: ${causes.map(({ name, amount, part }) => `${name} (${printed(amount)} ${currency}, ${share(part)} of all losing parts)`).join("; ")}.`,
      facts: causes.map(({ id }) => id),
    },
    { text: `Not explained: ${printed(split.unexplained)} ${currency}.`, facts: [rest] },
    ...(onset === null ? [] : [{ text: `By the values the fall began between ${onset}.`, facts: started }]),
  ];
  return narrativeOf(list, template, written);
}

/** Between the last value before it and the first that has it. */
const began = ({ onsetAt, shownAt }: FallTimeline): string | null =>
  onsetAt === null || shownAt === null ? null : `${shownMoment(onsetAt)} and ${shownMoment(shownAt)}`;

function wordsSection({ source, model, refused, paragraphs }: Narrative): Section {
  const label =
    source === "model"
      ? `Written by the model ${model}; every figure in it was checked against the facts.`
      : "Written by a template, not by a model.";
  return sectionOf(
    "narrative",
    "What happened",
    textOf("narrative_label", refused === null ? label : `${label} A model's text is not used: ${refused}.`),
    ...paragraphs.map(({ text }, index) => textOf(`paragraph_${index + 1}`, text)),
  );
}

/** Nothing where there is no onset to count from. */
function answeredText({ onsetAt, detected, responded, detectSeconds, respondSeconds }: FallTimeline): Block[] {
  if (onsetAt === null) return [];
  const said = (what: string, seconds: number | null, entry: FallTimeline["detected"]): string =>
    seconds === null || entry === null
      ? `The log has no entry by which it was ${what}.`
      : `It was ${what} ${shownSeconds(seconds)} after the last value before the fall (entry ${entry.sequence}, ${entry.action}).`;
  const text = `${said("detected", detectSeconds, detected)} ${said("answered", respondSeconds, responded)}`;
  return [textOf("answered", text)];
}

function timelineSection(timeline: FallTimeline): Section {
  const { alarmAt, noOnset, kind, isScaled, isBeforeLog, entries } = timeline;
  const how = `By Page's sum of standardised returns, one a ${kind}${isScaled ? " held against a minute's share of the days before" : ""}, slack 0.5, limit 4.`;
  const onset = began(timeline);
  const said =
    noOnset ??
    (onset === null
      ? `No onset: the returns never left what was usual. ${how}`
      : `The fall began between ${onset}; it was beyond the limit at ${shownMoment(alarmAt ?? "")}. ${how}`);
  const rows = entries.map((entry): Cell[] => [entry.sequence, entry.at, entry.action, entry.actor, entry.subject_id]);
  const columns = columnsOf("sequence:Entry:count", "at:At", "action:Action", "actor:By", "subject:About");
  return sectionOf(
    "timeline",
    "Timeline",
    textOf("onset", said),
    ...answeredText(timeline),
    ...(isBeforeLog
      ? [textOf("before_log", "The fall began before the log began: nothing is known of who did what then.")]
      : []),
    tableOf("audit_entries", "From the audit log, with its sequence numbers", columns, rows),
  );
}

function waterfallSection({ actual, found, split }: Fall): Section {
  const rows = partNames.map((name): Cell[] => [
    name,
    meanings[name],
    money(found.parts.get(name) ?? decimal.zero),
    split.shareOfLoss.get(name) ?? null,
  ]);
  const columns = columnsOf(
    "part:Part",
    "meaning:What it is",
    "amount:Amount:money",
    "share:Of all losing parts:fraction",
  );
  return sectionOf(
    "waterfall",
    "Waterfall",
    tableOf(
      "waterfall_parts",
      "Each part counted from positions, prices, fills and ledger",
      columns,
      [
        ...rows,
        ["UNEXPLAINED", "what the parts do not explain", money(split.unexplained), null],
        ["all", "closing NAV - opening NAV - flows", money(actual), null],
      ],
      true,
    ),
  );
}

function causesSection({ actual, found, split }: Fall): Section {
  const rows = split.ranked
    .map((name) => ({ name, amount: found.parts.get(name as PartName) ?? decimal.zero }))
    .filter(({ amount }) => amount < 0n)
    .map(({ name, amount }, index): Cell[] => [
      index + 1,
      name,
      money(amount),
      split.shareOfLoss.get(name) ?? null,
      money(decimal.subtract(actual, amount)),
    ]);
  const columns = columnsOf(
    "rank:Rank:count",
    "cause:Cause",
    "amount:Amount:money",
    "share:Share:fraction",
    "without:Without it:money",
  );
  return sectionOf(
    "causes",
    "Causes",
    tableOf("ranked_causes", "By their share of all losing parts, and the result without each", columns, rows),
  );
}

function positionsSection({ bySymbol }: FallParts): Section {
  const rows = bySymbol.map(({ symbol, amount }): Cell[] => [symbol, money(amount)]);
  return sectionOf(
    "positions",
    "Positions",
    tableOf(
      "position_moves",
      "Price moves by position, what was traded from its trade on; the largest loss first",
      columnsOf("symbol:Symbol", "amount:Price moves:money"),
      rows,
    ),
  );
}

export const postmortemReport: Report = {
  name: "postmortem_auto_rca",
  title: "Post-mortem",
  sentence:
    "Why a fund fell: timeline, onset, a waterfall counted from below, causes with the loss without each, and fixes.",
  sections,
  needs: ["universe", "envelopes", "replays", "audit", "minutes", "fill_quotes"],
  build,
};
