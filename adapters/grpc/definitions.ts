// The services of the platform as gRPC sees them: paths and streaming flags from the committed descriptor set, codecs from
// the generated messages. Reading it takes well under a millisecond, so it happens once, when this module loads.

import { Defect } from "../../contracts/src/fault.ts";
import { descriptorSetBase64 } from "../../contracts/src/generated/descriptors.ts";
import { codecs, type MessageCodec } from "./codecs.ts";
import {
  type DescribedMethod,
  type DescribedService,
  type DescriptorSet,
  readDescriptorSet,
} from "./descriptor-set.ts";

const descriptorSet = readDescriptorSet(Buffer.from(descriptorSetBase64, "base64"));

export const describedServices: readonly DescribedService[] = descriptorSet.services;

/** Every proto file as it was compiled; what reflection hands out. */
export const descriptorFiles: readonly Uint8Array[] = descriptorSet.files;

/** The members of messages that are messages, by full names. */
export const messageFields: DescriptorSet["messageFields"] = descriptorSet.messageFields;

/** The service that every process has beside its own. */
export const instanceService = "Instance";

export function codecOf(messageType: string): MessageCodec {
  const codec = codecs.get(messageType);
  if (codec === undefined) throw new Defect(`There is no generated codec for the message ${messageType}.`);
  return codec;
}

export function methodOf(service: string, method: string): DescribedMethod {
  const found = describedServices.find(({ name }) => name === service)?.methods.find(({ name }) => name === method);
  if (found === undefined) throw new Defect(`The protos have no procedure ${service}/${method}.`);
  return found;
}
