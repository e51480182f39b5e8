// The whole platform in one process and in virtual time: every service is a process of the memory store with ports of its own, which can be killed
// at any moment as kill -9 does and is started again by a supervisor after a while. Tables, broker and market stay.

import { z } from "zod";
import { startPaperMatching } from "../adapters/paper-broker/matching.ts";
import { type AskPeer, peersOver } from "../adapters/peers/peers.ts";
import { systemCipher } from "../adapters/system/cipher.ts";
import { systemBlake3, systemSha256 } from "../adapters/system/hashing.ts";
import { systemSha256OfBytes, systemSigning } from "../adapters/system/signing.ts";
import { mayPublish } from "../contracts/src/authority.ts";
import type { Subject } from "../contracts/src/subject.ts";
import { subjectByName } from "../contracts/src/subjects.ts";
import type { StoredAction } from "../ports/corporate-actions.ts";
import type { Identity } from "../ports/identity.ts";
import type { RpcService, UnaryHandler } from "../ports/rpc.ts";
import type { Secrets } from "../ports/secrets.ts";
import type { Settings } from "../ports/settings.ts";
import { services } from "../services/index.ts";
import { takeLease } from "../services/shared/lease.ts";
import { paperListings } from "../services/shared/paper-seeds.ts";
import type { Service, ServiceName, ServicePorts } from "../services/shared/service.ts";
import { unauditedInPlatform } from "../testkit/audited-changes.ts";
import { memoryAuditLog } from "../testkit/memory/audit-log.ts";
import { type AuditTables, auditTables } from "../testkit/memory/audit-tables.ts";
import { memoryBus } from "../testkit/memory/bus.ts";
import { memoryFilingFiles } from "../testkit/memory/filing-files.ts";
import { memoryFilingWork } from "../testkit/memory/filing-work.ts";
import { askInProcess } from "../testkit/memory/in-process-peers.ts";
import { type CodeTables, enrol, memoryOneTimeCodes } from "../testkit/memory/one-time-codes.ts";
import { memoryReferenceData } from "../testkit/memory/reference-data.ts";
import { memoryRiskStore } from "../testkit/memory/risk-store.ts";
import { memoryStore } from "../testkit/memory/store.ts";
import { memorySubjectKeys, type SubjectKeyTables } from "../testkit/memory/subject-keys.ts";
import { type MemoryTables, memoryTables } from "../testkit/memory/tables.ts";
import { plainSecrets } from "../testkit/plain-secrets.ts";
import { type Incarnation, incarnation } from "../testkit/virtual/incarnation.ts";
import type { Scheduler } from "../testkit/virtual/scheduler.ts";
import type { Faults } from "./faults.ts";
import { lossyAsk, lossyBroker, patienceMs } from "./network.ts";
import { type Outside, outside } from "./outside.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { notHere, silentChat, silentLog, silentMetrics, silentTracer } from "./silent-ports.ts";

export interface Platform {
  readonly tables: MemoryTables;
  readonly audit: AuditTables;
  readonly outside: Outside;
  /** Since when entries of the audit log are gone, in the simulation's time; undefined while all are there. */
  readonly damage: { sinceUs: number | undefined };
  /** Why a service ended by itself, each once. */
  readonly defects: string[];
  /** What was answered so far, by operation. */
  readonly answered: ReadonlyMap<string, Answered>;
  crashes(): number;
  running(): readonly ServiceName[];
  start(): void;
  crash(service: ServiceName): void;
  /** Cuts a service off from the store for a while. */
  cutOff(service: ServiceName, forMs: number): void;
  /** Ends it and does not start it again. */
  retire(service: ServiceName): void;
  /** Asks as that person or machine, over the same network links as the services; with a proof of a second factor where one is needed. */
  ask(identity: Identity, stepUpProof?: string): AskPeer;
  /** Ports of somebody outside of every service, who is never killed. */
  bystander(name: string): Pick<ServicePorts, "store" | "riskStore" | "referenceData" | "clock" | "log" | "sha256">;
}

export interface Answered {
  readonly accepted: number;
  readonly refused: number;
}

interface Life {
  readonly incarnation: Incarnation<Readonly<Record<string, object>>>;
  readonly setReachable: (reachable: boolean) => void;
}

export interface PlatformOptions {
  readonly time: Scheduler;
  readonly faults: Faults;
  readonly settings: Settings;
  readonly plantedBug?: PlantedBug | undefined;
  /** Told of every answer that leaves a service. */
  readonly onAnswer?: (service: string, method: string, answer: unknown) => void;
}

export function platform(options: PlatformOptions): Platform {
  const { time, faults, settings, plantedBug } = options;
  const { clock, timers } = time;
  const tables = memoryTables(faults.faults);
  plantedBug?.tables?.(tables, time.prng.fork("plant"));
  const disk = {
    audit: auditTables(),
    secrets: plainSecrets(),
    subjectKeys: new Map() as SubjectKeyTables,
    codes: new Map() as CodeTables,
  };
  for (const name of operatorNames) enrol(disk.codes, operatorIdentity(name).subject);
  let lastFollowed: readonly StoredAction[] = [];
  /** The same list while nothing has changed: the market reckons its terms anew for another one. */
  const followed = (): readonly StoredAction[] => {
    const all = [...tables.corporateActions.values()].filter(({ state }) => state !== "ABORTED");
    all.sort((one, other) => (one.appliedAt ?? Infinity) - (other.appliedAt ?? Infinity));
    const isSame = all.length === lastFollowed.length && all.every((one, index) => one === lastFollowed[index]);
    if (!isSame) lastFollowed = all;
    return lastFollowed;
  };
  const around = outside(time, settings.market, followed, () => tables.paperFaults.current);
  const lives = new Map<ServiceName, Life>();
  const answering = new Map<string, RpcService>();
  const retired = new Set<ServiceName>();
  const defects: string[] = [];
  const answered = new Map<string, Answered>();
  let starts = 0;
  let crashes = 0;
  const signing = systemSigning();

  const ask = (identity: Identity, stepUpProof?: string): AskPeer =>
    lossyAsk(
      askInProcess({ timers, identity, stepUpProof, find: (name) => answering.get(name), answerMsMax: patienceMs }),
      faults,
      timers,
    );

  /** What a kill ends: everything that can have an effect. */
  function mortalPorts(name: ServiceName) {
    const process = tables.process(name);
    const random = time.prng.fork(`${name} ${starts}`);
    const tools = { process, clock, timers, random };
    const allowed = (subject: string): boolean => mayPublish(name, subject);
    const broker = lossyBroker(around.connect(), faults, timers);
    const store = memoryStore({ ...tools, mayPublish: allowed, unauditedChange: unauditedInPlatform });
    // The gateway judges codes, and tells of it.
    const ofGateway = (subject: string): boolean => mayPublish("gateway", subject);
    const judging = memoryStore({ ...tools, mayPublish: ofGateway, unauditedChange: unauditedInPlatform });
    const ports = {
      clock,
      timers,
      random,
      store,
      oneTimeCodes: memoryOneTimeCodes({ codes: disk.codes, clock, store: judging }),
      bus: memoryBus({ ...tools, subjectByName: checkedAlready, mayPublish: allowed }),
      riskStore: memoryRiskStore({ process, timers }),
      referenceData: memoryReferenceData(process),
      auditLog: memoryAuditLog({ process, timers, audit: disk.audit }),
      secrets: disk.secrets as Secrets,
      subjectKeys: memorySubjectKeys(disk.subjectKeys),
      quotes: around.quotes,
      marketHistory: around.history,
      ...peersOver(ask(serviceIdentity(name))),
      broker,
    };
    return { process, broker, ports: plantedBug?.ports?.(name, ports) ?? ports };
  }

  /** It may have been retired while it was down. */
  function restart(service: Service): void {
    if (!retired.has(service.name)) begin(service);
  }

  function begin(service: Service): void {
    starts += 1;
    const { process, broker, ports } = mortalPorts(service.name);
    const life = incarnation(`${service.name} ${starts}`, ports, (defect) => {
      process.kill();
      void broker.close();
      lives.delete(service.name);
      for (const [name, one] of answering) if (own.has(one)) answering.delete(name);
      if (defect !== undefined) defects.push(`${service.name}: ${defect.message}`);
      if (!retired.has(service.name)) timers.after(50 + time.prng.below(900), () => restart(service));
    });
    const own = new Set<RpcService>();
    lives.set(service.name, { incarnation: life, setReachable: process.setReachable });
    startLife(service, life.ports).then(
      (rpc) => {
        for (const one of rpc) {
          own.add(one);
          if (life.isAlive()) answering.set(one.name, one);
        }
      },
      (thrown: unknown) => {
        // The store was in trouble, and the supervisor tries again; anything else is a mistake.
        if (!isTrouble(thrown)) defects.push(`${service.name} could not start: ${String(thrown)}`);
        life.end();
      },
    );
  }

  async function startLife(
    service: Service,
    mortal: ReturnType<typeof mortalPorts>["ports"] & Pick<ServicePorts, "crash">,
  ) {
    const { broker, ...ports } = mortal;
    if (service.name === "oms") {
      const symbols = paperListings.map(({ symbol }) => symbol);
      await startPaperMatching({ ...ports, log: silentLog, broker, symbols });
    }
    const all: ServicePorts = {
      ...ports,
      brokers: [broker],
      log: silentLog,
      metrics: silentMetrics,
      tracer: silentTracer,
      sha256: systemSha256,
      blake3: systemBlake3,
      sha256OfBytes: systemSha256OfBytes,
      stopwatch: () => 0,
      diskSpace: undefined,
      unauditedChanges: undefined,
      signing,
      cipher: systemCipher,
      witnesses: undefined,
      anchors: [],
      stepUps: { redeem: async () => undefined },
      languageModel: undefined,
      riskQueries: notHere("queries about risk"),
      omsQueries: notHere("queries about orders"),
      treasuryQueries: notHere("queries about funds"),
      // The job that holds the books against each other reads them all in one moment, which only a database can; here the invariants do it.
      booksQueries: undefined,
      databaseCare: undefined,
      watchdogFile: undefined,
      filingFiles: memoryFilingFiles(),
      filingWork: memoryFilingWork({ files: memoryFilingFiles() }).work,
      upstreams: [],
      chat: silentChat,
      settings,
    };
    const running = await service.start(all);
    const lease = await takeLease(service.name, { host: "sim", pid: starts }, all);
    await running.leased?.(lease);
    // Operations answers for treasury where there is none; here there is one, and the gateway would ask it.
    const answers = running.rpc.filter((one) => one.name !== "Treasury" || service.name === "treasury");
    return answers.map((one) => watched(one));
  }

  function watched(service: RpcService): RpcService {
    const watch =
      (method: string, handle: UnaryHandler): UnaryHandler =>
      async (request, call) => {
        let isRefused = true;
        try {
          const answer = await handle(request, call);
          isRefused = typeof answer === "object" && answer !== null && "denial" in answer;
          options.onAnswer?.(service.name, method, answer);
          return answer;
        } finally {
          const { accepted, refused } = answered.get(method) ?? { accepted: 0, refused: 0 };
          answered.set(method, { accepted: accepted + (isRefused ? 0 : 1), refused: refused + (isRefused ? 1 : 0) });
        }
      };
    const handlers = Object.entries(service.handlers).map(
      ([method, handle]) => [method, watch(method, handle)] as const,
    );
    return { name: service.name, handlers: Object.fromEntries(handlers) };
  }

  return {
    tables,
    audit: disk.audit,
    outside: around,
    damage: { sinceUs: undefined },
    defects,
    answered,
    crashes: () => crashes,
    running: () => [...lives.keys()],
    start() {
      for (const service of services) begin(service);
    },
    crash(name) {
      const life = lives.get(name);
      if (life === undefined) return;
      crashes += 1;
      life.incarnation.end();
    },
    cutOff(name, forMs) {
      const life = lives.get(name);
      life?.setReachable(false);
      timers.after(forMs, () => life?.setReachable(true));
    },
    retire(name) {
      retired.add(name);
      lives.get(name)?.incarnation.end();
    },
    ask,
    bystander(name) {
      const process = tables.process(name);
      const tools = { process, clock, timers, random: time.prng.fork(name) };
      return {
        clock,
        log: silentLog,
        sha256: systemSha256,
        store: memoryStore(tools),
        riskStore: memoryRiskStore({ process, timers }),
        referenceData: memoryReferenceData(process),
      };
    },
  };
}

const checked = new Map<string, Subject<unknown>>();

/** Every payload was checked when it was published, and nobody changes bytes here: checking it again for each who hears it takes half of a run. */
function checkedAlready(name: string): Subject<unknown> | undefined {
  const known = checked.get(name);
  const subject = known ?? subjectByName(name);
  if (known !== undefined || subject === undefined) return known;
  const trusting = { ...subject, schema: z.unknown() } as Subject<unknown>;
  checked.set(name, trusting);
  return trusting;
}

function isTrouble(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "Fault";
}

export function serviceIdentity(name: string): Identity {
  return { ...nobody, kind: "service", actor: `service:${name}`, name, subject: name, roles: [] };
}

/** Those who have a second factor. */
export const operatorNames = ["duty", "relief"] as const;

export function operatorIdentity(name: string): Identity {
  return {
    ...nobody,
    kind: "operator",
    actor: `operator:${name}`,
    name,
    subject: name,
    roles: ["operator", "risk_officer"],
  };
}

const nobody = { issuer: "sim", tokenId: "sim", issuedAt: 0, expiresAt: 0 } as unknown as Identity;
