// How the gateway reaches the services: where each answers, the calls to them, their health, and what they stream to it.
import { createHealthDirectory } from "../adapters/grpc/health-directory.ts";
import { createRpcClient } from "../adapters/grpc/rpc-client.ts";
import type { GatewayIdentity } from "../adapters/identity/gateway-identity.ts";
import type { PostgresStore } from "../adapters/postgres/store.ts";
import { startMarketFeed } from "../edges/gateway/public/market-feed.ts";
import { createStreamHub } from "../edges/gateway/stream/stream-hub.ts";
import { services } from "../services/index.ts";
import { fundPolicies } from "./fund-policies.ts";
import type { basePorts, PartInput, Stops } from "./shared.ts";
import { localTarget, peerSecurityOf, rpcAddressOf } from "./tls.ts";

type ReachingPorts = Awaited<ReturnType<typeof basePorts>>["ports"] & {
  readonly store: PostgresStore;
  readonly identity: Pick<GatewayIdentity, "platformToken">;
  readonly addresses: Readonly<Record<string, string>>;
};

export function reachServices(input: PartInput, { identity, addresses, ...ports }: ReachingPorts, stops: Stops) {
  const targets = serviceTargets(input, addresses);
  const security = peerSecurityOf(input, ports, "gateway", stops);
  const ownToken = () => identity.platformToken("gateway");
  const directory = createHealthDirectory({ ...ports, targets, security, credentials: ownToken });
  stops.push(async () => directory.close());
  const calls = createRpcClient({ targets, clock: ports.clock, security });
  stops.push(async () => calls.close());
  const policies = fundPolicies(input.configuration);
  const expectedServices = Object.keys(targets);
  const marketFeed = startMarketFeed({ ...ports, services: calls, ownToken, policies, expectedServices });
  stops.push(() => marketFeed.stop());
  const stream = createStreamHub({ ...ports, services: calls, ownToken, marketFeed });
  stops.push(() => stream.stop());
  return { targets, directory, calls, marketFeed, stream };
}

/** Where the gateway finds each service: those that run beside it, and those whose address is configured. */
function serviceTargets(
  input: PartInput,
  addresses: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    services.flatMap(({ name }) => {
      const target = localTarget(name, input) ?? addresses[name] ?? rpcAddressOf(input, name);
      return target === undefined ? [] : [[name, target]];
    }),
  );
}
