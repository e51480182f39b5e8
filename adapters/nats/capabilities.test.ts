// A server is judged by its version before anything is configured on it, and refused by name.
import { expect, test } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { can, requireServer } from "./capabilities.ts";

function refusal(run: () => void): Fault {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error("it was not refused");
}

test("a feature that the server is too old for is refused by name with both versions", () => {
  const fault = refusal(() => requireServer({ version: "2.9.10", jetStream: true }, ["message_ttl"]));
  expect(fault.code).toBe("BUS_UNSUPPORTED");
  expect(fault.message).toContain("message_ttl");
  expect(fault.message).toContain("2.9.10");
  expect(fault.message).toContain("2.11.0");
  expect(fault.facts).toEqual({ feature: "message_ttl", server_version: "2.9.10", needed_version: "2.11.0" });
});

test("a server without JetStream and one before the oldest supported are refused", () => {
  expect(refusal(() => requireServer({ version: "2.10.3", jetStream: false }, [])).message).toContain("JetStream");
  expect(refusal(() => requireServer({ version: "2.8.4", jetStream: true }, [])).message).toContain("2.8.4");
  expect(refusal(() => requireServer({ version: "unknown", jetStream: true }, [])).code).toBe("BUS_UNSUPPORTED");
});

test("versions compare by number, not by text", () => {
  expect(can({ version: "2.9.25", jetStream: true }, "filter_subjects")).toBe(false);
  expect(can({ version: "2.10.0", jetStream: true }, "filter_subjects")).toBe(true);
  expect(can({ version: "2.11.0-RC.1", jetStream: true }, "message_ttl")).toBe(true);
  expect(can({ version: "3.0.0", jetStream: true }, "atomic_batch")).toBe(true);
  requireServer({ version: "2.12.1", jetStream: true }, ["message_ttl", "atomic_batch", "stream_compression"]);
});
