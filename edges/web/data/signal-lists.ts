// What /signals and /matrix show: alerts of the charting platform, what strategies said, who may send, and where a fund's risk lies.

import type { CallOptions } from "../../client/src/call-options.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { shell } from "../../words/shell.ts";
import { hoursOf, rangeOf } from "../model/range.ts";
import { type Asked, fundFlag, hoursText, type ListPlace, ofFund } from "./list-place.ts";

type WebhookSignal = AnswerOf<"listWebhookSignals">[number];

export interface Received {
  readonly signals: readonly WebhookSignal[];
  /** Whether there are older ones that were not read. */
  readonly isCut: boolean;
}

type StrategySignal = AnswerOf<"listSignals">[number];

export interface Ours {
  readonly signals: readonly StrategySignal[];
  readonly strategies: readonly string[];
}

interface SignalLists {
  readonly received: ListPlace<Received>;
  readonly signal: ListPlace<AnswerOf<"getWebhookSignal">>;
  readonly ours: ListPlace<Ours>;
  readonly sender: ListPlace<AnswerOf<"getWebhookStatus">>;
  readonly template: ListPlace<AnswerOf<"listStrategies">>;
  readonly dryRun: ListPlace<AnswerOf<"getWebhookStatus">>;
  readonly matrix: ListPlace<readonly AnswerOf<"getMatrix">[]>;
}

const fast = 2_000;
const slow = 10_000;
export const receivedHours = 24;
/** What one answer holds, and how many are followed. */
const pageSize = 500;
const pagesMax = 4;
/** Of each strategy. */
const saidMax = 100;
/** Over how many days correlations are where the range is no number of days that says something. */
const daysUsual = 60;
const daysMin = 21;
const daysMax = 365;

/**
 * Of every fund, whichever is chosen: a request that proved no secret is no fund's, and whoever looks for an alert whose secret was wrong has to see it.
 */
async function readReceived(client: Client, hours: number, call: CallOptions): Promise<Received> {
  const signals: WebhookSignal[] = [];
  for (let page = 0; page < pagesMax; page += 1) {
    const last = signals.at(-1)?.signal_id;
    const more = await client.listWebhookSignals(
      { hours, countMax: pageSize, ...(last === undefined ? {} : { after: last }) },
      call,
    );
    signals.push(...more);
    if (more.length < pageSize) return { signals, isCut: false };
  }
  return { signals, isCut: true };
}

async function readOurs(client: Client, asked: Asked, call: CallOptions): Promise<Ours> {
  const all = (await client.listStrategies(ofFund(asked), call)).map((one) => one.strategy_id);
  const strategies = asked.strategy === undefined ? all : all.filter((one) => one === asked.strategy);
  const said = await Promise.all(
    strategies.map((strategyId) => client.listSignals({ strategyId, countMax: saidMax }, call)),
  );
  const signals = said.flat().sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
  return { signals, strategies };
}

/** As the range says, where that many days say something. */
export function correlationDays({ from }: Asked): number {
  const [, count] = /^(\d{1,4})d$/.exec(from ?? "") ?? [];
  const days = Number(count ?? daysUsual);
  return days < daysMin ? daysUsual : Math.min(daysMax, days);
}

async function readMatrices(client: Client, asked: Asked, call: CallOptions) {
  const days = correlationDays(asked);
  const funds =
    asked.fund === undefined ? (await client.listFunds({}, call)).map(({ fund_id }) => fund_id) : [asked.fund];
  return Promise.all(funds.map((fundId) => client.getMatrix({ fundId, days }, call)));
}

const strategyFlag = ({ strategy }: Asked): readonly string[] =>
  strategy === undefined ? [] : ["--strategy-id", strategy];
const statusFlag = ({ status }: Asked): readonly string[] => (status === undefined ? [] : ["--status", status]);

export const signalLists: SignalLists = {
  received: {
    read: (client, asked, call, nowMs) =>
      readReceived(client, hoursOf(rangeOf(asked, nowMs), nowMs, receivedHours), call),
    everyMs: fast,
    topics: ["oms.signals", "oms.orders"],
    actions: ["signal.", "order."],
    command: (asked) =>
      shell`ctl signals list ${fundFlag(asked)} ${strategyFlag(asked)} ${statusFlag(asked)} --hours ${hoursText(asked, receivedHours)}`,
    source: "listWebhookSignals",
    process: "oms",
  },
  signal: {
    read: (client, { of = "" }, call) => client.getWebhookSignal({ signalId: of }, call),
    everyMs: fast,
    topics: ["oms.signals", "oms.orders"],
    actions: ["signal.", "order."],
    command: ({ of, show }) => shell`ctl signals show ${of ?? show ?? ""}`,
    source: "getWebhookSignal",
    process: "oms",
  },
  ours: {
    read: readOurs,
    everyMs: slow,
    topics: [],
    actions: [],
    // The list is of one strategy.
    command: (asked) =>
      asked.strategy === undefined
        ? shell`ctl research strategies list ${fundFlag(asked)}`
        : shell`ctl research signals list ${asked.strategy}`,
    source: "listSignals",
    process: "research",
  },
  sender: {
    read: (client, _asked, call) => client.getWebhookStatus({}, call),
    everyMs: slow,
    topics: [],
    actions: [],
    command: () => "ctl doctor",
    source: "getWebhookStatus",
    process: "gateway",
  },
  template: {
    read: (client, asked, call) => client.listStrategies(ofFund(asked), call),
    everyMs: 60_000,
    topics: ["research.strategy"],
    actions: ["strategy."],
    command: (asked) => shell`ctl signals template ${fundFlag(asked)} ${strategyFlag(asked)}`,
    source: "listStrategies",
    process: "research",
  },
  // Order management judges the alert; which funds have a secret to begin with is asked for here.
  dryRun: {
    read: (client, _asked, call) => client.getWebhookStatus({}, call),
    everyMs: 60_000,
    topics: [],
    actions: [],
    command: () => "ctl signals test --file alert",
    source: "testSignal",
    process: "oms",
  },
  matrix: {
    read: readMatrices,
    everyMs: fast,
    topics: ["oms.fills"],
    actions: ["fill."],
    command: (asked) => shell`ctl research matrix ${fundFlag(asked)} --days ${String(correlationDays(asked))}`,
    source: "getMatrix",
    process: "research",
  },
};
