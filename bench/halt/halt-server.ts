// One part of the platform under test, a process of its own behind the product's gRPC server: the risk engine, or the halt manager, which asks the
// engine over gRPC as it does in the platform.
import { serveGrpc } from "../../adapters/grpc/server.ts";
import { createGrpcPeers } from "../../adapters/peers/grpc-peers.ts";
import { createMetrics } from "../../adapters/telemetry/prometheus-metrics.ts";
import type { Verifier } from "../../ports/identity.ts";
import { benchTools } from "../bus/ticket.ts";
import { dieOf, everybody } from "../check-order/check-order-server.ts";
import { type HaltProcess, type PartPlace, startEngineProcess, startManagerProcess } from "./processes.ts";

export interface HaltServerStart extends PartPlace {
  readonly part: "engine" | "manager";
  /** Where the engine answers, for the manager. */
  readonly enginePort?: number;
}

/** Shown by the one who lifts; everybody else is a machine. */
export const operatorToken = "duty";

const whoever: Verifier = {
  ...everybody,
  verify: async (token: string) => {
    const machine = await everybody.verify(token);
    if (token !== operatorToken) return machine;
    const person = { kind: "operator", subject: "duty", name: "duty", actor: "operator:duty", roles: ["operator"] };
    return { ...machine, ...person };
  },
} as never;

async function start({ part, enginePort, ...place }: HaltServerStart): Promise<{ readonly port: number }> {
  const tools = benchTools();
  const running = part === "engine" ? await startEngineProcess(place) : await startManager(place, enginePort);
  const server = await serveGrpc({
    ...tools,
    crash: { die: dieOf },
    metrics: createMetrics({ service: "bench" }),
    verifier: whoever,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the bench's server",
    environmentVariable: "NONE",
    services: [{ ...running, name: part === "engine" ? "RiskEngine" : "Operations" }],
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
  });
  if (!("port" in server.address)) throw new Error("the bench's server has no port");
  return { port: server.address.port };
}

function startManager(place: PartPlace, enginePort: number | undefined): Promise<HaltProcess> {
  const targets = () => ({ riskengine: `127.0.0.1:${enginePort}` });
  return startManagerProcess(place, createGrpcPeers({ ...benchTools(), token: () => "bench", targets }).haltsConfirmer);
}

if (process.send !== undefined && process.argv[2] === "halt-server") {
  process.on("message", (message: HaltServerStart) => {
    void start(message).then(
      (result) => process.send?.({ result }),
      (thrown: unknown) =>
        process.send?.({ error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) }),
    );
  });
  process.on("disconnect", () => process.exit(0));
}
