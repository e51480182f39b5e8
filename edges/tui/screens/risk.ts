// `r`: everything that a risk officer asks for at once. An overview stands first, then every limit as a bar with its number and band, losses against their
// limits, what denies new risk, stops owed, differences, watchdogs, and the alarms of the last hour.

import type { Instant } from "../../../contracts/src/instant.ts";
import { amount, percent } from "../../words/figures.ts";
import { price } from "../../words/money.ts";
import { blockScope, type WatchdogWord, watchdogStates, watchdogWord } from "../../words/risk-words.ts";
import { age, ageMs } from "../../words/times.ts";
import { type Data, type ListName, type Lists, listOf } from "../lists.ts";
import { toneOfBand } from "../view/figures.ts";
import { type Span, span } from "../view/text.ts";
import { noneOf, type Screen, type Section, section, type Viewing } from "./screen.ts";

export const risk: Screen = {
  key: "r",
  name: "risk",
  title: "RISK",
  sentence: "Limits as bars, losses, stops, differences, watchdogs, alarms.",
  needs: ["use", "losses", "stops", "differences", "watchdogs", "alarms"],
  command: "ctl riskengine use list",
  sections: (data, view) => [
    overview(data),
    limits(data, view),
    losses(data),
    blocks(data, view.now),
    stops(data, view.now),
    differences(data, view.now),
    watchdogs(data, view.now),
    alarms(data, view.now),
  ],
};

interface Summary {
  readonly what: string;
  readonly words: Span;
}

function overview(data: Data): Section {
  const items: readonly Summary[] = [
    { what: "limits", words: counted(data, "use", limitWords(listOf(data, "use"))) },
    { what: "losses", words: counted(data, "losses", lossWords(listOf(data, "losses"))) },
    {
      what: "denials",
      words: counted(
        data,
        "blocks",
        countWords(listOf(data, "blocks").length, "standing condition denies new risk", "conditions deny new risk"),
      ),
    },
    {
      what: "stops",
      words: counted(data, "stops", countWords(owedStops(data).length, "exit is owed", "exits are owed")),
    },
    {
      what: "differences",
      words: counted(
        data,
        "differences",
        countWords(
          openDifferences(data).length,
          "difference with the broker is open",
          "differences with the broker are open",
        ),
      ),
    },
    { what: "watchdogs", words: counted(data, "watchdogs", watchdogWords(listOf(data, "watchdogs"))) },
    {
      what: "alarms",
      words: counted(
        data,
        "alarms",
        countWords(listOf(data, "alarms").length, "alarm in the last hour", "alarms in the last hour"),
      ),
    },
  ];
  return section({
    columns: [
      { head: "OVERVIEW", rank: 0, of: ({ what }) => what },
      { head: "", rank: 0, of: ({ words }) => words },
    ],
    items,
    none: "",
    id: ({ what }) => `overview/${what}`,
  });
}

/** What was never read counts as not known, and never as none. */
function counted(data: Data, name: ListName, words: Span): Span {
  if (data.held[name] !== undefined) return words;
  const failure = data.failures[name];
  return span(failure === undefined ? "loading" : `not known: ${failure}`, "warn");
}

function countWords(count: number, one: string, many: string): Span {
  return count === 0 ? span(`no ${one}`) : span(`${count} ${count === 1 ? one : many}`, "bad");
}

function limitWords(uses: Lists["use"]): Span {
  const top = uses.find(({ share }) => share !== undefined);
  const uncounted = uses.filter(({ share }) => share === undefined).length;
  if (top === undefined)
    return span(uses.length === 0 ? "no limit is set" : `${uses.length} cannot be counted`, "warn");
  const words = `${uses.length} limits, most used ${percent(top.share)}: ${top.fund_id} ${limitName(top)}`;
  const tone = uncounted > 0 ? "warn" : toneOfBand(top.band);
  return span(uncounted > 0 ? `${words}; ${uncounted} cannot be counted` : words, tone);
}

function lossWords(list: Lists["losses"]): Span {
  const wrong = list.filter(({ state }) => state !== "JUDGED");
  if (wrong.length === 0) return span(`${list.length} loss limits, none is reached`);
  const names = wrong.map(({ fund_id, strategy_id, limit, state }) => `${strategy_id ?? fund_id} ${limit} ${state}`);
  return span(names.join(", "), "bad");
}

type Watchdog = Lists["watchdogs"][number];

function watchdogWords(list: Lists["watchdogs"]): Span {
  if (list.length === 0) return span("the server reports none", "warn");
  const counts = watchdogStates
    .map((word) => ({ word, count: list.filter((one) => watchdogWord(one) === word).length }))
    .filter(({ count }) => count > 0);
  const worst = counts[0]?.word ?? "OK";
  return span(counts.map(({ word, count }) => `${count} ${word}`).join(", "), toneOfWatchdog(worst));
}

function toneOfWatchdog(word: WatchdogWord): Span["tone"] {
  if (word === "ACTION" || word === "WARN") return "bad";
  return word === "OK" || word === "WARMUP" ? "plain" : "warn";
}

const barWidth = 20;

/** A bar that is not fresh is drawn in question marks: its length is of another time. */
function bar(share: number | undefined, { fresh, ascii }: Pick<Viewing, "fresh" | "ascii">): string {
  if (share === undefined) return "?".repeat(barWidth);
  const filled = Math.min(barWidth, Math.max(0, Math.round(share * barWidth)));
  const [full, empty] = ascii ? ["#", "."] : ["█", "░"];
  return `${(fresh ? full : "?").repeat(filled)}${empty.repeat(barWidth - filled)}`;
}

/** A limit with the symbol or sector that it is of, once. */
export function limitName({ limit, scope }: Pick<Lists["use"][number], "limit" | "scope">): string {
  return scope === "" || limit.endsWith(`.${scope}`) ? limit : `${limit} ${scope}`;
}

/** Only there while something is open. */
function otherEnd(text: string | undefined): string {
  return text === undefined ? "" : amount(text);
}

function limits(data: Data, view: Viewing): Section {
  return section<Lists["use"][number]>({
    title: "LIMITS",
    columns: [
      { head: "FUND", rank: 0, of: (one) => one.fund_id },
      { head: "LIMIT", rank: 0, of: limitName, widthMax: 40 },
      {
        head: "USED OF THE LIMIT",
        rank: 0,
        of: (one) => span(bar(one.share, view), toneOfBand(one.band)),
        by: (one) => one.share ?? 2,
      },
      {
        head: "SHARE",
        rank: 0,
        right: true,
        of: (one) => (one.share === undefined ? span("?", "warn") : span(percent(one.share), toneOfBand(one.band))),
        by: (one) => one.share ?? 2,
      },
      {
        head: "BAND",
        rank: 0,
        right: true,
        of: (one) => span(String(one.band), toneOfBand(one.band)),
        by: (one) => one.band,
      },
      { head: "USED", rank: 1, right: true, of: (one) => amount(one.used) },
      { head: "ALLOWED", rank: 1, right: true, of: (one) => amount(one.allowed) },
      { head: "AT LEAST", rank: 2, right: true, ifAny: true, of: (one) => otherEnd(one.used_least) },
      { head: "AT MOST", rank: 2, right: true, ifAny: true, of: (one) => otherEnd(one.allowed_most) },
      { head: "OPEN", rank: 3, ifAny: true, of: (one) => one.cause ?? "", widthMax: 60 },
      {
        head: "AGE",
        rank: 2,
        right: true,
        of: (one) => age(one.as_of, view.now),
        by: (one) => ageMs(one.as_of, view.now) ?? 0,
      },
      { head: "WHY NOT COUNTED", rank: 3, of: (one) => one.reason ?? "" },
    ],
    items: listOf(data, "use"),
    none: noneOf(data, "use", "No fund has limits yet."),
    id: (one) => `use/${one.fund_id}/${one.limit}/${one.scope}`,
    target: (one) => ({ kind: "fund", fundId: one.fund_id }),
    command: (one) => `ctl riskengine use list --fund-id ${one.fund_id}`,
  });
}

function losses(data: Data): Section {
  return section<Lists["losses"][number]>({
    title: "LOSSES AGAINST LIMITS",
    columns: [
      { head: "FUND", rank: 0, of: (one) => one.fund_id },
      { head: "STRATEGY", rank: 0, of: (one) => one.strategy_id ?? "" },
      { head: "LIMIT", rank: 0, of: (one) => one.limit },
      { head: "LOSS", rank: 0, right: true, of: (one) => amount(one.loss) },
      { head: "HALTS AT", rank: 0, right: true, of: (one) => amount(one.limit_loss) || "off" },
      { head: "LOSS %", rank: 0, right: true, of: (one) => percent(one.loss_pct, 2), by: (one) => one.loss_pct ?? 0 },
      {
        head: "STATE",
        rank: 0,
        of: (one) => span(one.state === "JUDGED" ? "WITHIN" : one.state, one.state === "JUDGED" ? "plain" : "bad"),
      },
      { head: "PERIOD", rank: 1, of: (one) => one.period },
      { head: "REASON", rank: 2, of: (one) => one.reason ?? "", widthMax: 60 },
    ],
    items: listOf(data, "losses"),
    none: noneOf(data, "losses", "No fund has been valued yet."),
    id: (one) => `loss/${one.fund_id}/${one.strategy_id ?? ""}/${one.limit}`,
    command: (one) => `ctl riskengine losses list --fund-id ${one.fund_id}`,
  });
}

function blocks(data: Data, now: Instant): Section {
  return section<Lists["blocks"][number]>({
    title: "DENIES NEW RISK",
    columns: [
      { head: "WHERE", rank: 0, of: blockScope },
      { head: "CODE", rank: 0, of: (one) => span(one.code, "bad") },
      { head: "SINCE", rank: 0, right: true, of: (one) => age(one.since, now) || "?" },
      { head: "REASON", rank: 0, of: (one) => one.reason, widthMax: 70 },
      { head: "ENDS", rank: 1, of: (one) => one.ends, widthMax: 70 },
    ],
    items: listOf(data, "blocks"),
    none: noneOf(data, "blocks", "No standing condition denies new risk."),
    id: (one) =>
      `block/${one.code}/${one.scope}/${one.fund_id ?? ""}/${one.strategy_id ?? ""}/${one.symbol ?? ""}/${one.block_id ?? ""}`,
    command: (one) => one.command ?? "ctl riskengine blocks list",
  });
}

export function owedStops(data: Data): Lists["stops"] {
  return listOf(data, "stops").filter(({ state }) => state === "OWED" || state === "EXITING");
}

export function openDifferences(data: Data): Lists["differences"] {
  return listOf(data, "differences").filter(({ status }) => status === "SUSPECTED" || status === "CONFIRMED");
}

function stops(data: Data, now: Instant): Section {
  return section<Lists["stops"][number]>({
    title: "STOPS OWED",
    columns: [
      { head: "FUND", rank: 0, of: (one) => one.fund_id },
      { head: "SYMBOL", rank: 0, of: (one) => one.symbol },
      { head: "QUANTITY", rank: 0, right: true, of: (one) => one.quantity },
      { head: "TRIGGER", rank: 0, right: true, of: (one) => price(one.trigger_price) },
      { head: "PRICE", rank: 0, right: true, of: (one) => price(one.observed_price) },
      { head: "STATE", rank: 0, of: (one) => span(one.state, "bad") },
      { head: "OWED FOR", rank: 0, right: true, of: (one) => age(one.fired_at, now) },
      { head: "TRIES", rank: 1, right: true, of: (one) => String(one.attempts) },
      { head: "COMPLAINT", rank: 2, of: (one) => one.complaint ?? "", widthMax: 60 },
    ],
    items: owedStops(data),
    none: noneOf(data, "stops", "No exit is owed."),
    id: (one) => `stop/${one.fund_id}/${one.strategy_id}/${one.symbol}`,
    target: (one) => ({ kind: "position", fundId: one.fund_id, symbol: one.symbol, strategyId: one.strategy_id }),
    command: () => "ctl riskengine stops list --owed",
  });
}

function differences(data: Data, now: Instant): Section {
  return section<Lists["differences"][number]>({
    title: "DIFFERENCES WITH THE BROKER",
    columns: [
      { head: "FUND", rank: 0, of: (one) => one.fund_id },
      { head: "SYMBOL", rank: 0, of: (one) => one.symbol },
      { head: "OURS", rank: 0, right: true, of: (one) => one.our_quantity },
      { head: "BROKER'S", rank: 0, right: true, of: (one) => one.broker_quantity },
      { head: "STATUS", rank: 0, of: (one) => span(one.status, "bad") },
      { head: "CLASS", rank: 0, of: (one) => one.class },
      { head: "SINCE", rank: 1, right: true, of: (one) => age(one.first_seen_at, now) },
      { head: "EVIDENCE", rank: 2, of: (one) => one.evidence, widthMax: 60 },
    ],
    items: openDifferences(data),
    none: noneOf(data, "differences", "No difference is open."),
    id: (one) => `difference/${one.difference_id}`,
    command: () => "ctl riskengine differences list --open",
  });
}

function watchdogs(data: Data, now: Instant): Section {
  const sorted = [...listOf(data, "watchdogs")].sort(
    (one, other) => watchdogStates.indexOf(watchdogWord(one)) - watchdogStates.indexOf(watchdogWord(other)),
  );
  return section<Watchdog>({
    title: "WATCHDOGS",
    columns: [
      { head: "WATCHDOG", rank: 0, of: (one) => one.watchdog },
      {
        head: "ABOUT",
        rank: 0,
        of: (one) => [one.strategy_id ?? one.fund_id, one.symbol].filter(Boolean).join(" "),
        widthMax: 24,
      },
      { head: "STATE", rank: 0, of: (one) => span(stateText(one), toneOfWatchdog(watchdogWord(one))) },
      {
        head: "VALUE",
        rank: 0,
        right: true,
        of: (one) => (one.value === null ? "" : String(Number(one.value.toPrecision(4)))),
      },
      { head: "THRESHOLD", rank: 0, right: true, of: (one) => (one.threshold === null ? "" : String(one.threshold)) },
      { head: "UNIT", rank: 1, of: (one) => one.unit, widthMax: 20 },
      {
        head: "JUDGED",
        rank: 2,
        right: true,
        of: (one) => (one.judged_at === null ? "never" : age(one.judged_at, now)),
      },
      { head: "REASON", rank: 3, of: (one) => one.paused?.reason ?? one.reason ?? "", widthMax: 60 },
    ],
    items: sorted,
    none: noneOf(data, "watchdogs", "The server has no watchdogs yet."),
    id: (one) => `watchdog/${one.watchdog}/${one.fund_id ?? ""}/${one.strategy_id ?? ""}/${one.symbol ?? ""}`,
    command: (one) => `ctl operations watchdog status --watchdog ${one.watchdog}`,
  });
}

/** Paused first: the state below it is one that nobody acts on. */
function stateText({ state, paused }: Watchdog): string {
  return paused === null ? state : `PAUSED (${state})`;
}

function alarms(data: Data, now: Instant): Section {
  return section<Lists["alarms"][number]>({
    title: "ALARMS OF THE LAST HOUR",
    columns: [
      { head: "AGE", rank: 0, right: true, of: (one) => age(one.at, now) },
      { head: "CODE", rank: 0, of: (one) => span(one.code, one.level === "critical" ? "bad" : "warn") },
      { head: "WHAT", rank: 0, of: (one) => one.sentence, widthMax: 100 },
    ],
    items: listOf(data, "alarms"),
    none: noneOf(data, "alarms", "No alarm was raised."),
    id: (one) => `alarm/${one.alarm_id}`,
    command: () => "ctl operations alarms list --hours 1",
  });
}
