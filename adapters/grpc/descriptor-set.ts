// Reads services and their procedures out of a compiled descriptor set (google.protobuf.FileDescriptorSet). Only the few
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
}

export function readDescriptorSet(bytes: Uint8Array): DescriptorSet {
  const files: Uint8Array[] = [];
  eachField(bytes, (field, reader) => (field === 1 ? files.push(reader.bytes()) > 0 : false));
  return { files, services: files.flatMap(servicesOfFile) };
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
