// Reads services, their procedures and the shape of messages out of a compiled descriptor set (google.protobuf.FileDescriptorSet). Only the few
// fields that a gRPC server needs are read, with the protobuf runtime's own reader: a whole descriptor library would cost
// every process of the platform more start-up time than everything else in this folder together.
import { BinaryReader } from "@bufbuild/protobuf/wire";

export interface DescribedMethod {
  /** "CheckOrder" */
  readonly name: string;
  /** "/svc.v1.RiskEngine/CheckOrder" */
  readonly path: string;
  /** Full names of the messages: "svc.v1.Order". */
  readonly requestType: string;
  readonly responseType: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

export interface DescribedService {
  /** "RiskEngine" */
  readonly name: string;
  /** "svc.v1.RiskEngine" */
  readonly fullName: string;
  readonly methods: readonly DescribedMethod[];
}

export interface DescriptorSet {
  /** Every file's descriptor as it was compiled, dependencies included; what reflection hands out. */
  readonly files: readonly Uint8Array[];
  readonly services: readonly DescribedService[];
  /** The members of every message that are messages themselves, by the message's full name; messages inside messages are left out. */
  readonly messageFields: ReadonlyMap<string, readonly DescribedField[]>;
}

/** A member of a message that is a message itself. */
export interface DescribedField {
  readonly name: string;
  readonly number: number;
  readonly isRepeated: boolean;
  /** The full name of its message: "google.protobuf.Struct". */
  readonly type: string;
}

export function readDescriptorSet(bytes: Uint8Array): DescriptorSet {
  const files: Uint8Array[] = [];
  eachField(bytes, (field, reader) => (field === 1 ? files.push(reader.bytes()) > 0 : false));
  return { files, services: files.flatMap(servicesOfFile), messageFields: new Map(files.flatMap(messagesOfFile)) };
}

function messagesOfFile(bytes: Uint8Array): readonly (readonly [string, readonly DescribedField[]])[] {
  let packageName = "";
  const messages: Uint8Array[] = [];
  eachField(bytes, (field, reader) => {
    if (field === 2) packageName = reader.string();
    else if (field === 4) messages.push(reader.bytes());
    else return false;
    return true;
  });
  return messages.map((message) => readMessage(message, packageName));
}

function readMessage(bytes: Uint8Array, packageName: string): readonly [string, readonly DescribedField[]] {
  let name = "";
  const fields: DescribedField[] = [];
  eachField(bytes, (field, reader) => {
    if (field === 1) name = reader.string();
    else if (field === 2) fields.push(...readMessageField(reader.bytes()));
    else return false;
    return true;
  });
  return [`${packageName}.${name}`, fields];
}

const labelRepeated = 3;

/** None when the member is a number, a text or the like, which name no type. */
function readMessageField(bytes: Uint8Array): readonly DescribedField[] {
  const text: Record<number, string> = {};
  const numbers: Record<number, number> = {};
  eachField(bytes, (field, reader) => {
    if (field === 1 || field === 6) text[field] = reader.string();
    else if (field === 3 || field === 4) numbers[field] = reader.int32();
    else return false;
    return true;
  });
  const type = text[6]?.replace(/^\./, "");
  if (type === undefined) return [];
  return [{ name: text[1] ?? "", number: numbers[3] ?? 0, isRepeated: numbers[4] === labelRepeated, type }];
}

function servicesOfFile(bytes: Uint8Array): readonly DescribedService[] {
  let packageName = "";
  const services: Uint8Array[] = [];
  eachField(bytes, (field, reader) => {
    if (field === 2) packageName = reader.string();
    else if (field === 6) services.push(reader.bytes());
    else return false;
    return true;
  });
  return services.map((service) => readService(service, packageName));
}

function readService(bytes: Uint8Array, packageName: string): DescribedService {
  let name = "";
  const methods: Uint8Array[] = [];
  eachField(bytes, (field, reader) => {
    if (field === 1) name = reader.string();
    else if (field === 2) methods.push(reader.bytes());
    else return false;
    return true;
  });
  const fullName = packageName === "" ? name : `${packageName}.${name}`;
  return { name, fullName, methods: methods.map((method) => readMethod(method, fullName)) };
}

function readMethod(bytes: Uint8Array, service: string): DescribedMethod {
  const text: Record<number, string> = {};
  const flags: Record<number, boolean> = {};
  eachField(bytes, (field, reader) => {
    if (field >= 1 && field <= 3) text[field] = reader.string();
    else if (field === 5 || field === 6) flags[field] = reader.bool();
    else return false;
    return true;
  });
  const name = text[1] ?? "";
  return {
    name,
    path: `/${service}/${name}`,
    // Descriptors write a message's full name with a leading dot.
    requestType: (text[2] ?? "").replace(/^\./, ""),
    responseType: (text[3] ?? "").replace(/^\./, ""),
    requestStream: flags[5] ?? false,
    responseStream: flags[6] ?? false,
  };
}

/** Walks the fields of one message; `read` says whether it took the field, otherwise it is skipped. */
function eachField(bytes: Uint8Array, read: (field: number, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (!read(field, reader)) reader.skip(wireType, field);
  }
}
