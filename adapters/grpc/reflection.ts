// Server reflection, as the library does it, for those who ask. The library reads all protos, indexes and encodes them, which takes longer than
// the rest of a server's start, and most servers are never asked: it is loaded with the first question.
//
// Anybody may ask, and an answer is a hundred times as long as its question: who does not read the answers is not read either, and a stream has so many
// questions. How many streams there are at once and how long one may live is the gate's (call-gate.ts).
import type {
  MethodDefinition,
  Server,
  ServerDuplexStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { PackageDefinition } from "@grpc/proto-loader";
import { Defect, Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Random } from "../../ports/random.ts";
import { requestIdFrom, requestIdHeader } from "../http/request-id.ts";
import { descriptorFiles } from "./definitions.ts";
import { loadHealthPackage } from "./health-service.ts";
import { failure } from "./status.ts";

/** The two versions say the same under different names; tools ask for either. */
const serviceNames = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"] as const;
const methodName = "ServerReflectionInfo";

export const reflectionPaths: readonly string[] = serviceNames.map((name) => `/${name}/${methodName}`);

/** What the library does with a call: it hears questions, writes answers, and ends when the caller does. */
export interface Answering {
  readonly definition: MethodDefinition<unknown, unknown>;
  answer(stream: {
    on(event: string, listener: (message: unknown) => void): void;
    write(message: unknown): void;
    end(): void;
  }): void;
}

/** Adds both versions to the server; they tell of these services. */
export function addReflection(server: Server, services: readonly string[], random: Random, questionsMax: number): void {
  let loading: Promise<ReadonlyMap<string, Answering>> | undefined;
  const answeringOf = async (path: string): Promise<Answering> => {
    loading ??= loadLibrary(services);
    const found = (await loading).get(path);
    if (found === undefined) throw new Defect(`The reflection library does not answer ${path}.`);
    return found;
  };
  for (const path of reflectionPaths) {
    server.addService(definitionOf(path), {
      [methodName]: (call: ServerDuplexStream<Buffer, Buffer>) => {
        // Nothing is read from the call before somebody listens, so no question is lost meanwhile.
        answeringOf(path)
          .then((answering) => answerWith(answering, call, random, questionsMax))
          .catch((thrown: unknown) => refuse(call, thrown, random));
      },
    });
  }
}

/** Bytes go through as they are: the library that knows the messages comes later. */
function definitionOf(path: string): ServiceDefinition {
  const asIs = (bytes: Buffer): Buffer => bytes;
  const coding = {
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
  return { [methodName]: { path, requestStream: true, responseStream: true, ...coding } };
}

/** Exported for its test. */
export function answerWith(
  { definition, answer }: Answering,
  call: ServerDuplexStream<Buffer, Buffer>,
  random: Random,
  questionsMax: number,
): void {
  let asked = 0;
  let isRefused = false;
  const refuseOnce = (thrown: Fault): void => {
    if (isRefused) return;
    isRefused = true;
    refuse(call, thrown, random);
  };
  const hear = (bytes: Buffer, listener: (message: unknown) => void): void => {
    if (isRefused) return;
    asked += 1;
    if (asked > questionsMax) {
      const sentence = `A stream has at most ${questionsMax} questions about the schema. Begin another.`;
      refuseOnce(new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "now" }));
      return;
    }
    try {
      listener(definition.requestDeserialize(bytes));
    } catch (thrown) {
      const sentence = `The bytes are no question about the schema: ${messageOf(thrown)}.`;
      refuseOnce(new Fault("INVALID_ARGUMENT", sentence, { retry: "never", cause: thrown }));
    }
  };
  answer({
    on: (event, listener) =>
      void call.on(event, (bytes: Buffer) => (event === "data" ? hear(bytes, listener) : listener(undefined))),
    write: (message) => {
      if (isRefused || call.write(definition.responseSerialize(message))) return;
      call.pause();
      call.once("drain", () => call.resume());
    },
    end: () => call.end(),
  });
}

function refuse(call: ServerDuplexStream<Buffer, Buffer>, thrown: unknown, random: Random): void {
  call.emit("error", failure(thrown, requestIdFrom(call.metadata.get(requestIdHeader)[0], random)));
}

/** The library adds itself to a server; here it adds itself to a list, by path. */
async function loadLibrary(services: readonly string[]): Promise<ReadonlyMap<string, Answering>> {
  const { ReflectionService } = await import("@grpc/reflection");
  const ours = { format: "", type: {}, fileDescriptorProtos: descriptorFiles.map((file) => Buffer.from(file)) };
  const described = { ...(await loadHealthPackage()), ours } as PackageDefinition;
  const found = new Map<string, Answering>();
  new ReflectionService(described, { services: [...services] }).addToServer({
    addService: (definition: ServiceDefinition, implementation: UntypedServiceImplementation) => {
      const method = definition[methodName];
      const answer = implementation[methodName];
      if (method === undefined || answer === undefined) throw new Defect("The reflection library has another method.");
      found.set(method.path, { definition: method, answer: answer as Answering["answer"] });
    },
  });
  return found;
}
