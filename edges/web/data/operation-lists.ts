// What /ops shows: processes, alarms, watchdogs, the audit log, books, drills, logs, lag, simulated faults and machines' tokens.
import type { AnswerOf } from "../../client/src/types.ts";
import type { ListPlace } from "./list-place.ts";

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

export const operationLists: OperationLists = {
  services: {
    read: (client, _asked, call) => client.listServices({}, call),
    everyMs: fast,
    topics: ["platform.service"],
    command: () => "ctl platform services list",
    source: "listServices",
  },
  alarms: {
    read: (client, _asked, call) => client.listAlarms({ hours: alarmHours, countMax: 200 }, call),
    everyMs: slow,
    topics: ["operations.alarm"],
    command: () => `ctl operations alarms list --hours ${alarmHours}`,
    source: "listAlarms",
  },
  watchdogs: {
    read: (client, _asked, call) => client.listWatchdogs({}, call),
    everyMs: slow,
    topics: ["operations.watchdog"],
    command: () => "ctl operations watchdog status",
    source: "listWatchdogs",
  },
  audit: {
    read: (client, _asked, call) => client.getAuditStatus({}, call),
    everyMs: fast,
    topics: [],
    command: () => "ctl operations audit status",
    source: "getAuditStatus",
  },
  entries: {
    read: (client, { of = "0" }, call) => client.readAudit({ fromSequence: Number(of), countMax: 100 }, call),
    everyMs: slow,
    topics: [],
    command: () => "ctl operations audit tail",
    source: "readAudit",
  },
  books: {
    read: (client, _asked, call) => client.getBooks({}, call),
    everyMs: slow,
    topics: [],
    command: () => "ctl riskengine books",
    source: "getBooks",
  },
  drills: {
    read: (client, _asked, call) => client.listDrills({ countMax: 20 }, call),
    everyMs: slow,
    topics: ["operations.drill"],
    command: () => "ctl operations drills list",
    source: "listDrills",
  },
  logs: {
    read: (client, { of = "gateway" }, call) => client.readLogs({ service: of, countMax: 200 } as never, call),
    everyMs: slow,
    topics: [],
    command: ({ of = "gateway" }) => `ctl logs ${of}`,
    source: "readLogs",
  },
  lag: {
    read: (client, _asked, call) => client.getMetrics({}, call),
    everyMs: slow,
    topics: [],
    command: () => "curl /metrics",
    source: "getMetrics",
  },
  faults: {
    read: (client, _asked, call) => client.getPaperWeather({}, call),
    everyMs: slow,
    topics: ["oms.paper"],
    command: () => "ctl paper weather show",
    source: "getPaperWeather",
  },
  tokens: {
    read: (client, _asked, call) => client.listServiceTokens({}, call),
    everyMs: 30_000,
    topics: [],
    command: () => "ctl auth tokens list",
    source: "listServiceTokens",
  },
};
