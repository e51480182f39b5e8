// With the switch off nothing is reached behind a library's interface, and the stores and the server keep their promises all the same: a batch
// of the journal and of the audit log is kept (internals-off.ci.test.ts has their suites), and calls are answered. What is lost is what `reaches` says, no more.
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { auditFixture } from "../../testkit/audit-fixtures.ts";
import { runAuditLogCheck } from "../../testkit/conformance/audit-log.ts";
import { batchIsDurable as auditBatchIsDurable } from "../../testkit/conformance/audit-log-append.ts";
import { runRiskStoreCheck } from "../../testkit/conformance/risk-store.ts";
import { batchIsDurable } from "../../testkit/conformance/risk-store-journal.ts";
import { testClient } from "../../testkit/grpc/test-client.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { postgresRiskStoreFixture } from "../../testkit/risk/store-fixtures.ts";
import { serveGrpc } from "../grpc/server.ts";
import { internalsOff } from "./library-internals.ts";

describe("without library internals", () => {
  it("an audit log keeps a batch whole and durable", async () => {
    const audit = auditFixture(undefined, internalsOff);
    try {
      await runAuditLogCheck(auditBatchIsDurable, () => audit.open());
    } finally {
      await audit.close();
    }
  });

  it("a journal keeps a batch whole and durable", () =>
    runRiskStoreCheck(batchIsDurable, () => postgresRiskStoreFixture({ internals: internalsOff })));
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(prefaceMsMax = 60_000) {
  const test = testPorts();
  const server = await serveGrpc({
    ...test.ports,
    internals: internalsOff,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services: [],
    verifier: testVerifier(),
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
    limits: { prefaceMsMax },
  });
  closers.push(() => server.drain(0));
  return { host: "127.0.0.1", port: "port" in server.address ? server.address.port : 0 };
}

describe("a gRPC server without library internals", () => {
  it("answers who may ask, and refuses who may not", async () => {
    const client = testClient(await serve());
    closers.push(() => client.close());
    const ask = (token: string | undefined) =>
      client.rawCall("/svc.v1.Instance/GetHealth", Buffer.alloc(0), undefined, {
        metadata: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
    expect((await ask(everyRole)).status).toBe("OK");
    expect((await ask(undefined)).status).toBe("UNAUTHENTICATED");
    expect((await ask("forged")).status).toBe("UNAUTHENTICATED");
  });

  it("cuts a connection that does not speak HTTP/2, silent or not, and keeps one that does", async () => {
    const { port, host } = await serve(300);
    const closed = (first: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ port, host });
        socket.on("error", () => undefined);
        socket.resume();
        socket.on("close", () => resolve("cut"));
        setTimeout(() => resolve("open"), 3_000);
        closers.push(() => socket.destroy());
        if (first !== "") socket.write(first);
      });
    const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    expect(await Promise.all([closed(""), closed("GET / HTTP/1.1\r\n\r\n"), closed(preface)])).toEqual([
      "cut",
      "cut",
      "open",
    ]);
  });
});
