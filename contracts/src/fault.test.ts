// Faults and defects as values that survive being thrown.
import { expect, test } from "vitest";
import { Defect, Fault, messageOf } from "./fault.ts";

test("a fault carries its code, what to do about it, its facts and its cause", () => {
  const cause = new Error("connection reset");
  const fault = new Fault("STORE_UNAVAILABLE", "the database is gone", {
    retry: "later",
    facts: { attempts: 3 },
    cause,
  });
  expect(fault).toBeInstanceOf(Error);
  expect({ ...fault }).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later", facts: { attempts: 3 } });
  expect(fault.cause).toBe(cause);
  expect(new Fault("INTERNAL", "x", { retry: "never" }).facts).toEqual({});
  expect("cause" in new Fault("INTERNAL", "x", { retry: "never" })).toBe(false);
});

test("anything that is thrown has a message", () => {
  expect(messageOf(new Defect("we were wrong"))).toBe("we were wrong");
  expect(messageOf("text")).toBe("text");
  expect(messageOf(undefined)).toBe("undefined");
});
