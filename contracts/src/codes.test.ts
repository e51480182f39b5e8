// The registry of codes: complete, unique, and telling one story on every surface.
import { describe, expect, test } from "vitest";
import { alarms } from "./codes/alarms.ts";
import { commandDenials, gateDenials, retiredDenials } from "./codes/denials.ts";
import { faults } from "./codes/faults.ts";
import { ownerDenials } from "./codes/foreign-denials.ts";
import { type AnswerCode, exitCodes } from "./codes/shape.ts";
import { answerOf, codeEntry, everyCode, isFaultCode } from "./codes.ts";
import { gateName } from "./records/values.ts";

const counted =
  Object.values(gateDenials).reduce((sum, codes) => sum + Object.keys(codes).length, 0) +
  Object.keys(retiredDenials).length +
  Object.keys(commandDenials).length +
  Object.keys(faults).length +
  Object.keys(alarms).length;

test("no code stands in two places", () => {
  expect(everyCode().size).toBe(counted);
});

test.each([...everyCode()])("%s is a stable word with one sentence and fitting statuses", (code, entry) => {
  expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
  expect(entry.sentence).toMatch(/^[A-Z].*[^.]\.$/s);
  expect(entry.sentence).not.toMatch(/[|\n]/);
  if (entry.kind === "alarm") return;
  expect(Object.values(exitCodes)).toContain(entry.exit);
  expect(entry.exit).not.toBe(exitCodes.ok);
  expect(entry.http).toBeGreaterThanOrEqual(400);
  expect(entry.http).toBeLessThan(600);
  if (entry.kind === "fault") expect(entry.grpc).not.toBe("OK");
});

test("every gate has its denials, under the gate's own name and in the gates' order", () => {
  expect(Object.keys(gateDenials)).toEqual(gateName.options);
  for (const codes of Object.values(gateDenials)) {
    const ofCheckOrder = Object.entries<AnswerCode>(codes).filter(([code]) => !Object.hasOwn(ownerDenials, code));
    for (const [, entry] of ofCheckOrder) expect(entry.grpc).toBe("OK");
  }
});

describe("what the public surface fixes", () => {
  test.each([
    ["LOOSENING_DURING_HALT", "FAILED_PRECONDITION", 6],
    ["ENVELOPE_VERSION_CONFLICT", "ABORTED", 7],
    ["RESUME_REASON_MISSING", "FAILED_PRECONDITION", 6],
    ["RESUME_COSIGN_SAME_PERSON", "PERMISSION_DENIED", 5],
    ["CONFIRMATION_WRONG", "FAILED_PRECONDITION", 3],
    ["UNAUTHENTICATED", "UNAUTHENTICATED", 4],
    ["PERMISSION_DENIED", "PERMISSION_DENIED", 5],
    ["INVALID_ARGUMENT", "INVALID_ARGUMENT", 2],
    ["STORE_UNAVAILABLE", "UNAVAILABLE", 9],
    ["CHAIN_INTEGRITY", "FAILED_PRECONDITION", 10],
    ["DUPLICATE_KEY", "OK", 6],
  ] as const)("%s is %s with exit %s", (code, grpc, exit) => {
    expect(answerOf(code)).toMatchObject({ grpc, exit });
  });
});

test("what is no code is not found", () => {
  for (const code of ["", "duplicate_key", "toString", "__proto__"]) {
    expect(codeEntry(code)).toBeUndefined();
    expect(isFaultCode(code)).toBe(false);
  }
  expect(isFaultCode("STORE_UNAVAILABLE")).toBe(true);
  expect(isFaultCode("DUPLICATE_KEY")).toBe(false);
});
