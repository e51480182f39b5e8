// Everything that halts live in, on the memory store and in virtual time: the halt manager and the halt side of a risk engine as two processes that can be
// killed and started again, people with second factors, a chat that may be down, and network links between them that lose questions and answers.

import { mayPublish } from "../contracts/src/authority.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { HaltsConfirmed } from "../contracts/src/generated/svc/v1/halt.ts";
import { plusMilliseconds } from "../contracts/src/instant.ts";
import type { BelievedApproval } from "../contracts/src/records/books.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Engine } from "../core/engine/engine.ts";
import type { Identity } from "../ports/identity.ts";
import type { HaltsConfirmer, RiskBooks } from "../ports/peers.ts";
import type { RiskStore } from "../ports/risk-store.ts";
import type { RpcCall, UnaryHandler } from "../ports/rpc.ts";
import { type HaltPorts, startHalts } from "../services/operations/halts/halts.ts";
import { createWorkerAlarms } from "../services/operations/worker-alarms.ts";
import { watchHalts } from "../services/riskengine/halt-watch.ts";
import { createHalts } from "../services/riskengine/halts.ts";
import { createInFlightCalls } from "../services/riskengine/in-flight-calls.ts";
import { createAttempts } from "../services/shared/attempts.ts";
import { openFundDirectory } from "../services/shared/fund-directory.ts";
import { takeLease } from "../services/shared/lease.ts";
import type { Lease } from "../services/shared/service.ts";
import type { MemoryFaults } from "./memory/faults.ts";
import { memoryCode } from "./memory/one-time-codes.ts";
import { quietLog } from "./quiet-log.ts";
import { incarnation } from "./virtual/incarnation.ts";
import { openMemoryPlatform, testSettings } from "./virtual/memory-platform.ts";

export const person = (name: string, roles: readonly string[] = ["operator"], subject = name): Identity =>
  ({ kind: "operator", actor: `operator:${name}`, name, subject, roles }) as unknown as Identity;
export const machine = {
  kind: "service",
  actor: "service:oms",
  name: "oms",
  subject: "oms",
  roles: ["service"],
} as unknown as Identity;

const confirmMsMax = 6_000;

export type HaltService = "operations" | "riskengine";

export interface HaltFixtureOptions {
  readonly seed: number;
  readonly faults?: Partial<MemoryFaults>;
  /** Whether a question from the manager to the engine gets lost, or its answer. */
  readonly loses?: () => boolean;
  /** How long the manager waits for a question that got lost; nothing when absent. */
  readonly lostMs?: number;
  /** How long the answer to a question about the halts takes. */
  readonly readDelayMs?: () => number;
}

/** What the engine believes, as its checks would. */
interface Believed {
  readonly known: boolean;
  readonly epoch: number;
  readonly active: readonly ActiveHalt[];
}

type Handlers = Readonly<Record<string, UnaryHandler>>;

/** What a service is when it has started, and what it does once it holds its lease. */
interface Started {
  readonly handlers: Handlers;
  leased(lease: Pick<Lease, "heldSince">): Promise<void>;
}

interface Life {
  readonly handlers: Handlers;
  readonly setReachable: (reachable: boolean) => void;
  end(): void;
}

function confirmerOver(ask: (method: string, message: object) => Promise<unknown>): HaltsConfirmer {
  return {
    announce: async (halt) => void (await ask("AnnounceHalt", halt)),
    confirm: async (epoch, settled = []) =>
      (await ask("ConfirmHalts", { epoch, settled_halt_ids: settled })) as HaltsConfirmed,
  };
}

export type HaltFixture = Awaited<ReturnType<typeof haltFixture>>;

export async function haltFixture(options: HaltFixtureOptions) {
  const platform = openMemoryPlatform(options);
  const { time, tables, fates, codes, finish } = platform;
  const { clock, timers } = time;
  const chat = { isDown: false, sent: [] as string[] };
  /** What the risk engine says it holds room for, and whether it answers. */
  const reserved = { isSilent: false, approvals: [] as BelievedApproval[] };
  const riskBooks: RiskBooks = {
    lines: async () => [],
    heldSymbols: async () => [],
    grossExposure: async () => undefined,
    async approvals() {
      if (reserved.isSilent) throw new Fault("SERVICE_UNAVAILABLE", "riskengine does not answer.", { retry: "later" });
      return reserved.approvals;
    },
  };
  const lives = new Map<HaltService, Life>();
  const deaths: string[] = [];
  let believed: Believed | undefined;
  let freshen: (() => void) | undefined;
  let starts = 0;

  const toolsOf = (name: HaltService | "oms") => {
    const { process, clock, timers, random, store, bus, riskStore, referenceData, oneTimeCodes } = platform.processOf(
      name,
      (subject) => mayPublish(name, subject),
    );
    const haltsConfirmer = confirmerOver(askEngine);
    const talk = {
      name: "chat",
      async send({ key }: { readonly key: string }) {
        if (chat.isDown) throw new Fault("CHAT_UNAVAILABLE", "nobody is there", { retry: "later" });
        chat.sent.push(key);
      },
      close: async () => undefined,
    };
    const own = { clock, timers, random, store, bus, referenceData, oneTimeCodes };
    return { process, ports: { ...own, riskStore: slowly(riskStore), haltsConfirmer, riskBooks, chat: talk } };
  };

  /** What was true when it was asked is answered a while later. */
  function slowly(store: RiskStore): RiskStore {
    const later = async <Value>(answer: Value): Promise<Value> => {
      const ms = options.readDelayMs?.() ?? 0;
      if (ms > 0) await timers.sleep(ms);
      return answer;
    };
    return {
      ...store,
      halts: async () => later(await store.halts()),
      haltEpoch: async () => later(await store.haltEpoch()),
    };
  }

  /** Asks the engine as the manager does. Whoever dies answers nobody, and whoever asked has waited long enough after a while, as over gRPC. */
  async function askEngine(method: string, message: object): Promise<unknown> {
    const lost = (): Fault => new Fault("SERVICE_UNAVAILABLE", "lost on its way", { retry: "later" });
    if (options.loses?.() === true) {
      if (options.lostMs !== undefined) await timers.sleep(options.lostMs);
      throw lost();
    }
    const waiting = new AbortController();
    const answer = await Promise.race([
      call("riskengine", method, message, machine),
      timers.sleep(confirmMsMax, waiting.signal),
    ]).finally(() => waiting.abort());
    if (answer === undefined || options.loses?.() === true) throw lost();
    return answer;
  }

  async function start(service: HaltService): Promise<void> {
    starts += 1;
    const { process, ports } = toolsOf(service);
    const life = incarnation(`${service} ${starts}`, ports, (defect) => {
      process.kill();
      lives.delete(service);
      if (service === "riskengine") believed = undefined;
      if (defect !== undefined) deaths.push(`${service}: ${defect.message}`);
    });
    const all = { ...life.ports, log: quietLog, settings: testSettings };
    try {
      const { handlers, leased } = service === "riskengine" ? await startEngine(all) : await startManager(all);
      await leased(await takeLease(service, { host: "fixture", pid: starts }, all));
      if (life.isAlive()) lives.set(service, { handlers, setReachable: process.setReachable, end: life.end });
    } catch (thrown) {
      // A process that does not come up ends; half of it must not live on beside the next.
      life.end();
      throw thrown;
    }
  }

  async function startManager(ports: HaltPorts): Promise<Started> {
    return { handlers: (await startHalts(ports, createWorkerAlarms(ports))).handlers, leased: async () => undefined };
  }

  /** The engine's halt side around a core that only remembers what it was told. */
  async function startEngine(ports: HaltPorts & Parameters<typeof watchHalts>[0]): Promise<Started> {
    const own = starts;
    const core = {
      setHalts: (halts: Believed) => {
        believed = halts;
      },
    } as unknown as Engine;
    const watch = await watchHalts(
      ports,
      core,
      () => undefined,
      () => undefined,
    );
    freshen = () => watch.freshen(clock.now());
    const halts = createHalts({
      ports,
      watch,
      inFlight: createInFlightCalls(),
      attempts: createAttempts(ports, "risk"),
      reference: await openFundDirectory(ports),
      incarnation: `engine ${own}`,
    });
    const handlers = {
      RequestHalt: halts.requestHalt,
      ResumeHalt: halts.resumeHalt,
      AnnounceHalt: halts.announceHalt,
      ConfirmHalts: halts.confirmHalts,
    } satisfies Handlers;
    return { handlers, leased: watch.leased };
  }

  async function call(service: HaltService, method: string, message: object, identity: Identity): Promise<unknown> {
    const handler = lives.get(service)?.handlers[method];
    if (handler === undefined) throw new Fault("SERVICE_UNAVAILABLE", `${service} is not there`, { retry: "later" });
    const signal = new AbortController().signal;
    const rpcCall: RpcCall = { requestId: "r", identity, signal, isGone: () => false, requestBytes: new Uint8Array() };
    return handler(message as never, rpcCall);
  }

  const outside = toolsOf("oms").ports;
  await finish(platform.putReference(outside.store));

  return {
    time,
    tables,
    fates,
    chat,
    reserved,
    codes,
    deaths,
    outside,
    finish,
    start: (service: HaltService) => finish(start(service)),
    startSoon: start,
    isUp: (service: HaltService) => lives.has(service),
    cutOff: (service: HaltService) => lives.get(service)?.setReachable(false),
    comeBack: (service: HaltService) => lives.get(service)?.setReachable(true),
    kill: (service: HaltService) => lives.get(service)?.end(),
    call,
    ask: (service: HaltService, method: string, message: object, identity: Identity) =>
      finish(call(service, method, message, identity)),
    pass: platform.pass,
    /** As the person's device shows it now, or would show it then: the next one is taken already. */
    codeOf: (subject: string, aheadMs = 0) => memoryCode(subject, plusMilliseconds(clock.now(), aheadMs)),
    /** What a check of the engine would see now; undefined while it is not there. */
    believed(): Believed | undefined {
      if (!lives.has("riskengine")) return undefined;
      freshen?.();
      return believed;
    },
    published: platform.published,
    attempts: () => platform.published(subjects.operatorAttempted) as unknown as Record<string, unknown>[],
  };
}
