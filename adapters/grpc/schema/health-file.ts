// The published grpc/health/v1/health.proto as a compiler writes it, for reflection: it is the one service here that our own protos do not describe.
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** A member of a message in a descriptor: its number, and a text, a number or the messages that it holds. */
type Member = readonly [number: number, value: string | number | Uint8Array];

const typeString = 9;
const typeEnum = 14;
const optional = 1;

function message(...members: readonly Member[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, value] of members) {
    if (typeof value === "number") writer.tag(number, WireType.Varint).int32(value);
    else if (typeof value === "string") writer.tag(number, WireType.LengthDelimited).string(value);
    else writer.tag(number, WireType.LengthDelimited).bytes(value);
  }
  return writer.finish();
}

const field = (name: string, type: number, ...typeName: readonly Member[]): Uint8Array =>
  message([1, name], [3, 1], [4, optional], [5, type], ...typeName, [10, name]);

const value = (name: string, number: number): Member => [2, message([1, name], [2, number])];

const statuses = message(
  [1, "ServingStatus"],
  value("UNKNOWN", 0),
  value("SERVING", 1),
  value("NOT_SERVING", 2),
  value("SERVICE_UNKNOWN", 3),
);

function method(name: string, ...isStream: readonly Member[]): Member {
  const types: readonly Member[] = [
    [2, ".grpc.health.v1.HealthCheckRequest"],
    [3, ".grpc.health.v1.HealthCheckResponse"],
  ];
  return [2, message([1, name], ...types, ...isStream)];
}

const statusField = field("status", typeEnum, [6, ".grpc.health.v1.HealthCheckResponse.ServingStatus"]);

export const healthFile: Uint8Array = message(
  [1, "grpc/health/v1/health.proto"],
  [2, "grpc.health.v1"],
  [4, message([1, "HealthCheckRequest"], [2, field("service", typeString)])],
  [4, message([1, "HealthCheckResponse"], [2, statusField], [4, statuses])],
  [6, message([1, "Health"], method("Check"), method("Watch", [6, 1]))],
  [12, "proto3"],
);
