// What is generated is fresh, and the protos say the same as the records: same fields, same presence, same services.
import { execFileSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { fromBinary } from "@bufbuild/protobuf";
import { type DescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { exampleAuditEntry, exampleDecision, exampleHalt, exampleOrder } from "../../testkit/record-examples.ts";
import { descriptorSetBase64 } from "./generated/descriptors.ts";
import { AuditEntry as AuditEntryMessage } from "./generated/svc/v1/audit.ts";
import { HaltRequest as HaltRequestMessage } from "./generated/svc/v1/halt.ts";
import { Order as OrderMessage, RiskDecision as RiskDecisionMessage } from "./generated/svc/v1/order.ts";
import { riskEnvelope } from "./records/envelope.ts";
import { fundStatus } from "./records/fund.ts";
import { haltRequest, haltResponse, haltStatus, resumeRequest } from "./records/halt.ts";
import { bar, instrument, quote } from "./records/market.ts";
import { auditEntry } from "./records/operations.ts";
import { gatePassed, order, orderRejection, riskDecision } from "./records/order.ts";

const root = resolve(import.meta.dirname, "../..");
const descriptors = fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSetBase64, "base64"));
const ours = descriptors.file.filter((file) => file.package === "svc.v1");

function filesUnder(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length + 1), readFileSync(path, "utf8")] as const;
    }),
  );
}

interface StaleFiles {
  staleFiles(fresh: string, committed: string): readonly string[];
}

test("npm run gen would change nothing, and what differs is named", async () => {
  const out = mkdtempSync(join(tmpdir(), "portcullis-fresh-"));
  try {
    execFileSync(process.execPath, [join(root, "scripts/gen.js"), "--out", out], { cwd: root, stdio: "pipe" });
    const { staleFiles } = (await import(pathToFileURL(join(root, "scripts/stale-files.js")).href)) as StaleFiles;
    expect(staleFiles(out, root), "run npm run gen").toEqual([]);
    const written = [...filesUnder(out).keys()];
    for (const name of ["docs/codes.md", "docs/events.md", "docs/configuration.md", "edges/client/openapi.json"]) {
      expect(written).toContain(name);
    }
    // 24.1: a field in one place only, wherever that is, and a file that nothing writes any more.
    for (const name of ["contracts/src/generated/shapes.ts", "edges/client/openapi.json", "docs/authority.md"]) {
      appendFileSync(join(out, name), '{"name":"planted"}');
      expect(staleFiles(out, root), name).toEqual([name]);
      copyFileSync(join(root, name), join(out, name));
    }
    rmSync(join(out, "contracts/src/generated/routes.ts"));
    expect(staleFiles(out, root)).toEqual(["contracts/src/generated/routes.ts"]);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
  // It runs two compilers, and a busy machine takes its time over them.
}, 120_000);

describe("services", () => {
  const procedures = (name: string): string[] =>
    ours
      .flatMap((file) => file.service)
      .find((service) => service.name === name)
      ?.method.map((method) => method.name) ?? [];

  test("answer to every name that a release promised", () => {
    const folder = join(root, "contracts/released");
    const releases = readdirSync(folder);
    expect(releases).toContain("0.1.0");
    for (const release of releases) {
      const released = fromBinary(FileDescriptorSetSchema, readFileSync(join(folder, release, "protos.binpb")));
      const services = released.file.filter((file) => file.package === "svc.v1").flatMap((file) => file.service);
      expect(services.map(({ name }) => name)).toEqual(
        expect.arrayContaining(["RiskEngine", "Operations", "Instance"]),
      );
      for (const { name, method } of services) {
        expect(procedures(name), `${release} ${name}`).toEqual(expect.arrayContaining(method.map((one) => one.name)));
      }
    }
    expect(procedures("Instance")).toEqual(["GetHealth", "GetMetrics"]);
  });

  test("CheckOrders, the two tails and what foreign systems publish stream both ways and nothing else streams", () => {
    const streaming = ours
      .flatMap((file) => file.service)
      .flatMap((service) => service.method)
      .filter((method) => method.clientStreaming || method.serverStreaming);
    expect(streaming.map((method) => [method.name, method.clientStreaming, method.serverStreaming])).toEqual([
      ["TailAudit", true, true],
      ["TailEvents", true, true],
      ["Publish", true, true],
      ["CheckOrders", true, true],
    ]);
  });
});

describe("messages and records have the same fields", () => {
  const message = (name: string): DescriptorProto => {
    const found = ours.flatMap((file) => file.messageType).find((each) => each.name === name);
    if (found === undefined) throw new Error(`no message ${name}`);
    return found;
  };
  const keysOf = (schema: z.ZodObject): string[] => Object.keys(schema.shape).sort();

  test.each<[string, z.ZodObject]>([
    ["Order", order],
    ["RiskDecision", riskDecision],
    ["OrderRejection", orderRejection],
    ["GatePassed", gatePassed],
    ["RiskEnvelope", riskEnvelope],
    ["HaltRequest", haltRequest],
    ["HaltResponse", haltResponse],
    ["HaltStatus", haltStatus],
    ["ResumeRequest", resumeRequest],
    ["AuditEntry", auditEntry],
    ["Quote", quote],
    ["Bar", bar],
    ["Instrument", instrument],
    ["FundStatus", fundStatus],
  ])("%s", (name, schema) => {
    expect(
      message(name)
        .field.map((field) => field.name)
        .sort(),
    ).toEqual(keysOf(schema));
  });

  test("severity's zero value is none of the three levels", () => {
    const severity = ours.flatMap((file) => file.enumType).find((each) => each.name === "Severity");
    expect(severity?.value.map((value) => [value.name, value.number])).toEqual([
      ["SEVERITY_UNSPECIFIED", 0],
      ["STRATEGY_HALT", 1],
      ["FUND_HALT", 2],
      ["FIRM_HALT", 3],
    ]);
  });
});

describe("records survive the wire", () => {
  test("an order, with what is absent staying absent", () => {
    expect(order.parse(OrderMessage.decode(OrderMessage.encode(exampleOrder).finish()))).toEqual(exampleOrder);
    const { notional: _notional, limit_price: _limitPrice, ...rest } = exampleOrder;
    const back = OrderMessage.decode(OrderMessage.encode(rest).finish());
    expect(back.notional).toBeUndefined();
    expect(back.limit_price).toBeUndefined();
  });

  test("a decision, its original included", () => {
    const decision = { ...exampleDecision, original: exampleDecision };
    const back = RiskDecisionMessage.decode(RiskDecisionMessage.encode(decision).finish());
    expect(riskDecision.parse(back)).toEqual(decision);
  });

  test("a halt, its severity as a word and its evidence as an object", () => {
    const back = HaltRequestMessage.decode(HaltRequestMessage.encode(exampleHalt).finish());
    expect(haltRequest.parse(back)).toEqual(exampleHalt);
  });

  test("a halt without severity does not read as the mildest one", () => {
    const back = HaltRequestMessage.decode(new Uint8Array());
    expect(back.severity).toBe("SEVERITY_UNSPECIFIED");
    expect(haltRequest.safeParse(back).success).toBe(false);
  });

  test("an audit entry and its free-form data", () => {
    const back = AuditEntryMessage.decode(AuditEntryMessage.encode(exampleAuditEntry).finish());
    expect(auditEntry.parse(back)).toEqual(exampleAuditEntry);
  });

  test.each([
    ["cut off", [0x0a, 0x05, 0x61]],
    ["a length beyond the end", [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["an endless varint", Array<number>(20).fill(0xff)],
  ])("bytes that are %s are refused", (_name, bytes) => {
    expect(() => OrderMessage.decode(Uint8Array.from(bytes))).toThrow();
  });
});
