// The list of subjects against the specification, and patterns as NATS matches them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import { Fault } from "./fault.ts";
import {
  complaintAboutName,
  everySubject,
  leftOut,
  matches,
  matchesAny,
  subjectByName,
  subjects,
  validatePattern,
  validatePatterns,
} from "./subjects.ts";

/** The subjects that the interface specification names. */
const specified = [
  "svc.v1.oms.orders.created",
  "svc.v1.oms.fills.created",
  "svc.v1.treasury.nav.updated",
  "svc.v1.risk.envelope.updated",
  "svc.v1.risk.gate.passed",
  "svc.v1.risk.gate.failed",
  "svc.v1.risk.halt.requested",
  "svc.v1.operations.audit.appended",
  "svc.v1.operations.halt.requested",
  ...["health", "drift", "vpin", "news", "position", "db", "strategy", "theta", "dependency", "vol_dd"].map(
    (name) => `svc.v1.operations.watchdog.${name}`,
  ),
];

describe("the list", () => {
  test.each(specified)("has %s", (name) => {
    expect(subjectByName(name)?.name).toBe(name);
  });

  test("every name is well formed, unique, below the one pattern, and has a sentence", () => {
    const all = Object.values(subjects);
    expect(new Set(all.map((subject) => subject.name)).size).toBe(all.length);
    for (const subject of all) {
      expect(complaintAboutName(subject.name)).toBeUndefined();
      expect(matches(everySubject, subject.name)).toBe(true);
      expect(subject.sentence).toMatch(/^\S.*\.$/);
    }
  });

  test("only market marks may be lost", () => {
    const lossy = Object.values(subjects).filter((subject) => subject.delivery === "conflated");
    expect(lossy.map((subject) => subject.name)).toEqual(["svc.v1.market.marks"]);
  });

  test("unknown names are unknown, wildcards and object properties included", () => {
    for (const name of ["", "svc.v1.>", "svc.v1.risk.gate", "SVC.V1.RISK.GATE.PASSED", "__proto__", "constructor"]) {
      expect(subjectByName(name)).toBeUndefined();
    }
  });

  test("gate.passed is exactly the three fields of the specification", () => {
    const passed = { order_id: "o-1", gate: "schema", latency_ms: 0.4 };
    const { schema } = subjects.gatePassed;
    expect(schema.parse(passed)).toEqual(passed);
    expect(schema.safeParse({ ...passed, fund_id: "alpha" }).success).toBe(false);
    expect(schema.safeParse({ order_id: "o-1", gate: "schema" }).success).toBe(false);
    expect(schema.safeParse({ ...passed, gate: "portcullis" }).success).toBe(false);
    expect(schema.safeParse({ ...passed, latency_ms: Number.NaN }).success).toBe(false);
  });

  test("keys keep together what must stay in order", () => {
    const at = "2026-11-15T13:30:00.000000Z";
    const service = { service: "oms", incarnation: "i-1", host: "h", pid: 7, at };
    expect(subjects.serviceStarted.key(service)).toBe(subjects.serviceLost.key({ ...service, incarnation: "i-2" }));
    expect(subjects.gatePassed.key({ order_id: "o-1", gate: "schema", latency_ms: 1 })).toBe("o-1");
    expect(subjects.marketMarks.key({ symbol: "AAPL", price: "1", source: "sim", at })).toBe("AAPL sim");
    const parked = { subscription: "operations.observer", event_id: "e", subject: "s", error: "x", attempts: 5 };
    expect(subjects.busParked.schema.parse(parked)).toEqual(parked);
    expect(subjects.busParked.key(parked)).toBe("operations.observer");
  });
});

describe("patterns", () => {
  test.each<[string, string, boolean]>([
    ["svc.v1.risk.gate.passed", "svc.v1.risk.gate.passed", true],
    ["svc.v1.risk.gate.passed", "svc.v1.risk.gate.passe", false],
    ["svc.v1.risk.gate.*", "svc.v1.risk.gate.passed", true],
    ["svc.v1.risk.gate.*", "svc.v1.risk.gate", false],
    ["svc.v1.risk.gate.*", "svc.v1.risk.gate.passed.twice", false],
    ["svc.*.risk.*.passed", "svc.v1.risk.gate.passed", true],
    ["*", "svc", true],
    ["*", "svc.v1", false],
    [">", "svc", true],
    [">", "svc.v1.risk", true],
    [">", "", false],
    ["svc.v1.>", "svc.v1.risk", true],
    ["svc.v1.>", "svc.v1.risk.gate.passed", true],
    ["svc.v1.>", "svc.v1", false],
    ["svc.v1.>", "svc.v2.risk", false],
    ["svc.v1.>", "svc.v1.", false],
    ["svc.*.>", "svc.v1.risk", true],
    ["svc.v1.risk*", "svc.v1.risky", false],
    ["svc.v1.risk*", "svc.v1.risk*", true],
    ["svc.v1", "svc.v1.risk", false],
    ["SVC.V1", "svc.v1", false],
    ["svc.>.risk", "svc.v1.risk", false],
  ])("%j on %j is %s", (pattern, name, wanted) => {
    expect(matches(pattern, name)).toBe(wanted);
  });

  test("they agree with the same rule written as a regular expression", () => {
    const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
    const words = fc.array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 5 });
    const pattern = fc.tuple(
      fc.array(fc.constantFrom("a", "b", "ab", "*"), { maxLength: 4 }),
      fc.constantFrom("a", "*", ">"),
    );
    fc.assert(
      fc.property(pattern, words, ([head, last], name) => {
        const whole = [...head, last];
        const source = whole.map((word) => (word === "*" ? "[^.]+" : word === ">" ? ".+" : word)).join("\\.");
        expect(matches(whole.join("."), name.join("."))).toBe(new RegExp(`^${source}$`).test(name.join(".")));
      }),
      { seed, numRuns: inputCount(5_000) },
    );
  });

  test.each(["svc.v1.>", "svc.v1.*.orders.*", "*", ">", "svc.v1.oms.orders.created", "a-b.c_d.$x"])(
    "%j is valid",
    (pattern) => {
      expect(() => validatePattern(pattern)).not.toThrow();
    },
  );

  test.each([
    "",
    ".",
    "svc.",
    ".svc",
    "svc..v1",
    "svc.>.v1",
    ">.svc",
    "svc.v1>",
    "svc.*x",
    "**",
    "svc v1",
    "svc.\tv1",
    "svc.é",
    "a".repeat(256),
  ])("%j is refused", (pattern) => {
    expect(() => validatePattern(pattern)).toThrow(Fault);
  });

  test("a durable subscription may leave whole names out", () => {
    const patterns = ["svc.v1.>", leftOut("svc.v1.operations.audit.appended")];
    expect(() => validatePatterns(patterns)).not.toThrow();
    expect(matchesAny(patterns, "svc.v1.operations.audit.appended")).toBe(false);
    expect(matchesAny([...patterns].reverse(), "svc.v1.operations.audit.appended")).toBe(false);
    expect(matchesAny(patterns, "svc.v1.operations.audit.appended.more")).toBe(true);
    expect(matchesAny(patterns, "svc.v1.operations.audit")).toBe(true);
    expect(matchesAny(patterns, "svc.v2.operations.audit")).toBe(false);
  });

  test.each([
    ["svc.v1.>", "!svc.v1.*"],
    ["svc.v1.>", "!svc.v1.>"],
    ["svc.v1.>", "!"],
    ["svc.v1.>", "!!svc.v1.x"],
    ["!svc.v1.x"],
  ])("%j, %j is refused", (...patterns) => {
    expect(() => validatePatterns(patterns)).toThrow(Fault);
  });

  test("a single pattern leaves nothing out", () => {
    expect(() => validatePattern("!svc.v1.x")).toThrow(Fault);
  });
});
