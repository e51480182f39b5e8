// Every list that can grow is read page by page: held against the OpenAPI document, so that a new list either pages or says why it cannot grow.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, testParts } from "../../testkit/gateway/parts.ts";
import { exampleEnvelope } from "../../testkit/record-examples.ts";
import { forwarded } from "./declared/route.ts";
import { navsList } from "./routes/treasury.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly responses: Readonly<
    Record<
      string,
      { readonly headers?: object; readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
    >
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
const documentOf = (name: string): Document =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../client", name), "utf8")) as Document;

/** Lists that are as long as something that somebody set up, or as one thing that they are about. */
const cannotGrow: Readonly<Record<string, string>> = {
  getLoginConfiguration: "the issuers of the configuration",
  getIdentity: "the caller's roles and operations",
  listIdentityRequests: "at most a hundred may wait for a second admin",
  getFlatten: "the positions and orders of one flatten",
  getForeignPosition: "three kinds of events, and at most 200 gaps in each",
  listHalts: "the halts in force: one a fund and strategy at most, and the firm's",
  getGithubbotBudget: "one for each repository that was served today",
  getGithubbotRun: "the calls of one run, at most 200",
  getGithubbotStatus: "the permissions and events of one App",
  reconcileFilings: "the first thousand of each kind, and how many there are",
  verifyFilings: "the files of one day, and the first thousand findings",
  getHaltStatus: "the halts in force, and what each is at",
  getHealth: "one note a service",
  getWebhookStatus: "the funds, and the addresses of the configuration",
  getWebhookSignal: "the warnings of one alert",
  listQuotes: "the instruments, or the symbols that are named",
  getPaperWeather: "the faults that somebody set",
  getPositions: "one for each strategy and instrument",
  getAuditConsistency: "a proof, as long as the logarithm of the log",
  getAuditStatus: "keys, witnesses and anchors; a log is closed by two people",
  listWatchdogs: "one for each watchdog and what it watches",
  getWatchdogConfig: "the keys of one watchdog, and the funds",
  listServices: "one for each process",
  listStrategies: "the strategies that are set up",
  getBacktest: "the days of one backtest",
  getMatrix: "one for each strategy and instrument of a fund, and the pairs of a hundred symbols at most",
  listBlocks:
    "conditions in force: at most one of a kind for each fund, strategy and symbol, and a thousand fills of a fund to accept",
  getBooks: "one for each comparison of the books",
  getDecisions: "the decisions about one order",
  getEnvelope: "the words that one envelope allows",
  getHeadroom: "the limits of one envelope",
  getLimitUse: "the limits of the envelopes",
  getMoment: "what one fund held and owed at one moment",
  readFiling: "lines of one file, from one on; as many came as were asked for while there are more",
  listReplayBars: "the newest count_max before one moment; an earlier moment has those before",
  listLosses: "the loss limits of the envelopes",
  listUnauditedChanges: "the first hundred: while there is one, nothing else matters",
  listFunds: "the funds",
  listInstruments: "the instruments",
  getReferenceData: "one document, which is set as a whole",
  listReportSchedules: "the schedules of the configuration",
  readLogs: "the newest lines, at most count_max of a bounded file; `since` and `follow` say the rest",
};
/** Pages of their own kind: the next begins at a sequence, which their Link names. */
const bySequence: ReadonlySet<string> = new Set(["getAuditTrail", "readAudit"]);

function listsOf({ paths, components }: Document): readonly Operation[] {
  return Object.values(paths).flatMap(({ get }) => {
    const schema = get?.responses["200"]?.content?.["application/json"]?.schema;
    if (get === undefined || schema === undefined) return [];
    const named = schema.$ref === undefined ? schema : components.schemas[schema.$ref.split("/").at(-1) ?? ""];
    const hasList =
      named?.type === "array" || Object.values(named?.properties ?? {}).some(({ type }) => type === "array");
    return hasList ? [get] : [];
  });
}

function isPaged({ parameters = [], responses, operationId }: Operation): boolean {
  const asked = new Set(parameters.map(({ name }) => name));
  if (bySequence.has(operationId)) return asked.has("count_max") && asked.has("from_sequence");
  const mark = operationId === "listBars" ? "start" : "after";
  return asked.has("count_max") && asked.has(mark) && "Link" in (responses["200"]?.headers ?? {});
}

describe("lists", () => {
  const lists = listsOf(documentOf("openapi.json"));

  it("are read page by page, or cannot grow", () => {
    expect(lists.length).toBeGreaterThan(40);
    const unpaged = lists.filter((one) => !isPaged(one)).map(({ operationId }) => operationId);
    expect(unpaged.filter((id) => cannotGrow[id] === undefined)).toEqual([]);
  });

  it("have no reason that is not needed", () => {
    const unpaged = new Set(lists.filter((one) => !isPaged(one)).map(({ operationId }) => operationId));
    expect(Object.keys(cannotGrow).filter((id) => !unpaged.has(id))).toEqual([]);
  });
});

describe("the next page", () => {
  const signal = (at: string, symbol: string) => ({ strategy_id: "s", symbol, value: 1, at, horizon_s: 60 });

  it("is named with the path as it was asked, and by all members that tell rows apart", async () => {
    const signals = ["AAPL", "MSFT", "SPY"].map((symbol) => signal("2026-11-15T13:30:00.000000Z", symbol));
    const { parts, calls } = testParts({ procedures: { "Research/ListSignals": { signals } } });
    const answer = await ask(forwarded("listSignals", parts), {
      params: { strategy_id: "a/b" },
      query: { count_max: 2 },
    });
    expect(answer.body).toHaveLength(2);
    expect(answer.headers).toEqual({
      link: '</v1/research/strategies/a%2Fb/signals?count_max=2&after=2026-11-15T13%3A30%3A00.000000Z%2FMSFT>; rel="next"',
    });
    expect(calls[0]?.slice(0, 2)).toMatchObject(["Research/ListSignals", { strategy_id: "a/b", count_max: 3 }]);
  });

  it("is named by a number where that tells rows apart, and by nothing after the last", async () => {
    const envelopes = [3, 2].map((version) => ({ ...exampleEnvelope, version, fund_id: "alpha" }));
    const { parts } = testParts({ procedures: { "RiskDesk/ListEnvelopes": { envelopes } } });
    const route = forwarded("listEnvelopes", parts);
    const asked = (count_max: number) => ask(route, { params: { fund_id: "alpha" }, query: { count_max } });
    expect((await asked(1)).headers).toEqual({
      link: '</v1/riskengine/envelopes/alpha/history?count_max=1&after=3>; rel="next"',
    });
    expect((await asked(2)).headers).toBeUndefined();
  });

  it("is named beside the count of all, for what was put aside", async () => {
    const at = "2026-11-15T13:30:00.000000Z";
    const times = { first_tried_at: at, last_tried_at: at, since: at, published_at: at };
    const known = { subscription: "one", subject: "s", state: "PARKED", lane: "", error: "e", attempts: 1 };
    const event = (event_id: string) => ({ ...known, ...times, event_id, published_by: "oms" });
    const { parts, calls } = testParts({
      procedures: { "RiskWorkers/ListParked": { events: [event("a"), event("b")], total: 7 } },
    });
    const answer = await ask(forwarded("listParked", parts), { query: { count_max: 1 } });
    expect(answer.body).toMatchObject({ total: 7, events: [{ event_id: "a" }] });
    expect(answer.headers).toEqual({ link: '</v1/operations/parked?count_max=1&after=one%2Fa>; rel="next"' });
    expect(calls[0]?.[1]).toMatchObject({ count_max: 2 });
  });

  it("has the size that its declaration says when nobody names one", async () => {
    const { parts, calls } = testParts({ procedures: { "RiskEngine/ListApprovals": { approvals: [] } } });
    await ask(forwarded("listApprovals", parts), { query: {} });
    expect(calls[0]?.slice(0, 2)).toMatchObject(["RiskEngine/ListApprovals", { count_max: 5_001 }]);
  });

  it("lies before the first value of a fund, because values are oldest first", async () => {
    const at = (second: number) => `2026-11-15T13:30:0${second}.000000Z`;
    const nav = (second: number) => ({
      fund_id: "alpha",
      nav: String(second),
      cash: "0",
      positions_value: "0",
      net_flows: "0",
      currency: "USD",
      oldest_price_age_ms: 0,
      as_of: at(second),
      prices: [],
    });
    const { parts, calls } = testParts({ procedures: { "Treasury/ListNavs": { navs: [nav(1), nav(2), nav(3)] } } });
    const answer = await ask(navsList(parts), { query: { fund_id: "alpha", count_max: 2 } });
    expect((answer.body as { nav: string }[]).map((one) => one.nav)).toEqual(["2", "3"]);
    expect(answer.headers).toEqual({
      link: '</v1/treasury/navs?fund_id=alpha&count_max=2&after=2026-11-15T13%3A30%3A02.000000Z>; rel="next"',
    });
    expect(calls[0]?.slice(0, 2)).toMatchObject(["Treasury/ListNavs", { count_max: 3 }]);
    const whole = await ask(navsList(parts), { query: { fund_id: "alpha", count_max: 3 } });
    expect([(whole.body as object[]).length, whole.headers]).toEqual([3, undefined]);
  });
});
