// A whole platform's ports in virtual time over the memory store, for tests of services: each service is a process of its own, and the
// world stays when one is started again.

import { memoryBus } from "../../adapters/memory/bus.ts";
import { memoryReferenceData } from "../../adapters/memory/reference-data.ts";
import { memoryRiskStore } from "../../adapters/memory/risk-store.ts";
import { memoryStore } from "../../adapters/memory/store.ts";
import { type MemoryTables, memoryTables } from "../../adapters/memory/tables.ts";
import { paperMarket } from "../../adapters/paper-market/paper-market.ts";
import { paperMarketHistory } from "../../adapters/paper-market/paper-market-history.ts";
import { systemCipher } from "../../adapters/system/cipher.ts";
import { systemBlake3, systemSha256 } from "../../adapters/system/hashing.ts";
import { systemSha256OfBytes, systemSigning } from "../../adapters/system/signing.ts";
import { mayPublish } from "../../contracts/src/authority.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjectByName } from "../../contracts/src/subjects.ts";
import type { Settings } from "../../ports/settings.ts";
import { paperListings } from "../../services/shared/paper-seeds.ts";
import type { ServiceName, ServicePorts } from "../../services/shared/service.ts";
import { unauditedInPlatform } from "../audited-changes.ts";
import { quietLog } from "../global-setup.ts";
import { noMetrics, noTracer } from "../postgres-fixture.ts";
import { type Scheduler, scheduler } from "./scheduler.ts";

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
    snapshotEveryEntries: 50_000,
  },
  market: { seed: 1, quoteEveryMs: 500 },
  research: { decideEveryMs: 15_000 },
  seedPaperPlatform: true,
  seedPaperHistory: false,
};

export interface ServiceFixture {
  readonly tables: MemoryTables;
  readonly time: Scheduler;
  /** New ports for one start of a service. */
  portsOf(service: ServiceName, differs?: Partial<ServicePorts>): ServicePorts;
  /** The payloads of one subject so far, in commit order. */
  reported<Payload>(subject: Subject<Payload>): readonly Payload[];
  close(): Promise<void>;
}

export function serviceFixture(seed: number): ServiceFixture {
  const time = scheduler({ seed });
  const tables = memoryTables();
  const stop = time.pump();
  const { clock, timers } = time;
  const beganAt = clock.now();
  return {
    tables,
    time,
    portsOf(service, differs = {}) {
      const process = tables.process(service);
      const random = time.prng.fork(service);
      const base = { process, clock, timers, random };
      const allowed = (subject: string) => mayPublish(service, subject);
      const settings = differs.settings ?? testSettings;
      return {
        clock,
        timers,
        random,
        crash: {
          die: (defect) => {
            throw defect;
          },
        },
        log: quietLog,
        metrics: noMetrics,
        tracer: noTracer,
        store: memoryStore({ ...base, mayPublish: allowed, unauditedChange: unauditedInPlatform }),
        bus: memoryBus({ ...base, subjectByName, mayPublish: allowed }),
        secrets: notHere("secrets"),
        sha256: systemSha256,
        blake3: systemBlake3,
        stopwatch: () => 0,
        riskStore: memoryRiskStore({ process, timers }),
        riskQueries: notHere("queries"),
        treasuryQueries: notHere("queries"),
        booksQueries: undefined,
        databaseCare: undefined,
        watchdogFile: undefined,
        upstreams: [],
        riskBooks: {
          lines: async () => [],
          approvals: async () => [],
          heldSymbols: async () => [],
          grossExposure: async () => undefined,
        },
        brokers: [],
        omsQueries: notHere("queries about orders"),
        riskChecks: notHere("risk engine to ask"),
        orderManagement: notHere("order management to ask"),
        haltsConfirmer: notHere("risk engine to ask"),
        withdrawals: { reserve: async () => ({ answer: undefined }) },
        referenceData: memoryReferenceData(process),
        auditLog: notHere("audit log"),
        signing: systemSigning(),
        sha256OfBytes: systemSha256OfBytes,
        subjectKeys: notHere("subject keys"),
        cipher: systemCipher,
        witnesses: undefined,
        anchors: [],
        stepUps: { redeem: async () => undefined },
        oneTimeCodes: notHere("second factors"),
        quotes: paperMarket({ clock, timers, ...settings.market, listings: paperListings, beganAt }),
        marketHistory: paperMarketHistory({ clock, timers, ...settings.market, listings: paperListings, beganAt }),
        languageModel: undefined,
        chat: { name: "nobody", send: async () => undefined, close: async () => undefined },
        settings,
        ...differs,
      };
    },
    reported: (subject) =>
      tables.log
        .filter((entry) => entry.subject === subject.name)
        .map(({ bytes }) => subject.schema.parse(JSON.parse(new TextDecoder().decode(bytes)))),
    close: stop,
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
