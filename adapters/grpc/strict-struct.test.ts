// Free data of a request is what was sent or is refused by the member's name: nothing vanishes between the wire and the handler.
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { AppendAuditRequest } from "../../contracts/src/generated/svc/v1/audit.ts";
import { codecOf, describedServices, messageFields, methodOf } from "./definitions.ts";
import { refuseLossyStructs } from "./strict-struct.ts";
import { decode } from "./unary.ts";

type Bytes = Uint8Array;
const none = new Uint8Array();
const part = (number: number, bytes: Bytes): Bytes => new BinaryWriter().tag(number, 2).bytes(bytes).finish();
const text = (number: number, value: string): Bytes => new BinaryWriter().tag(number, 2).string(value).finish();
const join = (...parts: readonly Bytes[]): Bytes => Uint8Array.from(parts.flatMap((each) => [...each]));
const number = (value: number): Bytes => new BinaryWriter().tag(2, 1).double(value).finish();
const isNull = new BinaryWriter().tag(1, 0).int32(0).finish();
const member = (name: string, value: Bytes): Bytes => part(1, join(text(1, name), part(2, value)));
const struct = (...members: readonly Bytes[]): Bytes => part(5, join(...members));
const list = (...values: readonly Bytes[]): Bytes => part(6, join(...values.map((value) => part(1, value))));
const data = (...members: readonly Bytes[]): Bytes => part(4, join(...members));

const method = methodOf("Operations", "AppendAudit");
const procedure = {
  service: "Operations",
  method,
  request: codecOf(method.requestType),
  response: codecOf(method.responseType),
  handler: async () => ({}),
};

describe("AppendAudit", () => {
  it.each([
    ["a member named __proto__", data(member("__proto__", struct())), "data.__proto__ has a name that is not taken"],
    ["one that lies deeper", data(member("a", struct(member("__proto__", isNull)))), "data.a.__proto__ has a name"],
    ["a value of no kind", data(member("a", none)), "data.a has no value"],
    ["a member without a value", data(part(1, text(1, "a"))), "data.a has no value"],
    ["an element of no kind", data(member("a", list(isNull, none))), "data.a[1] has no value"],
    ["a value of an unknown kind", data(member("a", text(9, "x"))), "data.a has a value of a kind"],
    ["a value of two kinds", data(member("a", join(text(3, "x"), number(1)))), "data.a has more than one value"],
    ["no number", data(member("a", number(Number.NaN))), "data.a is not a number"],
    ["infinity", data(member("a", list(number(Number.NEGATIVE_INFINITY)))), "data.a[0] is not a number"],
    ["a member twice", data(member("a", isNull), member("a", isNull)), "data.a stands there twice"],
    ["data twice", join(data(), data()), "data stands there twice"],
    ["a part of data that is no member", data(text(2, "x")), "data has a part that is no member"],
    ["a part of a list that is no element", data(member("a", part(6, text(3, "x")))), "data.a has a part that is no"],
    ["a member with two names", data(part(1, join(text(1, "a"), text(1, "b")))), "data.a has more than a name"],
    ["a long name", data(member("n".repeat(500), none)), `data.${"n".repeat(64)}… has no value`],
  ])("refuses %s", (_name, bytes, sentence) => {
    const expected = { code: "INVALID_ARGUMENT", message: expect.stringContaining(sentence) };
    expect(() => decode(procedure, bytes)).toThrow(expect.objectContaining(expected));
  });

  it("takes everything that JSON can say, as it was sent", () => {
    const free = { a: null, b: [1, -2.5, "x", true, [], {}], c: { d: { "": "no name", constructor: 1 } }, "": false };
    const message = { actor: "", action: "note.made", subject_id: "o-1", data: free };
    const bytes = AppendAuditRequest.encode(message).finish();
    expect(decode(procedure, bytes)).toMatchObject(message);
  });

  it("tells bytes that are no message as such", () => {
    expect(() => decode(procedure, part(4, Uint8Array.of(0x0a, 0x7f)))).toThrow(
      /The bytes are not a svc\.v1\.AppendAudit/,
    );
  });
});

describe("other messages", () => {
  it("with free data are looked at too, wherever it lies, and those without are not", () => {
    const bad = part(7, member("a", none));
    // What is wrong in its evidence does not refuse a halt.
    expect(() => refuseLossyStructs("svc.v1.HaltRequest", bad)).not.toThrow();
    expect(() => refuseLossyStructs("svc.v1.Order", bad)).not.toThrow();
    const trail = part(1, part(6, member("a", none)));
    expect(() => refuseLossyStructs("svc.v1.AuditTrail", trail)).toThrow("entries.data.a has no value");
    expect(() => refuseLossyStructs("svc.v1.AuditTrail", join(part(1, none), part(1, none)))).not.toThrow();
  });

  it("are all known by their shape", () => {
    const types = describedServices.flatMap(({ methods }) => methods.map(({ requestType }) => requestType));
    expect(types.filter((type) => !messageFields.has(type))).toEqual([]);
  });
});
