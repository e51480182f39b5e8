// A gRPC server over the handlers that services declare as data. Every procedure of the named services is there: one without
// a handler answers UNIMPLEMENTED by its name. Beside them stand the Instance service that the gateway asks, the standard
// health service, and reflection. Every call passes two gates before any handler: the call gate with its bounds, and the
// identity gate with the table of authority.
import {
  type Metadata,
  type MethodDefinition,
  Server,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { Health } from "../../ports/health.ts";
import type { Verifier } from "../../ports/identity.ts";
import type { Random } from "../../ports/random.ts";
import type { RpcService, UnaryHandler } from "../../ports/rpc.ts";
import { requestIdFrom, requestIdHeader } from "../http/request-id.ts";
import { internalsOn, type LibraryInternals } from "../library-internals/library-internals.ts";
import { badRequests } from "../listener/bad-requests.ts";
import { connectionRoom, type RoomOptions } from "../listener/connection-limit.ts";
import { createTurns } from "../listener/turns.ts";
import type { KeptCertificate } from "../tls/kept-certificate.ts";
import { turnOfCalls } from "./asked-in-turn.ts";
import { type BidirectionalMounter, bidirectionalMounter } from "./bidirectional.ts";
import { callConnections } from "./call-connections.ts";
import { callGate } from "./call-gate.ts";
import { codecOf, describedServices, instanceService } from "./definitions.ts";
import type { DescribedMethod, DescribedService } from "./descriptor-set.ts";
import { fundGuard } from "./guard/fund-guard.ts";
import { type HealthService, healthDefinition, healthService, healthServiceName } from "./health-service.ts";
import { identityGate } from "./identity-gate.ts";
import { instanceHandlers } from "./instance-service.ts";
import { hearLibrary } from "./library-log.ts";
import { type GrpcLimits, grpcLimitsDefault } from "./limits.ts";
import { type GrpcAddress, type GrpcListener, joinedListeners, type ListenOptions, openListener } from "./listener.ts";
import { operationsByPath } from "./procedure-operations.ts";
import { addReflection } from "./reflection.ts";
import { failure } from "./status.ts";
import { type RpcPorts, type UnaryMounter, unaryMounter } from "./unary.ts";

export interface GrpcServerOptions extends RpcPorts {
  readonly address: GrpcAddress;
  /** Who serves, for the sentence when it cannot listen: "riskengine's gRPC server". */
  readonly purpose: string;
  /** What an operator sets to move it; named when the address is taken. */
  readonly environmentVariable: string;
  /** With it the TCP port speaks TLS and nothing else. */
  readonly certificate?: KeptCertificate | undefined;
  /** Whether tokens of our own processes count from other machines without a certificate; not unless asked. */
  readonly takesOwnInsecurely?: boolean;
  /** The path of a unix socket, where our own processes on this machine come in beside the port. */
  readonly localSocket?: string | undefined;
  readonly services: readonly RpcService[];
  /** What a procedure without a handler answers; that it is not implemented unless this says otherwise. */
  readonly unserved?: () => Fault;
  /** Who is calling; asked for every call that not just anyone may make. */
  readonly verifier: Verifier;
  readonly health: () => Health;
  /** The process's metrics as its registry writes them in JSON. */
  readonly metricsJson: () => Promise<string>;
  readonly limits?: Partial<GrpcLimits>;
  /** Told of connections that had to make way, or found no place of their own. */
  readonly onCrowded?: RoomOptions["onCrowded"];
  /** Whether anybody may read the schema here; on unless switched off. */
  readonly reflection?: boolean;
  /** Default: with every reach behind the library's interface. */
  readonly internals?: LibraryInternals;
}

export interface GrpcServer {
  /** The real address, also when port 0 was asked for. */
  readonly address: GrpcAddress;
  /** Stops accepting, lets calls in flight finish within the bound, then cuts what is left. */
  drain(timeoutMs: number): Promise<"drained" | "forced">;
}

export async function serveGrpc(given: GrpcServerOptions): Promise<GrpcServer> {
  const limits = { ...grpcLimitsDefault, ...given.limits };
  const room = connectionRoom({
    connectionsMax: limits.connectionsMax,
    firstMsMax: limits.prefaceMsMax,
    idleMsMax: limits.strangerIdleMsMax,
    strangerCalls: { atOnceMax: limits.strangerCallsAtOnceMax, perSecondMax: limits.strangerCallsPerSecondMax },
    clock: given.clock,
    timers: given.timers,
    onCrowded: given.onCrowded,
  });
  const healthHere = () => worseOf(given.health(), room.health());
  const turns = createTurns(given);
  const turnOfCall = turnOfCalls(turns);
  const options = { ...given, health: healthHere, badRequests: badRequests(given.metrics, "grpc"), turnOfCall };
  const internals = options.internals ?? internalsOn;
  const hasReflection = options.reflection ?? true;
  const instance: RpcService = { name: instanceService, handlers: instanceHandlers(options) };
  const mounted = [...options.services, instance].map((service) => [describedService(service), service] as const);
  hearLibrary(options.log);
  const connections = callConnections(room);
  const health = healthService({
    health: options.health,
    services: new Set(mounted.map(([described]) => described.fullName)),
    timers: options.timers,
    random: options.random,
    watchersMax: limits.watchersMax,
    watchersPerConnectionMax: limits.watchersPerConnectionMax,
    connections,
  });
  const identity = identityGate(
    options,
    operationsByPath(
      mounted.map(([described]) => described),
      hasReflection,
    ),
    limits,
    connections,
  );
  const tooLarge = (metadata: Metadata): void =>
    options.badRequests.count("oversized", identity.identityOf(metadata)?.actor);
  const interceptors = [
    callGate(options, limits, connections, { tooLarge, streamOf: internals.streamOf }),
    identity.interceptor,
  ];
  const server = new Server({ ...channelOptions(limits), interceptors });
  const mount: Mounters = {
    unary: unaryMounter(options, limits, identity.identityOf),
    bidirectional: bidirectionalMounter(options, limits, identity.identityOf),
  };
  for (const [described, service] of mounted) {
    server.addService(definitionOf(described), implementationOf(described, service, mount, options));
  }
  server.addService(healthDefinition, health.handlers);
  const named = [...mounted.map(([described]) => described.fullName), healthServiceName];
  if (hasReflection) addReflection(server, named, options.random, limits.schemaQuestionsMax);
  internals.hookServer(server);
  const welcome = { room, onArrival: turns.arrived, onConnection: internals.injector(server) };
  const listener = await listen(options, limits.prefaceMsMax, welcome);
  return { address: listener.address, drain: drainer(server, listener, health, options) };
}

/** At its address and, where there is one, at its socket: whoever cannot have both has neither. */
async function listen(
  options: GrpcServerOptions,
  handshakeMsMax: number,
  welcome: Pick<ListenOptions, "room" | "onArrival" | "onConnection">,
): Promise<GrpcListener> {
  const { purpose, environmentVariable, certificate, localSocket } = options;
  const hasAuthority = certificate?.current().ca !== undefined;
  const ownProcesses = { hasAuthority, isInsecure: options.takesOwnInsecurely ?? false };
  const common = { purpose, environmentVariable, certificate, handshakeMsMax, ownProcesses, ...welcome };
  const listener = await openListener({ ...common, address: options.address });
  if (localSocket === undefined) return listener;
  try {
    return joinedListeners([listener, await openListener({ ...common, address: { path: localSocket } })]);
  } catch (thrown) {
    listener.stopAccepting();
    listener.cutAll();
    throw thrown;
  }
}

/** What the server itself complains of counts only where nothing worse is wrong. */
function worseOf(own: Health, room: Health): Health {
  return own.status === "ok" && room.status !== "ok" ? room : own;
}

interface Mounters {
  readonly unary: UnaryMounter;
  readonly bidirectional: BidirectionalMounter;
}

/** Draining twice is draining once: the second caller waits for the first one's end. */
function drainer(server: Server, listener: GrpcListener, health: HealthService, ports: RpcPorts): GrpcServer["drain"] {
  let ending: Promise<"drained" | "forced"> | undefined;
  return (timeoutMs) => {
    ending ??= new Promise((resolve) => {
      let end: "drained" | "forced" = "drained";
      listener.stopAccepting();
      health.stop();
      const cancel = ports.timers.after(timeoutMs, () => {
        end = "forced";
        listener.cutAll();
      });
      server.tryShutdown((error) => {
        if (error !== undefined) ports.log.warn("gRPC server did not shut down cleanly", { error });
        // The library waits for no connection that is being closed already, and from Node 24 on all of them are when it looks. Their calls go on.
        listener.whenEmpty(() => {
          cancel();
          resolve(end);
        });
      });
    });
    return ending;
  };
}

function channelOptions(limits: GrpcLimits) {
  return {
    // The library refuses without our code; up to twice the limit a message is refused by us, with it (unary.ts, bidirectional.ts).
    "grpc.max_receive_message_length": 2 * limits.receiveBytesMax,
    "grpc.max_send_message_length": limits.sendBytesMax,
    "grpc.max_concurrent_streams": limits.streamsPerConnectionMax,
    "grpc.max_connection_idle_ms": limits.connectionIdleMsMax,
    "grpc.keepalive_time_ms": limits.keepaliveMs,
    "grpc.keepalive_timeout_ms": limits.keepaliveAnswerMsMax,
    // Its bookkeeping costs every call, and the metrics say the same.
    "grpc.enable_channelz": 0,
  };
}

function describedService(service: RpcService): DescribedService {
  const described = describedServices.find(({ name }) => name === service.name);
  if (described === undefined) throw new Defect(`The protos have no service named ${service.name}.`);
  const known = new Map(described.methods.map((method) => [method.name, method]));
  for (const name of Object.keys(service.handlers)) {
    const method = known.get(name);
    if (method === undefined) throw new Defect(`The protos have no procedure ${service.name}/${name}.`);
    if (method.requestStream !== method.responseStream) {
      throw new Defect(`${service.name}/${name} is a stream in one direction, and nothing mounts those.`);
    }
  }
  return described;
}

/** Bytes go through as they are: decoding and encoding happen beside the handler. */
function definitionOf(service: DescribedService): ServiceDefinition {
  const asIs = (bytes: Buffer): Buffer => bytes;
  return Object.fromEntries(
    service.methods.map((method): [string, MethodDefinition<Buffer, Buffer>] => [
      method.name,
      {
        path: method.path,
        requestStream: method.requestStream,
        responseStream: method.responseStream,
        requestSerialize: asIs,
        requestDeserialize: asIs,
        responseSerialize: asIs,
        responseDeserialize: asIs,
      },
    ]),
  );
}

function implementationOf(
  described: DescribedService,
  service: RpcService,
  mount: Mounters,
  { random, unserved }: Pick<GrpcServerOptions, "random" | "unserved">,
): UntypedServiceImplementation {
  const implementationOfMethod = (method: DescribedMethod): UntypedHandleCall => {
    const declared = service.handlers[method.name];
    const streams = method.requestStream || method.responseStream;
    const fault = unserved ?? (() => unimplemented(described, method));
    if (streams && declared === undefined) return unservedStream(fault, random);
    const procedure = {
      service: described.name,
      method,
      request: codecOf(method.requestType),
      response: codecOf(method.responseType),
    };
    const fundsOf = service.fundsOf?.[method.name];
    return (streams ? mount.bidirectional : mount.unary)({
      ...procedure,
      handler: declared ?? unservedUnary(fault),
      guard: fundGuard({ ...procedure, isServed: declared !== undefined, fundsOf }),
    });
  };
  return Object.fromEntries(described.methods.map((method) => [method.name, implementationOfMethod(method)]));
}

function unservedUnary(fault: () => Fault): UnaryHandler {
  return async () => {
    throw fault();
  };
}

function unservedStream(fault: () => Fault, random: Random): UntypedHandleCall {
  type AnyStream = ServerReadableStream<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>;
  return (call: AnyStream | ServerDuplexStream<Buffer, Buffer>, callback?: sendUnaryData<Buffer>) => {
    const requestId = requestIdFrom(call.metadata.get(requestIdHeader)[0], random);
    const reported = failure(fault(), requestId);
    if (callback === undefined) call.emit("error", reported);
    else callback(reported);
  };
}

function unimplemented(service: DescribedService, method: DescribedMethod): Fault {
  return new Fault("UNIMPLEMENTED", `${service.fullName}/${method.name} is not implemented yet`, { retry: "never" });
}
