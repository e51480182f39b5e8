// One platform in memory and virtual time, on which the fixtures of services stand: the store with its faults, time, people with second factors, and the
// ports of any service. Each start of a service is a process of its own; what is durable stays when it is killed.

import { paperMarket } from "../../adapters/paper-market/paper-market.ts";
import { paperMarketHistory } from "../../adapters/paper-market/paper-market-history.ts";
import { systemCipher } from "../../adapters/system/cipher.ts";
import { systemBlake3, systemSha256 } from "../../adapters/system/hashing.ts";
import { systemSha256OfBytes, systemSigning } from "../../adapters/system/signing.ts";
import { mayPublish } from "../../contracts/src/authority.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { ReferenceContents, ReferenceKind } from "../../contracts/src/records/reference.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjectByName } from "../../contracts/src/subjects.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Store } from "../../ports/store.ts";
import { paperListings, paperReference } from "../../services/shared/paper-seeds.ts";
import type { RunningService, Service, ServiceName, ServicePorts } from "../../services/shared/service.ts";
import { unauditedInPlatform } from "../audited-changes.ts";
import { memoryBus } from "../memory/bus.ts";
import { type CommitFate, type MemoryFaults, noFaults } from "../memory/faults.ts";
import { memoryFilingFiles } from "../memory/filing-files.ts";
import { memoryFilingWork } from "../memory/filing-work.ts";
import { type CodeTables, enrol, memoryOneTimeCodes } from "../memory/one-time-codes.ts";
import { memoryReferenceData } from "../memory/reference-data.ts";
import { memoryRiskStore } from "../memory/risk-store.ts";
import { memoryStore } from "../memory/store.ts";
import { type MemoryProcess, memoryTables } from "../memory/tables.ts";
import { noMetrics, noTracer } from "../no-telemetry.ts";
import { quietLog } from "../quiet-log.ts";
import { scheduler } from "./scheduler.ts";

export const testSettings: Settings = {
  stops: { enabled: true, cryptoEveryMs: 5_000, othersEveryMs: 60_000, quoteAgeMsMax: 15_000 },
  drills: { everyHours: 0 },
  reconcile: { enabled: true, everyMs: 120_000, confirmAfterMs: 10_000, alertThreshold: 1, autoCorrect: false },
  audit: {
    signingKeyPath: "secret/portcullis/audit/signing-key",
    verifyEveryMs: 3_600_000,
    verifyFirstAfterMs: 5_000,
    // Most tests run the risk engine without operations, which alone says that the log keeps up.
    behindMaxMs: 10 * 365 * 86_400_000,
  },
  disk: { warnMb: 2_000, newRiskMb: 1_000 },
  risk: {
    markAgeMsMax: 10_000,
    navAgeMsMax: 60_000,
    // A test that values a fund once has as long as decisions have; the product's default is less.
    lossValueAgeMsMax: 60_000,
    fxAgeMsMax: 3_600_000,
    borrowAgeMsMax: 86_400_000,
    approvalValidMs: 5_000,
    undecidedMax: 2_048,
    openOrdersPerFundMax: 10_000,
    haltPollMs: 250,
    haltUnknownMs: 2_000,
    lossConfirmations: 2,
    lossConfirmMs: 5_000,
    valueUnexplainedMax: 0.05,
    priceJumpMax: 0.25,
    snapshotEveryEntries: 50_000,
  },
  market: { seed: 1, quoteEveryMs: 500 },
  research: { decideEveryMs: 15_000 },
  seedPaperPlatform: true,
  seedPaperHistory: false,
};

export interface MemoryPlatformOptions {
  readonly seed: number;
  /** When it begins, where that matters. */
  readonly startAt?: Instant;
  readonly faults?: Partial<MemoryFaults>;
  /** Started with it, one after the other; needs `pumps`. */
  readonly services?: readonly Service[];
  /** Whether time passes by itself while somebody waits; else `finish` and `pass` let it. */
  readonly pumps?: boolean;
}

export type MemoryPlatform = Awaited<ReturnType<typeof memoryPlatform>>;

export async function memoryPlatform(options: MemoryPlatformOptions) {
  const platform = openMemoryPlatform(options);
  for (const service of options.services ?? []) await platform.start(service);
  return platform;
}

/** The same before any service has started. */
export function openMemoryPlatform({ seed, startAt, faults = {}, pumps = false }: MemoryPlatformOptions) {
  const time = scheduler({ seed, ...(startAt !== undefined && { startAt }) });
  const { clock, timers } = time;
  /** Fates of the next commits of that name. */
  const fates = new Map<string, CommitFate[]>();
  const delays = { commitMs: 0, answerMs: 0 };
  const tables = memoryTables({
    ...noFaults,
    commitDelayMs: () => delays.commitMs,
    answerDelayMs: () => delays.answerMs,
    ...faults,
    commit: (name) => fates.get(name)?.shift() ?? faults.commit?.(name) ?? "committed",
  });
  const stop = pumps ? time.pump() : async (): Promise<void> => undefined;
  const beganAt = clock.now();
  const codes: CodeTables = new Map();
  for (const name of ["duty", "relief", "third"]) enrol(codes, name);
  const ofGateway = (subject: string): boolean => mayPublish("gateway", subject);
  const starts = new Map<string, number>();
  const started: RunningService[] = [];

  /** What every process has. `mayPublish` absent: whatever it likes, as tests that play the rest of the platform do. */
  function processOf(name: string, allowed?: (subject: string) => boolean) {
    const count = (starts.get(name) ?? 0) + 1;
    starts.set(name, count);
    const process: MemoryProcess = tables.process(name);
    const random = time.prng.fork(count === 1 ? name : `${name} ${count}`);
    const base = { process, clock, timers, random, ...(allowed !== undefined && { mayPublish: allowed }) };
    const store: Store = memoryStore({ ...base, unauditedChange: unauditedInPlatform });
    // The gateway judges codes, and tells of it.
    const judging = memoryStore({ ...base, mayPublish: ofGateway, unauditedChange: unauditedInPlatform });
    return {
      process,
      clock,
      timers,
      random,
      store,
      log: quietLog,
      metrics: noMetrics,
      tracer: noTracer,
      bus: memoryBus({ ...base, subjectByName }),
      riskStore: memoryRiskStore({ process, timers }),
      referenceData: memoryReferenceData(process),
      oneTimeCodes: memoryOneTimeCodes({ codes, clock, store: judging }),
    };
  }

  /** New ports for one start of a service. */
  function portsOf(
    service: ServiceName,
    differs: Partial<ServicePorts> = {},
    { process: _process, ...own } = processOf(service, (subject) => mayPublish(service, subject)),
  ): ServicePorts {
    const { market, ...settings } = differs.settings ?? testSettings;
    const paper = { clock, timers, ...market, listings: paperListings, beganAt };
    return {
      ...own,
      ...absentPorts(),
      quotes: paperMarket(paper),
      marketHistory: paperMarketHistory(paper),
      settings: { ...settings, market },
      ...differs,
    };
  }

  const published = <Payload>(subject: Subject<Payload>): Payload[] =>
    tables.log
      .filter((event) => event.subject === subject.name)
      .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Payload);

  return {
    time,
    tables,
    fates,
    delays,
    codes,
    processOf,
    portsOf,
    /** Everything that was published under a subject, oldest first. */
    published,
    /** The same, held against the subject's schema. */
    reported: <Payload>(subject: Subject<Payload>): readonly Payload[] =>
      published(subject).map((payload) => subject.schema.parse(payload)),
    async start(service: Service, differs: Partial<ServicePorts> = {}): Promise<RunningService> {
      const running = await service.start(portsOf(service.name, differs));
      started.push(running);
      return running;
    },
    /** Reference data as the paper platform has it. */
    putReference: (store: Store, differs?: DifferentReference) => putPaperReference(store, clock.now(), differs),
    finish: <Value>(promise: Promise<Value>): Promise<Value> => time.finish("the fixture", promise, 1_000_000),
    pass: (ms: number) => time.run({ untilMs: time.elapsedMs() + ms }),
    async close(): Promise<void> {
      for (const running of started.reverse()) await running.stop();
      await stop();
    },
  };
}

/** What a test has otherwise than the paper platform. */
export type DifferentReference = (seeded: ReferenceContents) => ReferenceContents;

async function putPaperReference(
  store: Store,
  setAt: Instant,
  differs: DifferentReference = (seeded) => seeded,
): Promise<void> {
  const reference = differs(paperReference(format(setAt)));
  await store.transact("reference", async (unit) => {
    for (const kind of Object.keys(reference) as ReferenceKind[]) {
      await unit.reference.put({ kind, version: 1, content: reference[kind], setBy: "x", setAt, reason: "", hash: "" });
    }
  });
}

/** What a test brings itself when its services need it. */
function absentPorts() {
  return {
    crash: {
      die: (defect: Error): never => {
        throw defect;
      },
    },
    secrets: notHere<ServicePorts["secrets"]>("secrets"),
    sha256: systemSha256,
    blake3: systemBlake3,
    stopwatch: () => 0,
    diskSpace: undefined,
    unauditedChanges: undefined,
    riskQueries: notHere<ServicePorts["riskQueries"]>("queries"),
    treasuryQueries: notHere<ServicePorts["treasuryQueries"]>("queries"),
    booksQueries: undefined,
    databaseCare: undefined,
    watchdogFile: undefined,
    filingFiles: memoryFilingFiles(),
    filingWork: memoryFilingWork({ files: memoryFilingFiles() }).work,
    upstreams: [],
    riskBooks: {
      lines: async () => [],
      approvals: async () => [],
      heldSymbols: async () => [],
      grossExposure: async () => undefined,
    },
    brokers: [],
    omsQueries: notHere<ServicePorts["omsQueries"]>("queries about orders"),
    riskChecks: notHere<ServicePorts["riskChecks"]>("risk engine to ask"),
    orderManagement: notHere<ServicePorts["orderManagement"]>("order management to ask"),
    haltsConfirmer: notHere<ServicePorts["haltsConfirmer"]>("risk engine to ask"),
    withdrawals: { reserve: async () => ({ answer: undefined }) },
    limitPreviews: { preview: async () => ({ funds: [], more: false, as_of: "" }) },
    auditLog: notHere<ServicePorts["auditLog"]>("audit log"),
    signing: systemSigning(),
    sha256OfBytes: systemSha256OfBytes,
    subjectKeys: notHere<ServicePorts["subjectKeys"]>("subject keys"),
    cipher: systemCipher,
    witnesses: undefined,
    anchors: [],
    stepUps: { redeem: async () => undefined },
    languageModel: undefined,
    chat: { name: "nobody", send: async () => undefined, close: async () => undefined },
  };
}

/** A port that the services under test have no business with. */
function notHere<Port extends object>(name: string): Port {
  return new Proxy({} as Port, {
    get: (_target, property) => () => {
      throw new Error(`the fixture has no ${name}, and ${String(property)} was called`);
    },
  });
}
