// What every process answers to the gateway and the supervisor about itself: its health and its metrics.
import type { InstanceHealth, InstanceMetrics } from "../../contracts/src/generated/svc/v1/instance.ts";
import type { Health } from "../../ports/health.ts";
import type { RpcService } from "../../ports/rpc.ts";

interface InstanceOptions {
  readonly health: () => Health;
  readonly metricsJson: () => Promise<string>;
}

export function instanceHandlers({ health, metricsJson }: InstanceOptions): RpcService["handlers"] {
  return {
    GetHealth: async (): Promise<InstanceHealth> => {
      const { status, complaint } = health();
      return { status, complaint };
    },
    GetMetrics: async (): Promise<InstanceMetrics> => ({ metrics_json: Buffer.from(await metricsJson(), "utf8") }),
  };
}
