// What /replay shows, each of the moment that its question names. Nothing here is read again by itself: the past does not change.

import type { AnswerOf } from "../../client/src/types.ts";
import { shell } from "../../words/shell.ts";
import { intervalOf } from "../replay/intervals.ts";
import { newestEvents, type PastEvents } from "../replay/past-events.ts";
import type { Asked, ListPlace } from "./list-place.ts";

interface ReplayLists {
  readonly timeline: ListPlace<PastEvents>;
  readonly moment: ListPlace<AnswerOf<"getMoment">>;
  readonly bars: ListPlace<AnswerOf<"listReplayBars">>;
  readonly verify: ListPlace<AnswerOf<"verifyDecisions">>;
}

const barsMax = 500;
const differencesMax = 100;

/** The gateway gives up after 20 s, and after 28 s with a piece of a verification. */
const pastTimeoutMs = 22_000;
const verifyTimeoutMs = 30_000;

/** A flag of ctl takes a moment; "7d" back from now is none. */
const flag = (name: string, text: string | undefined): readonly string[] =>
  text === undefined || /^\d+[hd]$/.test(text) ? [] : [`--${name}`, text];
const ofAt = ({ at }: Asked): { readonly at?: string } => (at === undefined ? {} : { at });

const never = { everyMs: 0, topics: [], process: "operations" } as const;

export const replayLists: ReplayLists = {
  timeline: {
    ...never,
    read: (client, { fund = "", from = "", at = "" }, call) =>
      newestEvents(client, { fundId: fund, from, to: at }, { ...call, timeoutMs: pastTimeoutMs }),
    actions: [],
    command: ({ fund = "", from, at }) =>
      shell`ctl replay timeline --fund-id ${fund} ${flag("from", from)} ${flag("to", at)}`,
    source: "listTimeline",
  },
  moment: {
    ...never,
    read: (client, asked, call) =>
      client.getMoment({ fundId: asked.fund ?? "", ...ofAt(asked) }, { ...call, timeoutMs: pastTimeoutMs }),
    actions: [],
    command: ({ fund = "", at }) => shell`ctl replay moment --fund-id ${fund} ${flag("at", at)}`,
    source: "getMoment",
  },
  bars: {
    ...never,
    read: (client, { symbol = "", interval, ...asked }, call) =>
      client.listReplayBars(
        { symbol, interval: intervalOf(interval), ...ofAt(asked), countMax: barsMax },
        { ...call, timeoutMs: pastTimeoutMs },
      ),
    actions: [],
    command: ({ symbol = "", interval, at }) =>
      shell`ctl replay bars ${symbol} ${flag("at", at)} --interval ${intervalOf(interval)}`,
    source: "listReplayBars",
  },
  verify: {
    ...never,
    read: (client, { fund = "", from, at }, call) =>
      client.verifyDecisions(
        {
          fundId: fund,
          ...(from === undefined ? {} : { from }),
          ...(at === undefined ? {} : { to: at }),
          countMax: differencesMax,
        },
        { ...call, timeoutMs: verifyTimeoutMs },
      ),
    actions: ["order.decided"],
    command: ({ fund = "", from, at }) =>
      shell`ctl replay verify --fund-id ${fund} ${flag("from", from)} ${flag("to", at)}`,
    source: "verifyDecisions",
  },
};
