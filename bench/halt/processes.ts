// The two parts of the platform that a halt passes, on a database and a bus of the user's choice: the whole risk engine, and of operations the halt
// manager with everything that follows a latch. What operations does beside it (the audit log, watching every event) has an own bench.
import { hostname } from "node:os";
import { loadConfiguration } from "../../adapters/configuration/load-configuration.ts";
import type { DatabaseAddress } from "../../adapters/postgres/connection.ts";
import { openPool } from "../../adapters/postgres/connection.ts";
import { createPostgresReferenceData } from "../../adapters/postgres/queries/reference-store.ts";
import { createMetrics } from "../../adapters/telemetry/prometheus-metrics.ts";
import { openTransport, type Transport } from "../../adapters/transport/open-transport.ts";
import * as instant from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { HaltsConfirmer } from "../../ports/peers.ts";
import type { RpcService } from "../../ports/rpc.ts";
import { startHalts } from "../../services/operations/halts/halts.ts";
import { createWorkerAlarms } from "../../services/operations/worker-alarms.ts";
import { takeLease } from "../../services/shared/lease.ts";
import { paperReference } from "../../services/shared/paper-seeds.ts";
import type { ServiceName } from "../../services/shared/service.ts";
import { benchTools } from "../bus/ticket.ts";
import { dieOf, startEngine } from "../check-order/check-order-server.ts";
import { benchReference, putBeginnings } from "../check-order/fixture.ts";
import { fundCount } from "../check-order/orders.ts";
import { haltedSymbol } from "./halt-orders.ts";

export interface PartPlace {
  readonly database: DatabaseAddress;
  /** Absent: events travel through PostgreSQL. */
  readonly natsUrl?: string | undefined;
}

export interface HaltProcess {
  readonly handlers: RpcService["handlers"];
  readonly fundsOf?: NonNullable<RpcService["fundsOf"]>;
  close(): Promise<void>;
}

/** Ten funds with one strategy each and limits that nothing here reaches. */
export async function layHaltFixture(database: DatabaseAddress): Promise<void> {
  const at = benchTools().clock.now();
  await putBeginnings(database, at, { ...paperReference(instant.format(at)), funds: benchReference(fundCount).funds });
}

/** The risk engine with its lease. */
export async function startEngineProcess(place: PartPlace): Promise<HaltProcess> {
  const transport = await openPartTransport(place, "riskengine");
  const service = await startEngine("durable", place.database, transport.bus, createMetrics({ service: "bench" }));
  const lease = await takeLease(
    "riskengine",
    { host: hostname(), pid: process.pid },
    {
      ...leasePorts(transport),
      store: transport.leaseStore,
    },
  );
  await service.leased?.(lease);
  const [rpc] = service.rpc;
  if (rpc === undefined) throw new Error("the risk engine serves nothing");
  return {
    handlers: rpc.handlers,
    ...(rpc.fundsOf && { fundsOf: rpc.fundsOf }),
    async close() {
      await lease.retire();
      await service.stop();
      await transport.close();
    },
  };
}

/** The halt manager; it also tells the price of what the orders buy, as operations does. */
export async function startManagerProcess(place: PartPlace, haltsConfirmer: HaltsConfirmer): Promise<HaltProcess> {
  const transport = await openPartTransport(place, "operations");
  const pool = openPool(place.database.app, { log: benchTools().log, applicationName: "bench reference", sizeMax: 1 });
  const ports = {
    ...leasePorts(transport),
    bus: transport.bus,
    riskStore: transport.riskStore,
    referenceData: createPostgresReferenceData(pool),
    // Every code is right: whether codes are checked is shown elsewhere.
    oneTimeCodes: { prove: async () => undefined },
    chat: { name: "nobody", send: async () => undefined, close: async () => undefined },
    haltsConfirmer,
    riskBooks: { approvals: async () => [] },
  };
  const halts = await startHalts(ports, createWorkerAlarms(ports));
  const tellPrice = (): void => {
    const at = instant.format(ports.clock.now());
    transport.bus.broadcast(subjects.marketMarks, { symbol: haltedSymbol, price: "100", source: "bench", at });
  };
  tellPrice();
  const telling = setInterval(tellPrice, 500);
  return {
    handlers: halts.handlers,
    async close() {
      clearInterval(telling);
      await halts.stop();
      await transport.close();
      await pool.end();
    },
  };
}

function leasePorts(transport: Transport) {
  return { ...benchTools(), crash: { die: dieOf }, store: transport.store };
}

function openPartTransport({ database, natsUrl }: PartPlace, source: ServiceName): Promise<Transport> {
  const environment = natsUrl === undefined ? {} : { PORTCULLIS_BUS_URL: natsUrl };
  const loaded = loadConfiguration({ environment, readFile: () => "" });
  if (!loaded.ok) throw new Error("the bench's configuration is not right");
  const { configuration } = loaded;
  const housekeeping = source === "operations";
  return openTransport({ ...benchTools(), configuration, database: database.app, source, housekeeping });
}
