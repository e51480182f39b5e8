// Inputs of dependency_watchdog: one poll of everything that the platform needs. A poll that does not answer in time is a timeout, never a pass.
import { messageOf } from "../../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween, parse } from "../../../../contracts/src/instant.ts";
import { platformServices } from "../../../../contracts/src/platform-services.ts";
import type { Quote } from "../../../../contracts/src/records/market.ts";
import type { DependencyInput, PollResult } from "../../../../core/watchdogs/dependency-watchdog.ts";
import type { Upstream } from "../../../../ports/upstream.ts";
import type { ServicePorts } from "../../../shared/service.ts";
import type { Reader } from "../assigned.ts";

type DependencyPorts = Pick<
  ServicePorts,
  "store" | "bus" | "brokers" | "secrets" | "timers" | "clock" | "referenceData" | "chat" | "upstreams"
>;

interface Poll {
  readonly result: PollResult;
  readonly detail: string;
}

type Ask = (signal: AbortSignal) => Promise<Poll>;

export interface DependencyOptions {
  readonly ports: DependencyPorts;
  readonly newest: ReadonlyMap<string, Quote>;
  /** `secret/<prefix>`. */
  readonly folder: string;
  /** Whether messages reach people; undefined while nothing was sent. */
  chatComplaint(): string | undefined;
  /** What the audit log's witnesses did not do with the last checkpoint that they were shown; undefined when none is configured. */
  readonly witnessComplaints: (() => readonly string[]) | undefined;
}

/** Below the shortest period. */
const pollMsMax = 4_000;
const quoteAgeMsMax = 15_000;
const startMsMax = 180_000;
const green: Poll = { result: "green", detail: "" };

export function dependencyReader<Config>(options: DependencyOptions): Reader<DependencyInput, Config> {
  const { ports, witnessComplaints } = options;
  let round = 0;
  const began = ports.clock.now();
  const seen = new Set<string>();

  const polls: Readonly<Record<string, Ask>> = {
    async database() {
      const { reachable, complaint } = await ports.store.health();
      return reachable ? green : red(complaint ?? "The store is out of reach.");
    },
    async bus() {
      const { connected, complaint } = ports.bus.health();
      return connected && complaint === undefined ? green : red(complaint ?? "The bus is not connected.");
    },
    async quotes() {
      const now = ports.clock.now();
      const ages = [...options.newest.values()].map(({ quoted_at: at }) => millisecondsBetween(parse(at), now));
      if (ages.length === 0) return { result: "unknown", detail: "No symbol is quoted." };
      const youngest = Math.min(...ages);
      return youngest <= quoteAgeMsMax ? green : red(`The newest quote is ${Math.round(youngest / 1_000)} s old.`);
    },
    async secrets() {
      await ports.secrets.list(`${options.folder}/watchdogs`);
      return green;
    },
    async chat() {
      const complaint = options.chatComplaint();
      return complaint === undefined ? green : red(complaint);
    },
    ...(witnessComplaints === undefined ? {} : { witness: async () => witnessPoll(witnessComplaints()) }),
    ...Object.fromEntries(ports.upstreams.map((one) => [one.name, (signal: AbortSignal) => upstreamPoll(one, signal)])),
    ...Object.fromEntries(ports.brokers.map((broker) => [`broker ${broker.name}`, () => brokerPoll(broker)])),
  };

  async function brokerPoll(broker: DependencyPorts["brokers"][number]): Promise<Poll> {
    const { funds } = await ports.referenceData.read();
    const [fund] = funds;
    if (fund === undefined) return { result: "unknown", detail: "There is no fund to ask about." };
    await broker.openOrders(fund.fund_id);
    return green;
  }

  /** By leases: a process that does not renew its own is away, whatever it says. */
  async function servicePolls(at: Instant): Promise<ReadonlyMap<string, Poll>> {
    const alive = await ports.store.transact("watchdogs.look", (unit) => unit.instances.alive(at));
    const running = new Set(alive.flatMap(({ service }) => service.split("+")));
    for (const service of running) seen.add(service);
    // Services start one after the other: who was never there is missed only after a while.
    const isMissed = millisecondsBetween(began, at) > startMsMax;
    return new Map(
      platformServices
        .filter((service) => seen.has(service) || isMissed)
        .map((service) => [
          `service ${service}`,
          running.has(service) ? green : red(`No process of ${service} holds a lease.`),
        ]),
    );
  }

  /** Without the store nobody knows who holds a lease. */
  function unknownServices(detail: string): ReadonlyMap<string, Poll> {
    return new Map([...seen].map((service) => [`service ${service}`, { result: "unknown", detail }]));
  }

  async function pollInTime(ask: Ask): Promise<Poll> {
    const waiting = new AbortController();
    const late = ports.timers
      .sleep(pollMsMax, waiting.signal)
      .then((): Poll => ({ result: "timeout", detail: `No answer within ${pollMsMax / 1_000} s.` }));
    const asking = new AbortController();
    const asked = ask(asking.signal).catch((thrown: unknown): Poll => red(messageOf(thrown)));
    const poll = await Promise.race([asked, late]);
    waiting.abort();
    asking.abort();
    return poll;
  }

  return {
    async read({ at, isDue }) {
      if (!isDue()) return [];
      round += 1;
      const asked = Object.entries(polls).map(async ([name, ask]) => [name, await pollInTime(ask)] as const);
      const found = await Promise.all(asked);
      const services = await servicePolls(at).catch((thrown: unknown) => unknownServices(messageOf(thrown)));
      const polledAt = ports.clock.now();
      return [...found, ...services].map(([dependency, { result, detail }]) => ({
        scope: { symbol: dependency },
        input: { dependency, result, detail, poll: `${polledAt}-${round}`, polledAt },
      }));
    },
  };
}

/** Nobody is asked anew: what counts is that they cosign what the log shows them. */
function witnessPoll(complaints: readonly string[]): Poll {
  return complaints.length === 0 ? green : red(complaints.join(" "));
}

async function upstreamPoll(upstream: Upstream, signal: AbortSignal): Promise<Poll> {
  const { status, complaint = "It does not say why." } = await upstream.ask(signal);
  if (status === "ok") return green;
  return status === "starting" ? { result: "unknown", detail: complaint } : red(complaint);
}

function red(detail: string): Poll {
  return { result: "red", detail };
}
