// Server reflection for those who ask (schema/schema-answers.ts). What names what is read with the first question: most servers are never asked.
//
// Anybody may ask, and an answer is a hundred times as long as its question: who does not read the answers is not read either, and a stream has so many
// questions. How many streams there are at once and how long one may live is the gate's (call-gate.ts).
import type { Server, ServerDuplexStream, ServiceDefinition } from "@grpc/grpc-js";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Random } from "../../ports/random.ts";
import { requestIdFrom, requestIdHeader } from "../http/request-id.ts";
import { descriptorFiles } from "./definitions.ts";
import { healthFile } from "./schema/health-file.ts";
import { answerAbout } from "./schema/schema-answers.ts";
import { type SchemaIndex, schemaIndex } from "./schema/schema-index.ts";
import { failure } from "./status.ts";

/** The two versions say the same under different names; tools ask for either. */
const serviceNames = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"] as const;
const methodName = "ServerReflectionInfo";

export const reflectionPaths: readonly string[] = serviceNames.map((name) => `/${name}/${methodName}`);

/** Adds both versions to the server; they tell of these services. */
export function addReflection(server: Server, services: readonly string[], random: Random, questionsMax: number): void {
  let schema: SchemaIndex | undefined;
  const answer = (question: Buffer): Buffer => {
    schema ??= schemaIndex([...descriptorFiles, healthFile]);
    return answerAbout(schema, services, question);
  };
  for (const path of reflectionPaths) {
    server.addService(definitionOf(path), {
      [methodName]: (call: ServerDuplexStream<Buffer, Buffer>) => answerWith(answer, call, random, questionsMax),
    });
  }
}

/** Bytes go through as they are. */
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
  answer: (question: Buffer) => Buffer,
  call: ServerDuplexStream<Buffer, Buffer>,
  random: Random,
  questionsMax: number,
): void {
  let asked = 0;
  let isRefused = false;
  const refuseOnce = (thrown: Fault): void => {
    isRefused = true;
    refuse(call, thrown, random);
  };
  call.on("data", (question: Buffer) => {
    if (isRefused) return;
    asked += 1;
    if (asked > questionsMax) {
      const sentence = `A stream has at most ${questionsMax} questions about the schema. Begin another.`;
      refuseOnce(new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "now" }));
      return;
    }
    let answered: Buffer;
    try {
      answered = answer(question);
    } catch (thrown) {
      const sentence = `The bytes are no question about the schema: ${messageOf(thrown)}.`;
      refuseOnce(new Fault("INVALID_ARGUMENT", sentence, { retry: "never", cause: thrown }));
      return;
    }
    if (call.write(answered)) return;
    call.pause();
    call.once("drain", () => call.resume());
  });
  call.on("end", () => call.end());
}

function refuse(call: ServerDuplexStream<Buffer, Buffer>, thrown: unknown, random: Random): void {
  call.emit("error", failure(thrown, requestIdFrom(call.metadata.get(requestIdHeader)[0], random)));
}
