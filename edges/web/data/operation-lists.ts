// What /ops shows: processes, alarms, watchdogs, the audit log, books, drills, logs, lag, simulated faults and machines' tokens.

import type { AnswerOf } from "../../client/src/types.ts";
import { shell } from "../../words/shell.ts";
import { hoursOf, rangeOf } from "../model/range.ts";
import { hoursText, type ListPlace } from "./list-place.ts";

interface OperationLists {
  readonly services: ListPlace<AnswerOf<"listServices">>;
  readonly alarms: ListPlace<AnswerOf<"listAlarms">>;
  readonly watchdogs: ListPlace<AnswerOf<"listWatchdogs">>;
  readonly audit: ListPlace<AnswerOf<"getAuditStatus">>;
  readonly entries: ListPlace<AnswerOf<"readAudit">>;
  readonly books: ListPlace<AnswerOf<"getBooks">>;
  readonly drills: ListPlace<AnswerOf<"listDrills">>;
  readonly logs: ListPlace<AnswerOf<"readLogs">>;
  readonly lag: ListPlace<AnswerOf<"getMetrics">>;
  readonly faults: ListPlace<AnswerOf<"getPaperWeather">>;
  readonly tokens: ListPlace<AnswerOf<"listServiceTokens">>;
}

const fast = 2_000;
const slow = 10_000;
export const alarmHours = 24;
/** Of the audit log: what is shown, and in how much of it a typed word or a range is looked for. */
const newestMax = 100;
const foundMax = 1_000;

export const operationLists: OperationLists = {
  services: {
    read: (client, _asked, call) => client.listServices({}, call),
    everyMs: fast,
    topics: ["platform.service"],
    actions: ["service.", "restart."],
    command: () => "ctl platform services list",
    source: "listServices",
    process: "gateway",
  },
  alarms: {
    read: (client, asked, call, nowMs) =>
      client.listAlarms({ hours: hoursOf(rangeOf(asked, nowMs), nowMs, alarmHours), countMax: 200 }, call),
    everyMs: slow,
    topics: ["operations.alarm"],
    actions: [],
    command: (asked) => shell`ctl operations alarms list --hours ${hoursText(asked, alarmHours)}`,
    source: "listAlarms",
    process: "operations",
  },
  watchdogs: {
    read: (client, _asked, call) => client.listWatchdogs({}, call),
    everyMs: slow,
    topics: ["operations.watchdog"],
    actions: ["watchdog."],
    command: () => "ctl operations watchdog status",
    source: "listWatchdogs",
    process: "operations",
  },
  audit: {
    read: (client, _asked, call) => client.getAuditStatus({}, call),
    everyMs: fast,
    topics: [],
    actions: [],
    command: () => "ctl operations audit status",
    source: "getAuditStatus",
    process: "operations",
  },
  entries: {
    // How long the log is, is asked for with it: the question stays the same while it grows.
    read: async (client, { of }, call) => {
      const countMax = of === "many" ? foundMax : newestMax;
      const { size } = await client.getAuditStatus({}, call);
      return client.readAudit({ fromSequence: Math.max(0, size - countMax), countMax }, call);
    },
    everyMs: 5_000,
    topics: [],
    actions: [],
    command: () => "ctl operations audit tail",
    source: "readAudit",
    process: "operations",
  },
  books: {
    read: (client, _asked, call) => client.getBooks({}, call),
    everyMs: slow,
    topics: [],
    actions: [],
    command: () => "ctl riskengine books",
    source: "getBooks",
    process: "operations",
  },
  drills: {
    read: (client, _asked, call) => client.listDrills({ countMax: 20 }, call),
    everyMs: slow,
    topics: ["operations.drill"],
    actions: ["drill."],
    command: () => "ctl operations drills list",
    source: "listDrills",
    process: "operations",
  },
  logs: {
    read: (client, { of = "gateway" }, call) => client.readLogs({ service: of, countMax: 200 } as never, call),
    everyMs: slow,
    topics: [],
    actions: [],
    command: ({ of = "gateway" }) => shell`ctl logs ${of}`,
    source: "readLogs",
    process: "gateway",
  },
  lag: {
    read: (client, _asked, call) => client.getMetrics({}, call),
    everyMs: slow,
    topics: [],
    actions: [],
    command: () => "curl /metrics",
    source: "getMetrics",
    process: "gateway",
  },
  faults: {
    read: (client, _asked, call) => client.getPaperWeather({}, call),
    everyMs: slow,
    topics: ["oms.paper"],
    actions: ["paper.weather"],
    command: () => "ctl paper weather show",
    source: "getPaperWeather",
    process: "oms",
  },
  tokens: {
    read: (client, _asked, call) => client.listServiceTokens({}, call),
    everyMs: 30_000,
    topics: [],
    actions: ["token."],
    command: () => "ctl auth tokens list",
    source: "listServiceTokens",
    process: "gateway",
  },
};
