// `ctl operations secrets put`: the value comes on stdin or is typed unseen, goes to the server alone, and stands in nothing that is printed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type FakeServer,
  problem,
  type RunOptions,
  runFake,
  startFakeServer,
  virtualTime,
} from "../../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-secrets-"));
  server = await startFakeServer();
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const value = "the-value-that-nobody-sees";
const route = "PUT /v1/operations/secrets/chat%2Ftoken";
const run = (words: readonly string[], more: Partial<RunOptions> = {}) =>
  runFake(["operations", "secrets", "put", ...words], {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(Date.parse("2026-11-15T13:30:00Z")),
    folder: home,
    ...more,
  });
const bodies = () => server.calls(route).map(({ body }) => JSON.parse(body) as Record<string, unknown>);

beforeEach(() => {
  server.seen.length = 0;
  const admin = { actor: "operator:duty", kind: "operator", name: "duty", roles: ["admin"], issuer: "i" };
  server.on("GET /v1/auth/identity", { body: admin });
  server.on("POST /v1/auth/step-up", { body: { proof: "psu_x", expires_at: "2026-11-15T13:32:00.000000Z" } });
  server.on(route, { body: { path: "chat/token", version: 3, writable: true } });
});

describe("ctl operations secrets put", () => {
  const words = ["chat/token", "--reason", "a new bot", "--totp", "123456"];

  it.each([value, `${value}\n`, `${value}\r\n`])("takes %j from a pipe without its line end", async (piped) => {
    const { exit, stdout, stderr } = await run(words, { piped });
    expect([exit, stdout]).toEqual([0, "chat/token is at version 3.\n"]);
    expect(bodies()).toEqual([{ value, reason: "a new bot", step_up_proof: "psu_x" }]);
    expect(JSON.parse(server.calls("POST /v1/auth/step-up")[0]?.body ?? "")).toMatchObject({
      action: "PutSecret",
      parameters: { path: "chat/token" },
    });
    expect(stdout + stderr).not.toContain(value);
  });

  it("keeps what else stands in it: spaces, and all line ends but the last", async () => {
    await run(words, { piped: " a\n\nb \n\n" });
    expect(bodies()[0]?.["value"]).toBe(" a\n\nb \n");
  });

  it("asks on a terminal and shows nothing of what is typed", async () => {
    const { exit, stdout, stderr } = await run(words, { typed: [value] });
    expect([exit, stdout]).toEqual([0, "chat/token is at version 3.\n"]);
    expect(stderr).toContain("it is not shown");
    expect(stdout + stderr).not.toContain(value);
    expect(bodies()[0]?.["value"]).toBe(value);
  });

  it.each([
    ["nothing", "", "empty"],
    ["bytes that are no text", new Uint8Array([0xff, 0xfe, 0x00]), "UTF-8"],
    ["too much", "x".repeat(70_000), "65536 bytes"],
  ])("refuses %s on stdin, and sends nothing", async (_what, piped, word) => {
    const { exit, stderr } = await run(words, { piped });
    expect([exit, server.calls(route)]).toEqual([2, []]);
    expect(stderr).toContain(word);
  });

  it("takes no value as an argument, and does not repeat one that was given", async () => {
    const { exit, stderr } = await run(["chat/token", value, "--reason", "x"], { piped: "" });
    expect([exit, server.calls(route)]).toEqual([2, []]);
    expect(stderr).not.toContain(value);
  });

  it("leaves it to the server to refuse a path, and uses up no code for it", async () => {
    const other = "PUT /v1/operations/secrets/sealing%2Fmaster";
    server.on(other, problem(403, "SECRET_NOT_WRITABLE", "Only a secret under chat is written here."));
    const { exit, stderr } = await run(["sealing/master", "--reason", "x"], { piped: value });
    expect([server.calls(other).length, server.calls("POST /v1/auth/step-up")]).toEqual([1, []]);
    expect(exit).toBe(5);
    expect(stderr).toContain("Only a secret under chat");
    expect(stderr).not.toContain(value);
  });

  it("lists paths and versions", async () => {
    server.on("GET /v1/operations/secrets?count_max=101", {
      body: [
        { path: "chat/token", version: 3, writable: true },
        { path: "identity/sealing-key", version: 1, writable: false },
        { path: "mail/gone", version: 0, writable: true },
      ],
    });
    const { stdout } = await runFake(["operations", "secrets", "list"], {
      environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
      ...virtualTime(0),
      folder: home,
    });
    expect(stdout).toMatch(
      /chat\/token +3 +by `secrets put`\nidentity\/sealing-key +1 +by the platform\nmail\/gone +deleted/,
    );
  });
});
