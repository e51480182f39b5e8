// ReportRegulatoryEvent: an event becomes a row, an entry and a line, once; and not a byte where nothing is enabled.
import { afterEach, describe, expect, it } from "vitest";
import type {
  RegulatoryReceipt,
  RegulatorySubmission,
  RegulatoryEvent as Wire,
} from "../../../contracts/src/generated/svc/v1/operations.ts";
import { parse } from "../../../contracts/src/instant.ts";
import type { CatSettings } from "../../../contracts/src/records/filing.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { AskedOrder } from "../../../ports/risk-store.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import { memoryFilingFiles } from "../../../testkit/memory/filing-files.ts";
import { openMemoryPlatform, testSettings } from "../../../testkit/virtual/memory-platform.ts";
import { startFilings } from "./filings.ts";

const cat: CatSettings = {
  imid: "ABCD",
  crd: "123",
  fdid: "FUND1",
  accountHolderType: "A",
  deptType: "A",
  destinations: { paper: { type: "F", id: "456:EFGH" } },
};
const startAt = parse("2026-11-13T15:00:00.000000Z");
const eventsFile = "cat/alpha/2026-11-13/events.ndjson";
const asideFile = "cat/alpha/2026-11-13/quarantine.ndjson";

const order = {
  idempotency_key: "",
  strategy_id: "",
  actor: "",
  order_id: "o-1",
  fund_id: "alpha",
  symbol: "AAPL",
  side: "BUY",
  quantity: "500",
  order_type: "LIMIT",
  limit_price: "190.25",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
};

interface Said {
  readonly type?: string;
  readonly order?: object;
  readonly details?: object;
  readonly source?: string;
}

async function begin(enabled: readonly string[] = ["alpha"]) {
  const platform = openMemoryPlatform({ seed: 48, startAt });
  const files = memoryFilingFiles();
  const asked: AskedOrder[] = [];
  const funds = Object.fromEntries(enabled.map((fundId) => [fundId, { cat }]));
  const ports = platform.portsOf("operations", {
    settings: { ...testSettings, filings: { funds } },
    filingFiles: files,
  });
  await platform.finish(platform.putReference(platform.processOf("treasury").store));
  const askers = async (ids: readonly string[]) => asked.filter(({ orderId }) => ids.includes(orderId));
  const start = () => platform.finish(startFilings({ ...ports, riskStore: { ...ports.riskStore, askers } }));
  const running = await start();
  const report = (said: Said = {}): Promise<RegulatoryReceipt | DeniedAnswer> => {
    const wire: Wire = {
      event_type: said.type ?? "new_order",
      order: { ...order, ...said.order },
      venue: "",
      actor: "desk",
      details: { event_id: "e-1", ...said.details },
    };
    const name = said.source ?? "my-oms";
    const call = { identity: { kind: "service", name, actor: `service:${name}` } } as RpcCall;
    const handler = running.handlers["ReportRegulatoryEvent"];
    return platform.finish(handler?.(wire as never, call) as Promise<RegulatoryReceipt | DeniedAnswer>);
  };
  const submitted = async (said?: Said): Promise<RegulatorySubmission> => {
    const answer = await report(said);
    if ("denial" in answer) throw new Error(answer.denial.code);
    const [only] = answer.submissions;
    if (only === undefined) throw new Error("nothing was submitted");
    return only;
  };
  const denied = async (said: Said): Promise<string> => {
    const answer = await report(said);
    return "denial" in answer ? answer.denial.code : "taken";
  };
  return { platform, files, asked, start, running, report, submitted, denied };
}

let open: Awaited<ReturnType<typeof begin>> | undefined;
async function opened(enabled?: readonly string[]) {
  open = await begin(enabled);
  return open;
}
afterEach(async () => {
  await open?.platform.finish(open.running.stop());
  await open?.platform.close();
  open = undefined;
});

describe("an event of a fund that is enabled", () => {
  it("is a line, a row and an entry, and the answer names them", async () => {
    const { submitted, files, platform } = await opened();
    expect(await submitted()).toEqual({
      regime: "CAT",
      submission_date: "2026-11-13",
      line: 0,
      status: "WRITTEN",
      record_id: "cat.alpha.2026-11-13.000000000",
      filing_id: "cat.alpha.2026-11-13.000001",
      deadline: "2026-11-16T13:00:00.000000Z",
      late: false,
      code: "",
      reason: "",
    });
    const routed = await submitted({ type: "order_routed", details: { event_id: "e-2" } });
    expect(routed).toMatchObject({ line: 1, status: "WRITTEN" });
    const lines = (files.contents.get(eventsFile) ?? "").split("\n");
    expect(lines.map((line) => (line === "" ? "" : (JSON.parse(line) as { type: string }).type))).toEqual([
      "MENO",
      "MEOR",
      "",
    ]);
    const told = platform.reported(subjects.filingRecorded);
    expect(told.map(({ type, line, status, source }) => [type, line, status, source])).toEqual([
      ["MENO", 0, "WRITTEN", "my-oms"],
      ["MEOR", 1, "WRITTEN", "my-oms"],
    ]);
    expect([...files.contents.keys()]).toEqual([eventsFile]);
  });

  it("is one event when it comes again, and another under its name is refused", async () => {
    const { submitted, denied, files, platform } = await opened();
    const first = await submitted();
    platform.pass(60_000);
    expect(await submitted()).toEqual(first);
    expect(await denied({ order: { quantity: "501" } })).toBe("FILING_EVENT_CHANGED");
    expect(await denied({ details: { trading_session: "ALL" } })).toBe("FILING_EVENT_CHANGED");
    expect(files.contents.get(eventsFile)?.split("\n")).toHaveLength(2);
    expect(platform.reported(subjects.filingRecorded)).toHaveLength(1);
  });

  it("without a name is the same when it says the same", async () => {
    const { submitted } = await opened();
    const unnamed = { details: { event_id: undefined } };
    const first = await submitted(unnamed);
    expect(await submitted(unnamed)).toEqual(first);
  });

  it("is late after its deadline", async () => {
    const { submitted } = await opened();
    const details = { event_timestamp: "2026-11-12T20:00:00.000000Z" };
    expect(await submitted({ details })).toMatchObject({ submission_date: "2026-11-12", late: true });
  });

  it("that CAT would refuse is put aside, with its alarm, and nothing of it is in the file", async () => {
    const { submitted, files, platform } = await opened();
    const aside = await submitted({ type: "order_cancelled" });
    expect(aside).toMatchObject({ status: "QUARANTINED", line: 0, code: "FILING_ORDER_UNKNOWN" });
    expect(aside.record_id).toBe("cat.alpha.2026-11-13.q000000000");
    expect([...files.contents.keys()]).toEqual([asideFile]);
    expect(JSON.parse(files.contents.get(asideFile) ?? "")).toMatchObject({
      record_id: aside.record_id,
      errors: [{ code: "FILING_ORDER_UNKNOWN", field: "orderID" }],
      order: { order_id: "o-1" },
    });
    // Its order may still come.
    expect(platform.reported(subjects.alarmRaised)).toEqual([]);
    await platform.pass(120_000);
    const alarms = platform.reported(subjects.alarmRaised).map(({ code, facts }) => [code, facts?.["records"]]);
    expect(alarms).toEqual([["FILING_QUARANTINED", 1]]);
  });

  it("that is not reportable leaves nothing", async () => {
    const { submitted, files, platform } = await opened();
    const details = { fill_id: "f-1", quantity: "1", price: "2" };
    expect(await submitted({ type: "fill", details })).toMatchObject({
      status: "NOT_REPORTABLE",
      record_id: "",
      code: "FILING_NOT_REPORTABLE",
    });
    expect([files.contents.size, platform.tables.filings.size]).toEqual([0, 0]);
  });
});

describe("an order", () => {
  it("that the platform was asked about is its asker's to report on", async () => {
    const { submitted, denied, asked } = await opened();
    asked.push({ orderId: "o-1", askedBy: "service:desk", at: startAt });
    expect(await denied({})).toBe("ORDER_NOT_YOURS");
    expect(await submitted({ source: "desk" })).toMatchObject({ status: "WRITTEN" });
  });

  it("that nobody asked about is the source's that first reported on it, also when that was put aside", async () => {
    const { submitted, denied } = await opened();
    await submitted({ type: "order_routed" });
    expect(await denied({ source: "desk" })).toBe("ORDER_NOT_YOURS");
    expect(await submitted({ details: { event_id: "e-2" } })).toMatchObject({ status: "WRITTEN" });
  });
});

describe("what cannot be understood", () => {
  it.each<[string, Said]>([
    ["event_type", { type: "order_eaten" }],
    ["order.symbol", { order: { symbol: "aapl" } }],
    ["order.order_id", { order: { order_id: "" } }],
    ["details.colour", { details: { colour: "red" } }],
    ["details.event_timestamp", { details: { event_timestamp: "2026-11-13T15:00:00.000001Z" } }],
    ["details.parent_order_id", { type: "child_order" }],
    ["details.sender_imid", { type: "order_received" }],
    ["details.fill_id", { type: "fill" }],
    ["strange", { order: { fund_id: "strange" } }],
  ])("is refused and names %s", async (named, said) => {
    const { report, platform } = await opened();
    const refused = report(said);
    await expect(refused).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(refused).rejects.toThrow(named.split(".").at(-1) ?? "");
    expect(platform.tables.filings.size).toBe(0);
  });
});

describe("files", () => {
  it("of a fund that is not enabled are never made, and nothing else is", async () => {
    const { report, files, platform, submitted } = await opened(["beta"]);
    expect(await report()).toEqual({ submissions: [] });
    expect([files.contents.size, platform.tables.filings.size]).toEqual([0, 0]);
    expect(platform.reported(subjects.filingRecorded)).toEqual([]);
    await submitted({ order: { fund_id: "beta" } });
    expect([...files.contents.keys()]).toEqual(["cat/beta/2026-11-13/events.ndjson"]);
  });

  it("that cannot be written keep the answer back and catch up; the record is made once", async () => {
    const { report, submitted, files, platform } = await opened();
    files.isFull = true;
    await expect(report()).rejects.toMatchObject({ code: "FILING_NOT_IN_FILE" });
    await expect(report()).rejects.toMatchObject({ code: "FILING_NOT_IN_FILE" });
    expect(platform.reported(subjects.alarmRaised).map(({ code }) => code)).toEqual(["FILING_FILE_BEHIND"]);
    files.isFull = false;
    await platform.pass(31_000);
    expect(files.contents.get(eventsFile)?.split("\n")).toHaveLength(2);
    expect(await submitted()).toMatchObject({ line: 0, status: "WRITTEN" });
    expect(platform.reported(subjects.filingRecorded)).toHaveLength(1);
  });

  it.each<[string, (whole: string) => string | undefined]>([
    ["torn in a line", (whole) => whole.slice(0, -5)],
    ["without its last line", (whole) => `${whole.split("\n")[0]}\n`],
    ["gone", () => undefined],
  ])("that are %s are made again byte for byte at the start", async (_name, damage) => {
    const { submitted, files, platform, start } = await opened();
    await submitted();
    await submitted({ type: "order_routed", details: { event_id: "e-2" } });
    const whole = files.contents.get(eventsFile) ?? "";
    const damaged = damage(whole);
    if (damaged === undefined) files.contents.delete(eventsFile);
    else files.contents.set(eventsFile, damaged);
    const next = await start();
    await platform.pass(1_000);
    expect(files.contents.get(eventsFile)).toBe(whole);
    await platform.finish(next.stop());
  });

  it.each<[string, (whole: string) => string]>([
    ["one byte differs", (whole) => whole.replace("MENO", "MENX")],
    ["there is more than was recorded", (whole) => `${whole}{}\n`],
  ])("in which %s are told of and not written to", async (_name, change) => {
    const { submitted, files, platform, start } = await opened();
    await submitted();
    const changed = change(files.contents.get(eventsFile) ?? "");
    files.contents.set(eventsFile, changed);
    const next = await start();
    await platform.pass(1_000);
    expect(files.contents.get(eventsFile)).toBe(changed);
    expect(platform.reported(subjects.alarmRaised).map(({ code }) => code)).toEqual(["FILING_FILE_CHANGED"]);
    await platform.finish(next.stop());
  });

  it("that somebody adds to while we run take no further line, and the answer is kept back", async () => {
    const { submitted, report, files } = await opened();
    await submitted();
    const changed = `${files.contents.get(eventsFile) ?? ""}{}\n`;
    files.contents.set(eventsFile, changed);
    const next = report({ type: "order_routed", details: { event_id: "e-2" } });
    await expect(next).rejects.toMatchObject({ code: "FILING_NOT_IN_FILE" });
    expect(files.contents.get(eventsFile)).toBe(changed);
  });
});

describe("what is shown", () => {
  it("are files by day, their lines and their records", async () => {
    const { submitted, running, platform } = await opened();
    const written = await submitted();
    const aside = await submitted({
      type: "order_cancelled",
      order: { order_id: "o-2" },
      details: { event_id: "e-2" },
    });
    const ask = <Answer>(name: string, request: object): Promise<Answer> =>
      platform.finish(running.queries[0]?.handlers[name]?.(request as never, {} as RpcCall) as Promise<Answer>);
    expect(await ask("ListFilings", { count_max: 0 })).toEqual({
      filings: [
        {
          filing_id: "cat.alpha.2026-11-13.000001",
          regime: "CAT",
          fund_id: "alpha",
          mode: "PAPER",
          submission_date: "2026-11-13",
          state: "OPEN",
          records: 1,
          quarantined: 1,
          late: 0,
          deadline: "2026-11-16T13:00:00.000000Z",
          repair_by: "2026-11-18T13:00:00.000000Z",
          rejected: 0,
          name: "",
          bytes: 0,
          sha256: "",
        },
      ],
    });
    const asked = { filing_id: written.filing_id, from_line: 0, quarantined: false, count_max: 0 };
    const content = await ask<{ lines: string[] }>("ReadFiling", asked);
    expect(content.lines).toHaveLength(1);
    expect((await ask<{ lines: string[] }>("ReadFiling", { ...asked, quarantined: true })).lines).toHaveLength(1);
    const unknown = { ...asked, filing_id: "cat.alpha.2020-01-01.000001" };
    await expect(ask("ReadFiling", unknown)).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { records } = await ask<{ records: { record_id: string; record: string; errors: unknown[] }[] }>(
      "ListFilingRecords",
      { count_max: 0 },
    );
    expect(records.map(({ record_id }) => record_id)).toEqual([written.record_id, aside.record_id]);
    expect(records[0]?.record).toBe(content.lines[0]);
    expect(records[1]?.errors).toHaveLength(1);
    const one = await ask<{ records: object[] }>("ListFilingRecords", { record_id: aside.record_id, count_max: 0 });
    expect(one.records).toEqual([records[1]]);
  });
});
