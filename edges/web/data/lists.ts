// What the desks show, by list: how each is read through the client, how often at the latest, and which events change it sooner. A panel names its lists and
// nothing is asked for that nobody sees.

import type { AnswerOf } from "../../client/src/types.ts";
import { shell } from "../../words/shell.ts";
import { hoursOf, momentText, rangeOf } from "../model/range.ts";
import type { PastEvents } from "../replay/past-events.ts";
import { fundLists } from "./fund-lists.ts";
import { type Asked, fundFlag, hoursText, type ListPlace, ofFund } from "./list-place.ts";
import { operationLists } from "./operation-lists.ts";
import { replayLists } from "./replay-lists.ts";
import { type Ours, type Received, signalLists } from "./signal-lists.ts";

export interface Lists {
  readonly funds: AnswerOf<"listFunds">;
  readonly strategies: AnswerOf<"listStrategies">;
  readonly halts: AnswerOf<"getHaltStatus">;
  readonly use: AnswerOf<"getLimitUse">;
  readonly losses: AnswerOf<"listLosses">;
  readonly blocks: AnswerOf<"listBlocks">;
  readonly rejections: AnswerOf<"listRejections">;
  readonly decisions: AnswerOf<"getDecisions">;
  readonly stops: AnswerOf<"listStops">;
  readonly differences: AnswerOf<"listDifferences">;
  readonly positions: AnswerOf<"getPositions">;
  readonly orders: AnswerOf<"listOrders">;
  readonly headroom: AnswerOf<"getHeadroom">;
  readonly envelope: AnswerOf<"getEnvelope">;
  readonly instruments: AnswerOf<"listInstruments">;
  readonly navs: AnswerOf<"listNavs">;
  readonly days: AnswerOf<"listNavs">;
  readonly ledger: AnswerOf<"listLedger">;
  readonly backtest: AnswerOf<"getBacktest">;
  readonly services: AnswerOf<"listServices">;
  readonly alarms: AnswerOf<"listAlarms">;
  readonly watchdogs: AnswerOf<"listWatchdogs">;
  readonly audit: AnswerOf<"getAuditStatus">;
  readonly entries: AnswerOf<"readAudit">;
  readonly books: AnswerOf<"getBooks">;
  readonly drills: AnswerOf<"listDrills">;
  readonly logs: AnswerOf<"readLogs">;
  readonly lag: AnswerOf<"getMetrics">;
  readonly faults: AnswerOf<"getPaperWeather">;
  readonly tokens: AnswerOf<"listServiceTokens">;
  readonly received: Received;
  readonly signal: AnswerOf<"getWebhookSignal">;
  readonly ours: Ours;
  readonly sender: AnswerOf<"getWebhookStatus">;
  readonly template: AnswerOf<"listStrategies">;
  readonly dryRun: AnswerOf<"getWebhookStatus">;
  readonly matrix: readonly AnswerOf<"getMatrix">[];
  readonly timeline: PastEvents;
  readonly moment: AnswerOf<"getMoment">;
  readonly bars: AnswerOf<"listReplayBars">;
  readonly verify: AnswerOf<"verifyDecisions">;
}

export type ListName = keyof Lists;

type Places = { readonly [Name in ListName]: ListPlace<Lists[Name]> };
type RiskName = Exclude<
  ListName,
  keyof typeof fundLists | keyof typeof operationLists | keyof typeof signalLists | keyof typeof replayLists
>;

const fast = 2_000;
const slow = 10_000;
export const dayHours = 24;

const hoursIn = (asked: Asked, nowMs: number): number => hoursOf(rangeOf(asked, nowMs), nowMs, dayHours);

const riskLists: Pick<Places, RiskName> = {
  funds: {
    read: (client, _asked, call) => client.listFunds({}, call),
    everyMs: fast,
    topics: ["treasury.nav", "operations.halt", "risk.halt"],
    actions: ["halt.", "resume.", "ledger."],
    command: () => "ctl treasury funds list",
    source: "listFunds",
    process: "treasury",
  },
  strategies: {
    read: (client, asked, call) => client.listStrategies(ofFund(asked), call),
    everyMs: slow,
    topics: ["research.strategy", "operations.halt", "operations.restriction"],
    actions: ["strategy.", "restriction."],
    command: (asked) => shell`ctl research strategies list ${fundFlag(asked)}`,
    source: "listStrategies",
    process: "research",
  },
  halts: {
    read: (client, _asked, call) => client.getHaltStatus({}, call),
    everyMs: fast,
    topics: ["operations.halt", "operations.resume", "risk.halt"],
    actions: ["halt.", "resume."],
    command: () => "ctl riskengine halts list",
    source: "getHaltStatus",
    process: "operations",
  },
  use: {
    read: (client, asked, call) => client.getLimitUse(ofFund(asked), call),
    everyMs: fast,
    topics: ["oms.fills", "oms.orders", "treasury.nav", "risk.envelope"],
    actions: ["fill.", "order.", "envelope."],
    command: (asked) => shell`ctl riskengine use list ${fundFlag(asked)}`,
    source: "getLimitUse",
    process: "riskengine",
  },
  losses: {
    read: (client, asked, call) => client.listLosses(ofFund(asked), call),
    everyMs: fast,
    topics: ["treasury.nav", "risk.loss", "risk.envelope"],
    actions: ["loss.", "envelope."],
    command: (asked) => shell`ctl riskengine losses list ${fundFlag(asked)}`,
    source: "listLosses",
    process: "riskengine",
  },
  blocks: {
    read: (client, asked, call) => client.listBlocks(ofFund(asked), call),
    everyMs: fast,
    topics: ["operations.halt", "risk.", "operations.restriction"],
    actions: ["halt.", "restriction.", "throttle.", "reconcile.", "block."],
    command: (asked) => shell`ctl riskengine blocks list ${fundFlag(asked)}`,
    source: "listBlocks",
    process: "riskengine",
  },
  rejections: {
    read: (client, asked, call, nowMs) =>
      client.listRejections({ ...ofFund(asked), hours: hoursIn(asked, nowMs), countMax: 200 }, call),
    everyMs: slow,
    topics: ["risk.gate.failed", "oms.orders.rejected"],
    actions: ["order.decided", "order.rejected"],
    command: (asked) => shell`ctl riskengine rejections list ${fundFlag(asked)} --hours ${hoursText(asked, dayHours)}`,
    source: "listRejections",
    process: "operations",
  },
  decisions: {
    read: (client, { of = "" }, call) => client.getDecisions({ orderId: of }, call),
    everyMs: slow,
    topics: [],
    actions: ["order.decided"],
    command: ({ of = "" }) => shell`ctl why ${of}`,
    source: "getDecisions",
    process: "operations",
  },
  stops: {
    read: (client, asked, call) => client.listStops(ofFund(asked), call),
    everyMs: fast,
    topics: ["risk.stop", "oms.fills"],
    actions: ["stop.", "fill."],
    command: (asked) => shell`ctl riskengine stops list ${fundFlag(asked)}`,
    source: "listStops",
    process: "operations",
  },
  differences: {
    read: (client, asked, call) => client.listDifferences({ ...ofFund(asked), open: true, countMax: 100 }, call),
    everyMs: slow,
    topics: ["risk.reconcile"],
    actions: ["reconcile."],
    command: (asked) => shell`ctl riskengine differences list ${fundFlag(asked)} --open`,
    source: "listDifferences",
    process: "operations",
  },
  positions: {
    read: (client, asked, call) => client.getPositions(ofFund(asked), call),
    everyMs: fast,
    topics: ["oms.fills", "treasury.nav"],
    actions: ["fill."],
    command: (asked) => shell`ctl oms positions list ${fundFlag(asked)}`,
    source: "getPositions",
    process: "oms",
  },
  orders: {
    read: (client, asked, call, nowMs) => {
      const { fromMs } = rangeOf(asked, nowMs);
      const since = fromMs === undefined ? {} : { since: momentText(fromMs) };
      return client.listOrders({ ...ofFund(asked), ...since, countMax: 200 }, call);
    },
    everyMs: slow,
    topics: ["oms.orders", "oms.fills"],
    actions: ["order.", "fill."],
    command: (asked) => shell`ctl oms orders list ${fundFlag(asked)}`,
    source: "listOrders",
    process: "oms",
  },
  headroom: {
    read: (client, { fund = "", symbol = "" }, call) => client.getHeadroom({ fundId: fund, symbol }, call),
    everyMs: fast,
    topics: ["oms.fills", "oms.orders", "risk.envelope", "operations.halt"],
    actions: ["fill.", "order.", "envelope.", "halt."],
    command: ({ fund = "", symbol = "" }) => shell`ctl riskengine headroom --fund-id ${fund} --symbol ${symbol}`,
    source: "getHeadroom",
    process: "riskengine",
  },
  envelope: {
    read: (client, { fund = "" }, call) => client.getEnvelope({ fundId: fund }, call),
    everyMs: slow,
    topics: ["risk.envelope"],
    actions: ["envelope."],
    command: ({ fund = "" }) => shell`ctl riskengine envelope show --fund-id ${fund}`,
    source: "getEnvelope",
    process: "riskengine",
  },
  instruments: {
    read: (client, _asked, call) => client.listInstruments({}, call),
    everyMs: 60_000,
    topics: ["treasury.reference"],
    actions: ["reference.", "corporate_action."],
    command: () => "ctl treasury instruments list",
    source: "listInstruments",
    process: "treasury",
  },
};

export const lists: Places = { ...riskLists, ...fundLists, ...operationLists, ...signalLists, ...replayLists };

export function isTouchedBy(name: ListName, topics: readonly string[]): boolean {
  return lists[name].topics.some((beginning) => topics.some((topic) => topic.startsWith(beginning)));
}
