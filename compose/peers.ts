// How the services of this process reach those of others: where each answers, as far as that is known, and the token that they are shown.
import { join } from "node:path";
import { createGrpcPeers, type GrpcPeers } from "../adapters/peers/grpc-peers.ts";
import { addressInRunFile } from "../adapters/system/run-file.ts";
import type { PeerSecurity } from "../adapters/tls/peer-security.ts";
import type { PlatformService } from "../contracts/src/platform-services.ts";
import type { Clock } from "../ports/clock.ts";
import { services } from "../services/index.ts";
import type { ServiceName } from "../services/shared/service.ts";
import type { PartInput } from "./shared.ts";
import { localTarget } from "./tls.ts";

interface OpenPeersOptions {
  readonly service: ServiceName;
  readonly input: PartInput;
  /** Grows as parts start in this process. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly platformToken: (service: PlatformService) => string;
  readonly security: PeerSecurity | undefined;
}

export function openPeers({ service, input, addresses, clock, platformToken, security }: OpenPeersOptions): GrpcPeers {
  /** Found once: who is started again keeps its address. */
  const found = new Map<ServiceName, string>();
  const inFile = (name: ServiceName): string | undefined => {
    const known = found.get(name) ?? addressInRunFile(input.dataFolder, process.ppid, name);
    if (known !== undefined) found.set(name, known);
    return known;
  };
  const targets = (): Readonly<Record<string, string>> =>
    Object.fromEntries(
      services.flatMap(({ name }) => {
        const known = localTarget(name, input) ?? addresses[name] ?? input.configuration.rpc[name];
        const target = known ?? socketOf(name, input) ?? inFile(name);
        return target === undefined ? [] : [[name, target]];
      }),
    );
  return createGrpcPeers({ clock, token: () => platformToken(service), targets, security });
}

/** Who starts later than the one who asks is found at its socket, or where the supervisor says when it is there. */
function socketOf(name: ServiceName, { runtimeFolder }: PartInput): string | undefined {
  const hasSocket = name === "oms" || name === "treasury" || name === "research";
  return hasSocket ? `unix:${join(runtimeFolder, `${name}.sock`)}` : undefined;
}
