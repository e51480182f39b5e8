// Services on two machines, played by two addresses: who shows which certificate, whom a token of our own processes serves, and what is said of
// the rest.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import type { Identity } from "../../ports/identity.ts";
import { testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { type MadeCertificate, newAuthority, selfSigned, writePair } from "../../testkit/test-certificate.ts";
import { createHealthDirectory } from "../grpc/health-directory.ts";
import { type GrpcServerOptions, serveGrpc } from "../grpc/server.ts";
import { noAlarms } from "../postgres/alarms.ts";
import { keepCertificate } from "./kept-certificate.ts";
import { peerSecurity } from "./peer-security.ts";

const authority = newAuthority();
const closers: (() => unknown)[] = [];
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/portcullis-peers-`);
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** One of our own processes, which may read the health of others. */
const own: Identity = {
  kind: "service",
  name: "gateway",
  actor: "service:gateway",
  subject: "service:gateway",
  issuer: "portcullis",
  roles: ["service"],
  operations: ["InspectInstance"],
  tokenId: "platform:gateway",
  issuedAt: fromUnixMs(0),
  expiresAt: fromUnixMs(0),
};

function kept(name: string, made: MadeCertificate, ca: string = authority.certificate) {
  const files = writePair(folder, name, made);
  const { certFile: caFile } = writePair(folder, `${name}-ca`, { certificate: ca, key: "" });
  const certificate = keepCertificate({
    ...testPorts().ports,
    ...files,
    caFile,
    alarms: noAlarms,
    owner: name,
    everyMs: 20,
  });
  closers.push(() => certificate.close());
  return certificate;
}

const serverNames = ["127.0.0.2"];
const expired = { from: new Date("2001-01-01T00:00:00Z"), to: new Date("2002-01-01T00:00:00Z") };

async function serve(certificate: ReturnType<typeof kept> | undefined, more: Partial<GrpcServerOptions> = {}) {
  const verifier = testVerifier();
  verifier.answer(async () => own);
  const server = await serveGrpc({
    ...testPorts().ports,
    address: { host: "127.0.0.2", port: 0 },
    certificate,
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services: [],
    health: () => ({ status: "ok" }),
    verifier,
    metricsJson: async () => "[]",
    ...more,
  });
  closers.push(() => server.drain(0));
  return `127.0.0.2:${"port" in server.address ? server.address.port : 0}`;
}

/** What one of our own processes says of the health of the other. */
async function ask(target: string, certificate?: ReturnType<typeof kept>): Promise<string> {
  const directory = createHealthDirectory({
    ...testPorts().ports,
    targets: { riskengine: target },
    credentials: () => "own",
    deadlineMs: 20_000,
    coalesceMs: 0,
    security: certificate === undefined ? undefined : peerSecurity(certificate),
  });
  closers.push(() => directory.close());
  const { riskengine } = await directory.all();
  return riskengine?.complaint ?? String(riskengine?.status);
}

describe("two machines with certificates of one authority", () => {
  it("serve each other", async () => {
    const target = await serve(kept("server", authority.issue(serverNames)));
    expect(await ask(target, kept("client", authority.issue(["127.0.0.1"])))).toBe("ok");
  });

  it.each([
    ["comes from another authority", newAuthority().issue(["a"]), /does not come from there/],
    ["vouches for itself", selfSigned("a"), /does not come from there/],
    ["has run out", authority.issue(["a"], expired), /that of this connection has run out/],
  ])("refuse a process whose certificate %s, with a sentence", async (_name, made, sentence) => {
    const target = await serve(kept("server", authority.issue(serverNames)));
    expect(await ask(target, kept("client", made))).toMatch(sentence);
  });

  it.each([
    ["comes from another authority", newAuthority().issue(serverNames), /does not come from the authority in tls/],
    ["has run out", authority.issue(serverNames, expired), /certificate that has run out/],
    ["is for another name", authority.issue(["127.0.0.3"]), /for another name than the one it is called by/],
  ])("do not speak to a server whose certificate %s", async (_name, made, sentence) => {
    const target = await serve(kept("server", made));
    expect(await ask(target, kept("client", authority.issue(["a"])))).toMatch(sentence);
  });

  it("do not speak clear text to each other", async () => {
    expect(await ask(await serve(kept("server", authority.issue(serverNames))))).toMatch(/cannot be reached/);
  });

  it("take a token of our own over the unix socket without any", async () => {
    await serve(kept("server", authority.issue(serverNames)), { localSocket: `${folder}/a.sock` });
    expect(await ask(`unix:${folder}/a.sock`)).toBe("ok");
  });

  it("use a renewed certificate for the next connection", async () => {
    const target = await serve(kept("server", authority.issue(serverNames)));
    const client = kept("client", newAuthority().issue(["a"]));
    expect(await ask(target, client)).toMatch(/does not come from there/);
    writePair(folder, "client", authority.issue(["a"]));
    await expect.poll(() => ask(target, client), { timeout: 10_000 }).toBe("ok");
  });
});

it("a server with a certificate and no authority takes tokens of our own from this machine's socket only, unless asked", async () => {
  const { ports } = testPorts();
  const files = writePair(folder, "server", authority.issue(serverNames));
  const alone = keepCertificate({ ...ports, ...files, alarms: noAlarms, owner: "server" });
  closers.push(() => alone.close());
  const client = kept("client", authority.issue(["a"]));
  expect(await ask(await serve(alone), client)).toMatch(/this server has none: set tls.peer_ca_file/);
  expect(await ask(await serve(alone, { takesOwnInsecurely: true }), client)).toBe("ok");
});
