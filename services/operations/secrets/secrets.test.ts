// What people may do with secrets, on both stores: a value goes in and is nowhere to be found afterwards but in the store; paths of the platform's own
// are refused, and so is a write without reason or proof; the record says who, why and which version.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { auditedSecrets } from "../../../adapters/secrets/audited-secrets.ts";
import { systemClock } from "../../../adapters/system/clock.ts";
import { systemRandom } from "../../../adapters/system/random.ts";
import { systemTimers } from "../../../adapters/system/timers.ts";
import { openVaultSecrets } from "../../../adapters/vault/vault-secrets.ts";
import type { KeptSecret, KeptSecrets } from "../../../contracts/src/generated/svc/v1/secrets.ts";
import type { Identity, NamedAction } from "../../../ports/identity.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import type { Secrets } from "../../../ports/secrets.ts";
import { makeFileFixture, rememberingLog } from "../../../testkit/secrets-file/folders.ts";
import { startVaultServer } from "../../../testkit/vault-server.ts";
import { secretQueries } from "./secrets.ts";

const value = "xoxb-the-value-that-nobody-sees";
const folder = "secret/portcullis";
const identity = { kind: "operator", actor: "operator:duty", subject: "x|duty" } as unknown as Identity;
const [clock, timers, random] = [systemClock(), systemTimers(), systemRandom()];

interface Opened {
  readonly secrets: Secrets;
  readonly lines: readonly string[];
  close(): Promise<void>;
}

async function openFile(): Promise<Opened> {
  const fixture = await makeFileFixture();
  return { secrets: await fixture.open(), lines: fixture.log.lines, close: fixture.close };
}

async function openVault(): Promise<Opened> {
  const server = await startVaultServer({ clock, random });
  const log = rememberingLog();
  const login = { kind: "token", token: server.rootToken } as const;
  const secrets = await openVaultSecrets({ address: server.address, login, clock, timers, random, log });
  const close = async () => {
    await secrets.close();
    await server.stop();
  };
  return { secrets, lines: log.lines, close };
}

describe.each([
  ["the file", openFile],
  ["Vault", openVault],
])("secrets in %s", (_name, open) => {
  let opened: Opened;
  let events: { readonly subject: string; readonly payload: object }[];
  let proofs: NamedAction[];
  beforeEach(async () => {
    opened = await open();
    [events, proofs] = [[], []];
  });
  afterEach(() => opened.close());

  function ask<Answer>(procedure: string, request: object): Promise<Answer> {
    const publish = async ({ name }: { readonly name: string }, payload: object) => {
      events.push({ subject: name, payload });
    };
    const store = { transact: (_name: string, work: (unit: object) => unknown) => work({ events: { publish } }) };
    const log = rememberingLog();
    const ports = {
      clock,
      folder,
      store: store as never,
      secrets: auditedSecrets(opened.secrets, { store: store as never, clock, log, source: "operations" }),
      stepUps: {
        redeem: async (_identity: Identity, named: NamedAction, proof: string | undefined) => {
          proofs.push(named);
          return proof === "good" ? undefined : { code: "STEP_UP_REQUIRED" as const, reason: "A proof is needed." };
        },
      },
    };
    const handler = secretQueries(ports).handlers[procedure];
    return handler?.(request as never, { identity } as unknown as RpcCall) as Promise<Answer>;
  }
  const put = (request: object) =>
    ask<KeptSecret & DeniedAnswer>("PutSecret", {
      path: "chat/token",
      value,
      reason: "a new bot",
      step_up_proof: "good",
      ...request,
    });

  it("are written, counted, listed without a value, and recorded under the person's name", async () => {
    expect(await put({})).toEqual({ path: "chat/token", version: 1, writable: true });
    expect(await put({ value: `${value}-2`, reason: "another" })).toEqual({
      path: "chat/token",
      version: 2,
      writable: true,
    });
    expect((await opened.secrets.get(`${folder}/chat/token`))?.value).toBe(`${value}-2`);
    await opened.secrets.put(`${folder}/identity/sealing-key`, "made-by-the-platform");
    const listed = await ask<KeptSecrets>("ListSecrets", { count_max: 0 });
    expect(listed.secrets).toEqual([
      { path: "chat/token", version: 2, writable: true },
      { path: "identity/sealing-key", version: 1, writable: false },
    ]);
    expect(proofs[0]).toEqual({ action: "PutSecret", parameters: { path: "chat/token" } });
    expect(events.map(({ subject, payload }) => [subject, { ...payload, at: "" }])).toEqual([
      [
        "svc.v1.operations.operator.attempted",
        {
          operator: "operator:duty",
          verb: "PutSecret",
          target: "secrets:chat/token",
          allowed: true,
          reason: "a new bot",
          at: "",
        },
      ],
      [
        "svc.v1.operations.secret.changed",
        { path: `${folder}/chat/token`, version: 1, actor: "operator:duty", at: "" },
      ],
      [
        "svc.v1.operations.operator.attempted",
        {
          operator: "operator:duty",
          verb: "PutSecret",
          target: "secrets:chat/token",
          allowed: true,
          reason: "another",
          at: "",
        },
      ],
      [
        "svc.v1.operations.secret.changed",
        { path: `${folder}/chat/token`, version: 2, actor: "operator:duty", at: "" },
      ],
    ]);
    expect(JSON.stringify([events, listed, opened.lines])).not.toContain(value);
  });

  it.each([
    "identity/sealing-key",
    "audit/signing-key",
    "sealing/master",
    "watchdogs/alpha/vpin",
    "tradingview/alpha",
    "chat",
    "chat/",
    "/chat/token",
    "chat//token",
    "chat/../identity/sealing-key",
    "chat/.",
    "chatter/token",
    "Chat/token",
    "",
    value,
  ])("refuse the path %j, do not repeat it, use up no proof and write nothing", async (path) => {
    const answer = await put({ path });
    expect(answer.denial?.code).toBe("SECRET_NOT_WRITABLE");
    expect(answer.denial?.reason).toContain("chat, mail, model, broker, storage or filings");
    expect([proofs, await opened.secrets.list(folder)]).toEqual([[], []]);
    expect(events).toMatchObject([{ payload: { target: "secrets", allowed: false, code: "SECRET_NOT_WRITABLE" } }]);
    if (path.length > 5) expect(JSON.stringify([answer, events])).not.toContain(path);
  });

  it("refuse a write without a reason or without a proof, on record", async () => {
    expect((await put({ reason: " " })).denial?.code).toBe("REASON_MISSING");
    expect((await put({ step_up_proof: "" })).denial?.code).toBe("STEP_UP_REQUIRED");
    expect(await opened.secrets.list(folder)).toEqual([]);
    expect(events.map(({ payload }) => (payload as { code: string }).code)).toEqual([
      "REASON_MISSING",
      "STEP_UP_REQUIRED",
    ]);
  });

  it("name no value when it cannot be kept", async () => {
    const long = value.repeat(4_000);
    const failed = put({ value: long }).then(
      () => "",
      (thrown: unknown) => `${String(thrown)} ${JSON.stringify(thrown)}`,
    );
    expect(await failed).toContain("INVALID_ARGUMENT");
    expect(await failed).not.toContain(value);
  });

  it("are listed page by page", async () => {
    for (const name of ["b", "a", "c"]) await opened.secrets.put(`${folder}/mail/${name}`, value);
    const page = (more: object) => ask<KeptSecrets>("ListSecrets", { count_max: 2, ...more });
    expect((await page({})).secrets.map(({ path }) => path)).toEqual(["mail/a", "mail/b"]);
    expect((await page({ after_path: "mail/b" })).secrets.map(({ path }) => path)).toEqual(["mail/c"]);
    await expect(page({ count_max: 502 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
