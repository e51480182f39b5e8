// Filings of a platform in memory, with a regulator in memory: what a test reports, asks and hears.
import type { Bzip2 } from "../../adapters/filing-transport/bzip2.ts";
import type { RegulatoryReceipt, RegulatorySubmission } from "../../contracts/src/generated/svc/v1/operations.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { CatSettings } from "../../contracts/src/records/filing.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { RegimeSettings } from "../../ports/settings.ts";
import { startFilings } from "../../services/operations/filings/filings.ts";
import { memoryFilingFiles } from "../memory/filing-files.ts";
import { memoryFilingTransport } from "../memory/filing-transport.ts";
import { memoryFilingWork } from "../memory/filing-work.ts";
import { openMemoryPlatform, testSettings } from "./memory-platform.ts";

interface FilingsFixtureOptions {
  readonly startAt: Instant;
  readonly bzip2: Bzip2;
  readonly way?: Partial<RegimeSettings>;
}

interface Said {
  readonly type?: string;
  readonly order?: object;
  readonly details?: object;
}

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
  venue: "XNAS",
  asset_class: "EQUITY",
};

type Changeable = { -readonly [Key in keyof CatSettings]: CatSettings[Key] };

export async function filingsFixture({ startAt, bzip2, way = {} }: FilingsFixtureOptions) {
  const platform = openMemoryPlatform({ seed: 48, startAt });
  const files = memoryFilingFiles();
  const regulator = memoryFilingTransport();
  const work = memoryFilingWork({ files, bzip2, transport: regulator });
  const cat: Changeable = {
    submitterId: "1234",
    imid: "ABCD",
    crd: "123",
    fdid: "FUND1",
    accountHolderType: "A",
    deptType: "A",
    destinations: { XNAS: { type: "E", id: "NSDQ", session: "S1" } },
  };
  const settings: RegimeSettings = {
    environment: "test",
    transport: "folder",
    uploadAt: "05:00",
    hasMetaFile: true,
    ...way,
  };
  const filings = { funds: { alpha: { cat } }, regimes: { CAT: settings } };
  const ports = platform.portsOf("operations", {
    settings: { ...testSettings, filings },
    filingFiles: files,
    filingWork: work.work,
  });
  await platform.finish(platform.putReference(platform.processOf("treasury").store));
  const askers = async () => [];
  const running = await platform.finish(startFilings({ ...ports, riskStore: { ...ports.riskStore, askers } }));
  const signal = new AbortController().signal;
  const duty = { identity: { kind: "operator", name: "duty", actor: "operator:duty" }, signal } as unknown as RpcCall;

  async function answer<Answer>(name: string, request: object): Promise<Answer | DeniedAnswer> {
    const handler = running.queries.find(({ handlers }) => handlers[name] !== undefined)?.handlers[name];
    return platform.finish(handler?.(request as never, duty) as Promise<Answer | DeniedAnswer>);
  }
  async function denial(name: string, request: object): Promise<DeniedAnswer["denial"]> {
    const said = await answer<object>(name, request);
    if (!("denial" in said)) throw new Error(`${name} was not denied`);
    return said.denial;
  }
  return {
    platform,
    files,
    regulator,
    work,
    cat,
    async submitted(said: Said = {}): Promise<RegulatorySubmission> {
      const wire = {
        event_type: said.type ?? "new_order",
        order: { ...order, ...(said.order !== undefined && "broker" in said.order && { venue: "" }), ...said.order },
        venue: "",
        actor: "desk",
        details: { event_id: "e-1", ...said.details },
      };
      const call = { identity: { kind: "service", name: "my-oms", actor: "service:my-oms" } } as RpcCall;
      const handler = running.handlers["ReportRegulatoryEvent"];
      const told = (await platform.finish(
        handler?.(wire as never, call) as Promise<RegulatoryReceipt | DeniedAnswer>,
      )) as RegulatoryReceipt | DeniedAnswer;
      const [only] = "denial" in told ? [] : told.submissions;
      if (only === undefined) throw new Error("nothing was submitted");
      return only;
    },
    async ask<Answer>(name: string, request: object): Promise<Answer> {
      const said = await answer<Answer>(name, request);
      if (typeof said === "object" && said !== null && "denial" in said) throw new Error(said.denial.reason);
      return said as Answer;
    },
    denial,
    denied: async (name: string, request: object) => (await denial(name, request)).code,
    alarms: () =>
      platform
        .reported(subjects.alarmRaised)
        .map(({ code }) => code)
        .filter((code) => code !== "FILING_QUARANTINED"),
    async close(): Promise<void> {
      await platform.finish(running.stop());
      await platform.close();
    },
  };
}
